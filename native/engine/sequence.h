#pragma once

#include "handle.h"
#include "request.h"
#include "text_output.h"

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

namespace llamaint {

using Clock = std::chrono::steady_clock;

// A submitted request; shared by the sequences of its choices.
struct Request {
    GenerationRequest spec;
    std::shared_ptr<Handle> handle;
    Clock::time_point submitted;
    std::optional<Clock::time_point> deadline;
};

// One choice of a request: its tokens, how many of them are in memory, and what it has said.
//
//   tokens        prompt, then generated; the last one is known but not evaluated while generating
//   n_committed   tokens whose memory cells hold them: tokens[0, n_committed)
//   invariant     n_committed < tokens.size() while running, and n_committed == 0 while it has no slot
struct Sequence {
    Sequence(std::shared_ptr<Request> request, int32_t choice);

    std::shared_ptr<Request> request;
    int32_t choice;
    int32_t slot = -1;  // seq_id in the context; -1 while waiting
    Tokens tokens;
    uint32_t n_committed = 0;
    uint32_t n_prompt;
    uint32_t n_cached = 0;
    std::unique_ptr<Sampler> sampler;  // made when the first row is sampled
    TextOutput text;
    // Further choices of the request, which start from this one's prompt once it is evaluated.
    std::vector<std::unique_ptr<Sequence>> siblings;

    std::optional<Clock::time_point> started, first_token, last_token;
    bool alone = false;   // its last batch failed: it runs by itself now
    bool ended = false;   // its last chunk is out; removed at the end of the step
    bool failed = false;  // it ended with an error

    uint32_t n_generated() const { return static_cast<uint32_t>(tokens.size()) - n_prompt; }
    uint32_t n_pending() const { return static_cast<uint32_t>(tokens.size()) - n_committed; }
    // Only the newest token is missing from memory.
    bool generating() const { return n_pending() == 1 && n_generated() > 0; }
    // Tokens it may still generate, at most `n_ctx_seq`.
    uint32_t n_remaining(uint32_t n_ctx_seq) const;
    Timings timings() const;
};

}  // namespace llamaint
