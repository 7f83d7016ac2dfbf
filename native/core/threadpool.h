#pragma once

#include "ggml-cpu.h"

#include <cstdint>

namespace llamaint {

// ggml's pool of `n_threads` workers (the caller counts as one), kept between decodes. Its functions
// are looked up in the CPU backend, which may live in a library of its own. Null for one thread.
ggml_threadpool_t make_threadpool(int32_t n_threads);

// Joins the workers. Null is fine. The context it was attached to must be gone or detached.
void free_threadpool(ggml_threadpool_t pool);

}  // namespace llamaint
