#pragma once

#include "sampler.h"

#include <vector>

namespace llamaint {

// Natural log-probabilities of one row of logits (its log-softmax, summed in double).
class RawLogprobs {
  public:
    // `largest` is the row's maximum; the row must outlive this object.
    RawLogprobs(const float * logits, int32_t n, float largest);

    float of(Token token) const { return static_cast<float>(double(logits_[token]) - log_sum_); }

    // The `k` most likely tokens, most likely first; equal ones by ascending id.
    std::vector<TokenLogprob> top(int32_t k) const;

  private:
    const float * logits_;
    int32_t n_;
    double log_sum_;
};

// Log-probability of the selected candidate among those that are left.
double log_probability(const llama_token_data_array & row);

}  // namespace llamaint
