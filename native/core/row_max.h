#pragma once

#include <cmath>
#include <cstdint>

namespace llamaint {

struct LargestLogit {
    int32_t token = -1;
    float logit = -INFINITY;
};

// The largest of float32 [n] logits, and the first token that has it. Throws Error(numeric) for a row that
// nothing can be picked from: NaN or infinity in it, or minus infinity everywhere.
LargestLogit largest_logit(const float * logits, int32_t n);

}  // namespace llamaint
