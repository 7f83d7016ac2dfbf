#pragma once

#include <chrono>

namespace llamaint {

// A wait that cannot overflow a clock: at most an hour.
inline std::chrono::duration<double> clamp_seconds(double seconds) {
    return std::chrono::duration<double>(seconds < 0.0 ? 0.0 : seconds > 3600.0 ? 3600.0 : seconds);
}

}  // namespace llamaint
