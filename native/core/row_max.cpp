#include "row_max.h"

#include "error.h"

#include <algorithm>

namespace llamaint {

LargestLogit largest_logit(const float * logits, int32_t n) {
    // Independent lanes: a compiler may not reorder the reduction of floats itself.
    constexpr int32_t n_lanes = 16;
    constexpr int32_t block = 256;
    LargestLogit result;
    uint32_t nan_in[n_lanes] = {};
    const auto offer = [&](int32_t begin, int32_t end, float largest) {
        if (largest > result.logit) {
            result.logit = largest;
            result.token = static_cast<int32_t>(std::find(logits + begin, logits + end, largest) - logits);
        }
    };
    int32_t begin = 0;
    for (; begin + block <= n; begin += block) {
        float largest_of[n_lanes];
        std::fill_n(largest_of, n_lanes, -INFINITY);
        for (int32_t i = begin; i < begin + block; i += n_lanes) {
            for (int32_t lane = 0; lane < n_lanes; ++lane) {
                const float logit = logits[i + lane];
                largest_of[lane] = logit > largest_of[lane] ? logit : largest_of[lane];
                nan_in[lane] |= logit != logit;
            }
        }
        offer(begin, begin + block, *std::max_element(largest_of, largest_of + n_lanes));
    }
    for (; begin < n; ++begin) {
        nan_in[0] |= logits[begin] != logits[begin];
        offer(begin, begin + 1, logits[begin]);
    }
    const bool nan = std::any_of(nan_in, nan_in + n_lanes, [](uint32_t found) { return found != 0; });
    if (nan || !std::isfinite(result.logit)) {
        throw Error(ErrorCode::numeric, nan                ? "the logits contain NaN"
                                        : result.logit > 0 ? "the logits contain infinity"
                                                           : "all logits are minus infinity");
    }
    return result;
}

}  // namespace llamaint
