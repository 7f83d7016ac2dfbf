#include "sampler.h"

#include "adaptive_p.h"
#include "error.h"
#include "logprobs.h"
#include "possible_only.h"
#include "row_max.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace llamaint {

namespace {

bool has(const std::vector<std::string> & names, const char * name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

int32_t window(int32_t last_n, int32_t n_ctx) {
    return last_n < 0 ? n_ctx : last_n;
}

}  // namespace

Sampler::Sampler(std::shared_ptr<const Model> model, const SamplingParams & params,
                 std::shared_ptr<const Grammar> grammar, int32_t n_ctx)
    : model_(std::move(model)), params_(params), grammar_source_(std::move(grammar)), seed_(params.seed),
      n_ctx_(n_ctx) {
    check_sampling(params_, model_->n_vocab());
    if (seed_ == LLAMA_DEFAULT_SEED) {
        std::random_device entropy;
        do {
            seed_ = entropy();
        } while (seed_ == LLAMA_DEFAULT_SEED);
    }
    if (grammar_source_) {
        grammar_ = grammar_source_->clone();
    }
    collect_biases();
    build_chain(params_.samplers);
}

void Sampler::collect_biases() {
    int32_t n_suppressed = 0;
    const llama_token * suppressed = llama_vocab_get_suppress_tokens(model_->vocab(), &n_suppressed);
    biases_ = params_.logit_bias;
    for (int32_t i = 0; i < n_suppressed; ++i) {
        biases_.emplace_back(suppressed[i], -INFINITY);
    }
    if (params_.ignore_eos) {
        for (const Token token : model_->eog_tokens()) {
            biases_.emplace_back(token, -INFINITY);
        }
    }
}

void Sampler::build_chain(const std::vector<std::string> & order) {
    const SamplingParams & p = params_;
    const llama_vocab * vocab = model_->vocab();
    const size_t min_keep = static_cast<size_t>(p.min_keep);
    chain_.reset(llama_sampler_chain_init({ /*no_perf=*/true }));
    const auto add = [&](llama_sampler * sampler) { llama_sampler_chain_add(chain_.get(), sampler); };
    const auto add_seeing_prompt = [&](llama_sampler * sampler) {
        prompt_readers_.push_back(llama_sampler_chain_n(chain_.get()));
        add(sampler);
    };

    if (p.mirostat != 0) {
        add(llama_sampler_init_temp(p.temperature));
        add(p.mirostat == 1 ? llama_sampler_init_mirostat(model_->n_vocab(), seed_, p.mirostat_tau, p.mirostat_eta, 100)
                            : llama_sampler_init_mirostat_v2(seed_, p.mirostat_tau, p.mirostat_eta));
        return;
    }
    for (const std::string & name : order) {
        if (name == "penalties") {
            add_seeing_prompt(llama_sampler_init_penalties(model_->n_vocab(), window(p.penalty_last_n, n_ctx_),
                                                           p.repeat_penalty, p.frequency_penalty, p.presence_penalty));
        } else if (name == "dry") {
            std::vector<const char *> breakers;
            for (const std::string & breaker : p.dry_sequence_breakers) {
                breakers.push_back(breaker.c_str());
            }
            add_seeing_prompt(llama_sampler_init_dry(vocab, p.dry_multiplier, p.dry_base, p.dry_allowed_length,
                                                     window(p.dry_penalty_last_n, n_ctx_), breakers.data(),
                                                     breakers.size()));
        } else if (name == "top_n_sigma") {
            add(llama_sampler_init_top_n_sigma(p.top_n_sigma));
        } else if (name == "top_k") {
            add(llama_sampler_init_top_k(p.top_k));
        } else if (name == "typ_p") {
            if (p.typical_p < 1) {
                add(make_possible_only());
            }
            add(llama_sampler_init_typical(p.typical_p, min_keep));
        } else if (name == "top_p") {
            add(llama_sampler_init_top_p(p.top_p, min_keep));
        } else if (name == "min_p") {
            add(llama_sampler_init_min_p(p.min_p, min_keep));
        } else if (name == "xtc") {
            add(llama_sampler_init_xtc(p.xtc_probability, p.xtc_threshold, min_keep, seed_));
        } else if (name == "temperature") {
            add(llama_sampler_init_temp_ext(p.temperature, p.dynatemp_range, p.dynatemp_exponent));
        } else if (name == "infill") {
            add(llama_sampler_init_infill(vocab));
        }
    }
    if (p.adaptive_target >= 0) {
        add(make_adaptive_p(p.adaptive_target, p.adaptive_decay, seed_));
    } else {
        add(llama_sampler_init_dist(seed_));
    }
    greedy_ = picks_the_largest();
}

bool Sampler::picks_the_largest() const {
    const SamplingParams & p = params_;
    const bool temperature_zero = p.temperature <= 0 && p.dynatemp_range <= 0 && has(p.samplers, "temperature");
    const bool top_1 = p.top_k == 1 && has(p.samplers, "top_k");
    const bool penalties = p.penalty_last_n != 0 && has(p.samplers, "penalties") &&
                           (p.repeat_penalty != 1 || p.frequency_penalty != 0 || p.presence_penalty != 0);
    const bool dry = p.dry_multiplier != 0 && p.dry_penalty_last_n != 0 && has(p.samplers, "dry");
    // These may drop the most likely token.
    const bool typical = p.typical_p < 1 && has(p.samplers, "typ_p");
    const bool xtc = p.xtc_probability > 0 && has(p.samplers, "xtc");
    return (temperature_zero || top_1) && !penalties && !dry && !typical && !xtc && p.adaptive_target < 0 &&
           p.mirostat == 0 && !has(p.samplers, "infill");
}

void Sampler::accept_prompt(const Tokens & tokens) {
    for (const int i : prompt_readers_) {
        llama_sampler * sampler = llama_sampler_chain_get(chain_.get(), i);
        for (const Token token : tokens) {
            llama_sampler_accept(sampler, token);
        }
    }
}

bool Sampler::biases_decide(const float * logits, const LargestLogit & largest) const {
    return std::any_of(biases_.begin(), biases_.end(), [&](const auto & entry) {
        return entry.first == largest.token || logits[entry.first] + entry.second >= largest.logit;
    });
}

void Sampler::fill_candidates(const float * logits) {
    const int32_t n = model_->n_vocab();
    candidates_.resize(static_cast<size_t>(n));
    for (Token token = 0; token < n; ++token) {
        candidates_[static_cast<size_t>(token)] = { token, logits[token], 0.0f };
    }
    for (const auto & [token, bias] : biases_) {
        candidates_[static_cast<size_t>(token)].logit += bias;
    }
}

llama_token_data_array Sampler::run_chain() {
    llama_token_data_array row = { candidates_.data(), candidates_.size(), -1, false };
    llama_sampler_apply(chain_.get(), &row);
    if (row.selected < 0 || static_cast<size_t>(row.selected) >= row.size ||
        !(row.data[row.selected].logit > -INFINITY)) {
        throw Error(ErrorCode::numeric, "no token is left after the samplers");
    }
    return row;
}

bool Sampler::grammar_allows(Token token) {
    llama_token_data single = { token, 1.0f, 0.0f };
    llama_token_data_array row = { &single, 1, -1, false };
    llama_sampler_apply(grammar_.get(), &row);
    return single.logit != -INFINITY;
}

llama_token_data_array Sampler::pick_by_grammar(const float * logits) {
    fill_candidates(logits);
    llama_token_data_array row = { candidates_.data(), candidates_.size(), -1, false };
    llama_sampler_apply(grammar_.get(), &row);
    const bool any = std::any_of(candidates_.begin(), candidates_.end(),
                                 [](const llama_token_data & c) { return c.logit > -INFINITY; });
    if (!any) {
        throw Error(ErrorCode::grammar, "no token satisfies the grammar at this place");
    }
    return run_chain();
}

SampledToken Sampler::sample(const float * logits, int32_t n_top) {
    const int32_t n = model_->n_vocab();
    const LargestLogit largest = largest_logit(logits, n);
    SampledToken result;
    double sampled_logprob = 0;
    if (greedy_ && (!grammar_ || n_top < 0) && !biases_decide(logits, largest)) {
        result.token = largest.token;
    }
    llama_token_data_array row = { nullptr, 0, -1, false };
    if (result.token == LLAMA_TOKEN_NULL) {
        fill_candidates(logits);
        row = run_chain();
        result.token = row.data[row.selected].id;
    }
    if (grammar_ && !grammar_allows(result.token)) {
        row = pick_by_grammar(logits);
        result.token = row.data[row.selected].id;
    }
    if (n_top >= 0) {
        if (row.data) {
            sampled_logprob = log_probability(row);
        }
        const RawLogprobs raw(logits, n, largest.logit);
        result.raw_logprob = raw.of(result.token);
        result.sampled_logprob = static_cast<float>(sampled_logprob);
        result.top = raw.top(n_top);
    }
    return result;
}

void Sampler::accept(Token token) {
    if (grammar_ && !model_->is_eog(token)) {
        try {
            llama_sampler_accept(grammar_.get(), token);
        } catch (const std::bad_alloc &) {
            throw;
        } catch (const std::exception & e) {
            throw Error(ErrorCode::grammar, std::string("the token does not fit the grammar: ") + e.what(),
                        { { "token", double(token) } });
        }
    }
    llama_sampler_accept(chain_.get(), token);
}

std::unique_ptr<Sampler> Sampler::clone() const {
    auto copy = std::unique_ptr<Sampler>(new Sampler);
    copy->model_ = model_;
    copy->params_ = params_;
    copy->grammar_source_ = grammar_source_;
    copy->chain_.reset(llama_sampler_clone(chain_.get()));
    if (grammar_) {
        copy->grammar_.reset(llama_sampler_clone(grammar_.get()));
    }
    copy->seed_ = seed_;
    copy->n_ctx_ = n_ctx_;
    copy->greedy_ = greedy_;
    copy->biases_ = biases_;
    copy->prompt_readers_ = prompt_readers_;
    return copy;
}

}  // namespace llamaint
