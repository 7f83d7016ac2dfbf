#include "error.h"

namespace llamaint {

const char * error_code_name(ErrorCode code) {
    switch (code) {
    case ErrorCode::config:
        return "config";
    case ErrorCode::model_not_found:
        return "model_not_found";
    case ErrorCode::model_load:
        return "model_load";
    case ErrorCode::unsupported:
        return "unsupported";
    case ErrorCode::request:
        return "request";
    case ErrorCode::prompt_too_long:
        return "prompt_too_long";
    case ErrorCode::invalid_batch:
        return "invalid_batch";
    case ErrorCode::template_:
        return "template";
    case ErrorCode::grammar:
        return "grammar";
    case ErrorCode::tool:
        return "tool";
    case ErrorCode::media:
        return "media";
    case ErrorCode::state:
        return "state";
    case ErrorCode::capacity:
        return "capacity";
    case ErrorCode::cancelled:
        return "cancelled";
    case ErrorCode::engine:
        return "engine";
    case ErrorCode::decode:
        return "decode";
    case ErrorCode::numeric:
        return "numeric";
    case ErrorCode::closed:
        return "closed";
    }
    return "engine";
}

}  // namespace llamaint
