#pragma once

#include <functional>

namespace llamaint {

// Runs `work` on a thread with limits::stack_bytes of stack and waits for it. What it throws is
// thrown here. For llama.cpp's recursive parsers (grammars, JSON schemas, templates). The thread's
// log lines count as the caller's for log::Capture.
void run_on_big_stack(const std::function<void()> & work);

}  // namespace llamaint
