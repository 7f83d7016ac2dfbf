// The logger of llama.cpp's `common` library (common/log.h), writing into our ring. llama.cpp's own
// starts a thread and prints; because every function it defines is defined here, the linker never
// takes its object file from the archive.

#include "common/log.h"
#include "log.h"

#include <cstdarg>
#include <cstdio>
#include <vector>

using namespace llamaint;

struct common_log {};

common_log * common_log_main() {
    static common_log log;
    return &log;
}

common_log * common_log_init() {
    return common_log_main();
}

void common_log_add(common_log *, ggml_log_level level, const char * format, ...) {
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    const int length = std::vsnprintf(nullptr, 0, format, args);
    va_end(args);
    if (length > 0) {
        std::vector<char> text(static_cast<size_t>(length) + 1);
        std::vsnprintf(text.data(), text.size(), format, again);
        log::add(level, text.data());
    }
    va_end(again);
}

int common_log_get_verbosity_thold() {
    return LOG_LEVEL_INFO;
}

int common_log_get_verbosity(ggml_log_level level) {
    switch (level) {
    case GGML_LOG_LEVEL_DEBUG:
        return LOG_LEVEL_DEBUG;
    case GGML_LOG_LEVEL_INFO:
    case GGML_LOG_LEVEL_CONT:
        return LOG_LEVEL_TRACE;
    case GGML_LOG_LEVEL_WARN:
        return LOG_LEVEL_WARN;
    case GGML_LOG_LEVEL_ERROR:
        return LOG_LEVEL_ERROR;
    default:
        return LOG_LEVEL_OUTPUT;
    }
}

void common_log_default_callback(ggml_log_level level, const char * text, void *) {
    log::add(level, text);
}

// Settings of a printing logger; the ring has none of them.
void common_log_set_verbosity_thold(int) {}
bool common_log_get_jsonl() {
    return false;
}
void common_log_set_jsonl(bool) {}
void common_log_add_json(common_log *, const char *, const common_json &) {}
void common_log_pause(common_log *) {}
void common_log_resume(common_log *) {}
void common_log_free(common_log *) {}
void common_log_set_file(common_log *, const char *) {}
void common_log_set_colors(common_log *, log_colors) {}
void common_log_set_prefix(common_log *, bool) {}
void common_log_set_timestamps(common_log *, bool) {}
void common_log_flush(common_log *) {}
