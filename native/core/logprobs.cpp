#include "logprobs.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace llamaint {

RawLogprobs::RawLogprobs(const float * logits, int32_t n, float largest) : logits_(logits), n_(n) {
    double sum = 0;
    for (int32_t i = 0; i < n; ++i) {
        sum += std::exp(double(logits[i]) - double(largest));
    }
    log_sum_ = double(largest) + std::log(sum);
}

std::vector<TokenLogprob> RawLogprobs::top(int32_t k) const {
    const auto count = static_cast<size_t>(std::clamp(k, 0, n_));
    if (count == 0) {
        return {};
    }
    std::vector<Token> order(static_cast<size_t>(n_));
    std::iota(order.begin(), order.end(), 0);
    const auto more_likely = [&](Token a, Token b) {
        return logits_[a] != logits_[b] ? logits_[a] > logits_[b] : a < b;
    };
    const auto end = order.begin() + static_cast<std::ptrdiff_t>(count);
    std::nth_element(order.begin(), end - 1, order.end(), more_likely);
    std::sort(order.begin(), end, more_likely);
    std::vector<TokenLogprob> best(count);
    std::transform(order.begin(), end, best.begin(), [&](Token token) { return TokenLogprob{ token, of(token) }; });
    return best;
}

double log_probability(const llama_token_data_array & row) {
    double largest = -INFINITY;
    for (size_t i = 0; i < row.size; ++i) {
        largest = std::max(largest, double(row.data[i].logit));
    }
    double sum = 0;
    for (size_t i = 0; i < row.size; ++i) {
        sum += std::exp(double(row.data[i].logit) - largest);
    }
    return double(row.data[row.selected].logit) - largest - std::log(sum);
}

}  // namespace llamaint
