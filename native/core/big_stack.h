#pragma once

#include "limits.h"

#include <functional>

namespace llamaint {

// Runs `work` on a thread with that much stack and waits for it. What it throws is thrown here. Memory is
// used only as deep as the work goes. For llama.cpp's recursive parsers (grammars, JSON schemas, templates). The
// thread's log lines count as the caller's for log::Capture.
void run_on_big_stack(const std::function<void()> & work, size_t stack_bytes = limits::stack_bytes);

}  // namespace llamaint
