#pragma once

#include <stdexcept>
#include <string>

namespace llamaint {

// What GGML_ABORT and GGML_ASSERT become on a guarded thread: "file.cpp:123: GGML_ASSERT(...) failed".
class AbortError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// While one lives, an abort inside ggml or llama.cpp on this thread throws AbortError instead of
// ending the process. Only for calls whose half-made objects are thrown away on failure (loading a
// model, making a context, compiling a grammar): what was being changed is in no defined state.
// Threads that ggml starts are not covered.
class AbortGuard {
  public:
    AbortGuard();
    ~AbortGuard();
    AbortGuard(const AbortGuard &) = delete;
    AbortGuard & operator=(const AbortGuard &) = delete;
};

// Installs the hook. Called once, before anything else of llama.cpp runs.
void install_abort_hook();

}  // namespace llamaint
