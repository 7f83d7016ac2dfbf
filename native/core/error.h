#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>

namespace llamaint {

// One code per class in llamaint/errors.py; llamaint/backend turns codes into classes.
enum class ErrorCode {
    config,
    model_not_found,
    model_load,
    unsupported,
    request,
    prompt_too_long,
    invalid_batch,
    template_,
    grammar,
    tool,
    media,
    state,
    capacity,
    cancelled,
    engine,
    decode,
    numeric,
    closed,
};

// The `code` of the Python class, e.g. "prompt_too_long".
const char * error_code_name(ErrorCode code);

using ErrorNumbers = std::map<std::string, double>;

class Error : public std::runtime_error {
  public:
    Error(ErrorCode code, const std::string & message, ErrorNumbers numbers = {})
        : std::runtime_error(message), code(code), numbers(std::move(numbers)) {}

    ErrorCode code;
    ErrorNumbers numbers;
};

}  // namespace llamaint
