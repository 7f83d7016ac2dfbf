#include "admission.h"

#include <algorithm>

namespace llamaint {

uint32_t wanted_cells(uint32_t n_pending, uint32_t n_remaining) {
    constexpr uint32_t headroom = 32;
    return n_pending + std::min(n_remaining, headroom);
}

bool may_start(const AdmissionView & view) {
    if (view.n_running >= view.n_parallel) {
        return false;
    }
    return view.n_running == 0 ||
           static_cast<uint64_t>(view.wanted_cells) + view.promised_cells <= static_cast<uint64_t>(view.free_cells);
}

}  // namespace llamaint
