#pragma once

#include "core/error.h"
#include "core/grammar.h"
#include "core/model.h"
#include "core/sampler.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace llamaint {

// What the user asked for. Immutable once submitted.
struct GenerationRequest {
    Tokens prompt;
    SamplingParams sampling;
    std::shared_ptr<const Grammar> grammar;
    int32_t max_tokens = -1;  // -1: until the end or the window is full; 0: none
    int32_t n = 1;            // choices; choice i uses seed + i
    std::vector<std::string> stop;
    int32_t logprobs = -1;             // -1 none; k >= 0: picked token and the k most likely
    bool echo_special = false;         // special tokens appear in the text
    Tokens preserved_tokens;           // special tokens that appear in the text anyway
    double deadline_s = 0.0;           // seconds from submit, 0 = none
    bool cache_prompt = true;          // may start from and leave behind a cached prefix
    bool stream = true;                // false: chunks are delivered with the last one
    LogitsProcessor logits_processor;  // empty for none
};

enum class Finish { stop, length, cancelled, deadline, error };

const char * finish_name(Finish finish);

// Seconds; zero where nothing was measured.
struct Timings {
    double queue_s = 0.0;    // submit to the first evaluated token
    double prefill_s = 0.0;  // first evaluated to first generated token
    double ttft_s = 0.0;     // submit to first generated token
    double decode_s = 0.0;   // first to last generated token
    uint32_t n_prompt = 0;
    uint32_t n_cached = 0;   // of the prompt, taken from the prefix cache
    uint32_t n_decoded = 0;  // generated tokens, the end-of-generation token not counted
};

// What one choice produced since it was last asked.
struct Chunk {
    int32_t choice = 0;
    std::string text;
    Tokens tokens;
    std::vector<SampledToken> logprobs;  // empty unless asked for
    std::optional<Finish> finish;
    std::string stop_text;
    std::shared_ptr<Error> error;
    std::optional<Timings> timings;  // with `finish`
};

// Throws Error(request | prompt_too_long | invalid_batch) for what can be refused before queueing.
// `n_ctx_seq` is the window of one sequence.
void check_request(const GenerationRequest & request, const Model & model, uint32_t n_ctx_seq);

}  // namespace llamaint
