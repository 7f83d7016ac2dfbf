#include "error.h"
#include "limits.h"
#include "sampler.h"

#include <cmath>
#include <set>
#include <sstream>

namespace llamaint {

namespace {

[[noreturn]] void refuse(const char * field, double value, const std::string & rule) {
    std::ostringstream text;
    text << field << "=" << value << ": " << rule;
    throw Error(ErrorCode::request, text.str(), { { field, value } });
}

void in_range(const char * field, double value, double low, double high) {
    if (!(value >= low && value <= high)) {
        std::ostringstream rule;
        rule << "must be from " << low << " to " << high;
        refuse(field, value, rule.str());
    }
}

void at_least(const char * field, double value, double low) {
    if (!(value >= low) || std::isinf(value)) {
        std::ostringstream rule;
        rule << "must be finite and at least " << low;
        refuse(field, value, rule.str());
    }
}

void finite(const char * field, double value) {
    if (!std::isfinite(value)) {
        refuse(field, value, "must be finite");
    }
}

const std::set<std::string> & sampler_names() {
    static const std::set<std::string> names = { "penalties", "dry", "top_n_sigma", "top_k",  "typ_p",     "top_p",
                                                 "min_p",     "xtc", "temperature", "infill", "adaptive_p" };
    return names;
}

void check_chain(const SamplingParams & p) {
    std::set<std::string> seen;
    for (const std::string & name : p.samplers) {
        if (!sampler_names().count(name)) {
            std::string known;
            for (const std::string & k : sampler_names()) {
                known += (known.empty() ? "" : ", ") + k;
            }
            throw Error(ErrorCode::request, "samplers: \"" + name + "\" is unknown; use " + known);
        }
        if (!seen.insert(name).second) {
            throw Error(ErrorCode::request, "samplers: \"" + name + "\" stands in the list twice");
        }
    }
    if (seen.count("adaptive_p") && p.adaptive_target < 0) {
        refuse("adaptive_target", p.adaptive_target, "samplers has \"adaptive_p\", which needs a target from 0 to 1");
    }
    for (const std::string & breaker : p.dry_sequence_breakers) {
        if (breaker.empty() || breaker.size() > 40 || breaker.find('\0') != std::string::npos) {
            refuse("dry_sequence_breakers", double(breaker.size()),
                   "each breaker has 1 to 40 bytes and no zero byte (number: bytes of the wrong one)");
        }
    }
    if (p.dry_sequence_breakers.size() > 64) {
        refuse("dry_sequence_breakers", double(p.dry_sequence_breakers.size()), "at most 64 breakers");
    }
}

void check_bias(const SamplingParams & p, int32_t n_vocab) {
    std::set<Token> seen;
    for (const auto & [token, bias] : p.logit_bias) {
        if (token < 0 || token >= n_vocab) {
            refuse("logit_bias", token, "the vocabulary has tokens 0 to " + std::to_string(n_vocab - 1));
        }
        if (std::isnan(bias) || bias == INFINITY) {
            refuse("logit_bias", bias, "a bias is finite or minus infinity");
        }
        if (!seen.insert(token).second) {
            refuse("logit_bias", token, "the token stands in the list twice");
        }
    }
}

}  // namespace

void check_sampling(const SamplingParams & p, int32_t n_vocab) {
    finite("temperature", p.temperature);
    at_least("dynatemp_range", p.dynatemp_range, 0);
    at_least("dynatemp_exponent", p.dynatemp_exponent, 0);
    in_range("top_p", p.top_p, 0, 1);
    in_range("min_p", p.min_p, 0, 1);
    in_range("typical_p", p.typical_p, 0, 1);
    finite("top_n_sigma", p.top_n_sigma);
    in_range("xtc_probability", p.xtc_probability, 0, 1);
    in_range("xtc_threshold", p.xtc_threshold, 0, 1);
    in_range("min_keep", p.min_keep, 0, n_vocab);
    at_least("penalty_last_n", p.penalty_last_n, -1);
    if (!(p.repeat_penalty > 0) || !std::isfinite(p.repeat_penalty) || !std::isfinite(1 / p.repeat_penalty)) {
        refuse("repeat_penalty", p.repeat_penalty, "must be finite and greater than 0; 1 is off");
    }
    finite("frequency_penalty", p.frequency_penalty);
    finite("presence_penalty", p.presence_penalty);
    at_least("dry_multiplier", p.dry_multiplier, 0);
    if (p.dry_multiplier > 0) {
        at_least("dry_base", p.dry_base, 1);
    }
    at_least("dry_allowed_length", p.dry_allowed_length, 0);
    at_least("dry_penalty_last_n", p.dry_penalty_last_n, -1);
    in_range("mirostat", p.mirostat, 0, 2);
    if (p.mirostat != 0) {
        at_least("mirostat_tau", p.mirostat_tau, 0);
        at_least("mirostat_eta", p.mirostat_eta, 0);
    }
    if (!(p.adaptive_target <= 1)) {
        refuse("adaptive_target", p.adaptive_target, "must be at most 1; negative is off");
    }
    if (p.adaptive_target >= 0) {
        in_range("adaptive_decay", p.adaptive_decay, 0, 0.99f);
        if (p.mirostat != 0) {
            refuse("adaptive_target", p.adaptive_target, "adaptive-p and mirostat both pick the token; turn one off");
        }
    }
    check_chain(p);
    check_bias(p, n_vocab);
}

}  // namespace llamaint
