#include "request.h"

#include <cmath>

namespace llamaint {

const char * finish_name(Finish finish) {
    switch (finish) {
    case Finish::stop:
        return "stop";
    case Finish::length:
        return "length";
    case Finish::cancelled:
        return "cancelled";
    case Finish::deadline:
        return "deadline";
    case Finish::error:
        return "error";
    }
    return "error";
}

namespace {

[[noreturn]] void refuse(const std::string & message, ErrorNumbers numbers = {}) {
    throw Error(ErrorCode::request, message, std::move(numbers));
}

}  // namespace

void check_request(const GenerationRequest & request, const Model & model, uint32_t n_ctx_seq) {
    if (request.prompt.empty()) {
        refuse("the prompt has no tokens; this vocabulary adds no beginning-of-text token to an empty text");
    }
    model.check_tokens(request.prompt);
    model.check_tokens(request.preserved_tokens);
    if (request.prompt.size() > n_ctx_seq) {
        throw Error(ErrorCode::prompt_too_long,
                    "the prompt has " + std::to_string(request.prompt.size()) + " tokens; the context window holds " +
                        std::to_string(n_ctx_seq),
                    { { "n_prompt", static_cast<double>(request.prompt.size()) },
                      { "n_ctx", static_cast<double>(n_ctx_seq) } });
    }
    if (request.max_tokens < -1) {
        refuse("max_tokens is " + std::to_string(request.max_tokens) + "; it must be -1 (no limit) or more");
    }
    if (request.n < 1 || request.n > 128) {
        refuse("n is " + std::to_string(request.n) + "; it must be 1 to 128");
    }
    if (request.logprobs < -1 || request.logprobs > model.n_vocab()) {
        refuse("logprobs is " + std::to_string(request.logprobs) + "; it must be -1 (none) to the vocabulary's " +
               std::to_string(model.n_vocab()));
    }
    if (!std::isfinite(request.deadline_s) || request.deadline_s < 0.0) {
        refuse("deadline_s must be a finite number of seconds, 0 for none");
    }
    for (const auto & stop : request.stop) {
        if (stop.empty()) {
            refuse("a stop string is empty");
        }
    }
    check_sampling(request.sampling, model.n_vocab());
}

}  // namespace llamaint
