#include "fork_guard.h"

#include "ggml-backend.h"
#include "ggml-cpu.h"
#include "ggml/src/ggml-threading.h"
#include "src/unicode.h"

#ifndef _WIN32
#include <pthread.h>
#endif

namespace llamaint {

namespace {

// Tables that llama.cpp builds when they are first used. Each is guarded by a lock of the compiler's
// that nobody else can take; filling the Unicode tables lasts milliseconds.
void build_lazy_tables() {
    unicode_cpt_flags_from_cpt(0);
    unicode_cpt_flags_from_utf8("a");
    unicode_regex_split("a", { "\\p{L}+" }, true);
    ggml_cpu_init();
    for (size_t i = 0; i < ggml_backend_dev_count(); ++i) {
        ggml_backend_dev_t device = ggml_backend_dev_get(i);
        ggml_backend_dev_buffer_type(device);
        ggml_backend_reg_t reg = ggml_backend_dev_backend_reg(device);
        const auto extra_buffer_types = reinterpret_cast<ggml_backend_dev_get_extra_bufts_t>(
            ggml_backend_reg_get_proc_address(reg, "ggml_backend_dev_get_extra_bufts"));
        if (extra_buffer_types) {
            extra_buffer_types(device);
        }
    }
}

}  // namespace

void install_fork_guard() {
    build_lazy_tables();
#ifndef _WIN32
    pthread_atfork(ggml_critical_section_start, ggml_critical_section_end, ggml_critical_section_end);
#endif
}

}  // namespace llamaint
