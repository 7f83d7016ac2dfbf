#include "abort_guard.h"

#include "ggml.h"

#include <cstdio>
#include <cstdlib>

namespace llamaint {

namespace {

thread_local int guard_depth = 0;

void on_abort(const char * message) {
    if (guard_depth > 0) {
        throw AbortError(message);
    }
    // The process ends now; this line is all that is left to say why.
    std::fputs(("llamaint: fatal error in llama.cpp: " + std::string(message) + "\n").c_str(), stderr);
    std::fflush(stderr);
}

}  // namespace

AbortGuard::AbortGuard() {
    ++guard_depth;
}

AbortGuard::~AbortGuard() {
    --guard_depth;
}

void install_abort_hook() {
#ifndef _WIN32
    // ggml's backtrace forks a debugger: slow in containers, and it may hang.
    setenv("GGML_NO_BACKTRACE", "1", /*overwrite=*/0);
#endif
    ggml_set_abort_callback(on_abort);
}

}  // namespace llamaint
