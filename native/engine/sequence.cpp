#include "sequence.h"

#include <algorithm>

namespace llamaint {

namespace {

double seconds_between(const std::optional<Clock::time_point> & from, const std::optional<Clock::time_point> & to) {
    return from && to ? std::chrono::duration<double>(*to - *from).count() : 0.0;
}

}  // namespace

Sequence::Sequence(std::shared_ptr<Request> request_, int32_t choice)
    : request(std::move(request_)), choice(choice), tokens(request->spec.prompt),
      n_prompt(static_cast<uint32_t>(tokens.size())), text(request->spec.stop) {}

uint32_t Sequence::n_remaining(uint32_t n_ctx_seq) const {
    const uint32_t window = n_ctx_seq + 1 - std::min<uint32_t>(n_ctx_seq + 1, static_cast<uint32_t>(tokens.size()));
    const int32_t limit = request->spec.max_tokens;
    return limit < 0 ? window
                     : std::min(window, static_cast<uint32_t>(limit) - std::min<uint32_t>(limit, n_generated()));
}

Timings Sequence::timings() const {
    const std::optional<Clock::time_point> submitted = request->submitted;
    Timings t;
    t.queue_s = seconds_between(submitted, started);
    t.prefill_s = seconds_between(started, first_token);
    t.ttft_s = seconds_between(submitted, first_token);
    t.decode_s = seconds_between(first_token, last_token);
    t.n_prompt = n_prompt;
    t.n_cached = n_cached;
    t.n_decoded = n_generated();
    return t;
}

}  // namespace llamaint
