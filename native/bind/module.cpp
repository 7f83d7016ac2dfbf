#include "module.h"

#include "core/abort_guard.h"
#include "core/fork_guard.h"
#include "core/log.h"
#include "exit_guard.h"
#include "llama.h"

using namespace llamaint;

PYBIND11_MODULE(_native, m) {
    install_abort_hook();
    log::install();
    llama_backend_init();
    install_fork_guard();
    // After ggml, whose handler it passes everything else on to.
    bind::install_exit_guard();

    m.doc() =
        "llama.cpp for llamaint: models, chat templates, sampling and the engine. Used by llamaint.backend alone.";
    bind::register_errors(m);
    bind::register_log(m);
    bind::register_machine(m);
    bind::register_scan(m);
    bind::register_params(m);
    bind::register_model(m);
    bind::register_sampler(m);
    bind::register_chat(m);
    bind::register_engine(m);
    bind::register_embed(m);
}
