#pragma once

#include "grammar.h"
#include "model.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace llamaint {

// Names and defaults of llama.cpp's common_params_sampling (common/common.h).
struct SamplingParams {
    // 0..2^32-2; the value 2^32-1 (LLAMA_DEFAULT_SEED) draws a fresh seed per request.
    uint32_t seed = LLAMA_DEFAULT_SEED;

    float temperature = 0.80f;  // <= 0: greedy
    float dynatemp_range = 0.0f;
    float dynatemp_exponent = 1.0f;
    int32_t top_k = 40;
    float top_p = 0.95f;
    float min_p = 0.05f;
    float typical_p = 1.0f;
    float top_n_sigma = -1.0f;
    float xtc_probability = 0.0f;
    float xtc_threshold = 0.10f;
    int32_t min_keep = 0;
    int32_t penalty_last_n = 64;  // 0 off, -1 whole context
    float repeat_penalty = 1.0f;
    float frequency_penalty = 0.0f;
    float presence_penalty = 0.0f;
    float dry_multiplier = 0.0f;
    float dry_base = 1.75f;
    int32_t dry_allowed_length = 2;
    int32_t dry_penalty_last_n = 64;  // 0 off, -1 whole context
    std::vector<std::string> dry_sequence_breakers = { "\n", ":", "\"", "*" };
    int32_t mirostat = 0;  // 0, 1 or 2
    float mirostat_tau = 5.0f;
    float mirostat_eta = 0.10f;
    float adaptive_target = -1.0f;  // negative = off; otherwise adaptive-p picks the token
    float adaptive_decay = 0.90f;
    bool ignore_eos = false;  // biases every end-of-generation token to -inf
    std::vector<std::pair<Token, float>> logit_bias;
    // Order of the chain; names of llama.cpp: penalties dry top_n_sigma top_k typ_p top_p min_p xtc
    // temperature infill adaptive_p.
    std::vector<std::string> samplers = { "penalties", "dry",   "top_n_sigma", "top_k",      "typ_p",
                                          "top_p",     "min_p", "xtc",         "temperature" };
};

struct TokenLogprob {
    Token token;
    float logprob;  // natural log
};

struct SampledToken {
    Token token = LLAMA_TOKEN_NULL;
    // Only when asked for: log-softmax of the raw row and of the distribution left after the chain.
    float raw_logprob = 0.0f;
    float sampled_logprob = 0.0f;
    std::vector<TokenLogprob> top;  // most likely first, of the raw row
};

// Edits the row of float32 [n_vocab] in place, given all tokens so far (prompt included).
using LogitsProcessor = std::function<void(const Tokens & tokens, float * logits, int32_t n_vocab)>;

struct LargestLogit;

// The sampling state of one sequence: chain, grammar, random numbers, history. One thread at a time.
class Sampler {
  public:
    // Throws Error(request) naming the parameter that is out of range. `n_ctx` resolves -1 ("whole
    // context") of the penalty windows.
    Sampler(std::shared_ptr<const Model> model, const SamplingParams & params, std::shared_ptr<const Grammar> grammar,
            int32_t n_ctx);

    // Lets penalties and DRY see the prompt; the grammar does not.
    void accept_prompt(const Tokens & tokens);

    // Picks from one row of logits, float32 [n_vocab], which is left as it is: several sequences may
    // sample from one row.
    // `n_top` >= 0 fills the log-probabilities (0: only those of the picked token), -1 skips them.
    // Throws Error(numeric) for NaN or all -inf rows, Error(grammar) when no token satisfies the grammar.
    SampledToken sample(const float * logits, int32_t n_top = -1);

    // Advances chain and grammar by a token that sample() returned. Never aborts: an end-of-generation
    // token is not fed to the grammar.
    void accept(Token token);

    // An independent copy in the same state.
    std::unique_ptr<Sampler> clone() const;

    uint32_t seed() const { return seed_; }
    int32_t n_vocab() const { return model_->n_vocab(); }

  private:
    Sampler() = default;
    void collect_biases();
    void build_chain(const std::vector<std::string> & order);
    bool picks_the_largest() const;
    bool biases_decide(const float * logits, const LargestLogit & largest) const;
    void fill_candidates(const float * logits);
    llama_token_data_array run_chain();
    llama_token_data_array pick_by_grammar(const float * logits);
    bool grammar_allows(Token token);

    std::shared_ptr<const Model> model_;
    SamplingParams params_;
    std::shared_ptr<const Grammar> grammar_source_;
    SamplerPtr chain_;
    SamplerPtr grammar_;
    uint32_t seed_ = 0;
    int32_t n_ctx_ = 0;
    bool greedy_ = false;                          // argmax of the row is exact: no chain needed
    std::vector<std::pair<Token, float>> biases_;  // logit_bias, suppressed tokens, ignore_eos
    std::vector<int> prompt_readers_;              // places in the chain of penalties and DRY
    std::vector<llama_token_data> candidates_;
};

// Throws Error(request) naming the first parameter that cannot work.
void check_sampling(const SamplingParams & params, int32_t n_vocab);

}  // namespace llamaint
