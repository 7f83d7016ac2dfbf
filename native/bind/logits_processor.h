#pragma once

#include "common.h"
#include "core/sampler.h"

#include <pybind11/numpy.h>

namespace llamaint::bind {

// One native callback for a list of Python callables `(tokens int32 [n], logits float32 [n_vocab]) -> None`
// that edit `logits` in place. The GIL is taken once per row. Callables see a copy of the row that lives
// as long as they keep it; it is copied back afterwards.
LogitsProcessor make_logits_processor(const py::sequence & callables);

}  // namespace llamaint::bind
