#pragma once

#include "core/context.h"

#include <cstdint>

namespace llamaint {

// The largest number of rows, up to `most`, that can be decoded together with logits bit-equal to
// decoding them one by one, found by decoding a fixed probe at several widths. Kernels change with the
// number of rows, and where depends on weights and backend (docs/determinism.md). Leaves the memory
// empty. 1 when even two rows differ.
uint32_t find_exact_rows(Context & context, uint32_t most);

}  // namespace llamaint
