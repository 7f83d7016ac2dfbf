#pragma once

#include <cstdint>

namespace llamaint {

// Cells a sequence is counted with when deciding about admission: its unevaluated tokens and a little
// room to generate, so that it is not preempted at once.
uint32_t wanted_cells(uint32_t n_pending, uint32_t n_remaining);

struct AdmissionView {
    uint32_t n_running;
    uint32_t n_parallel;
    uint32_t free_cells;      // free now, or held by finished sequences that can be evicted
    uint32_t promised_cells;  // wanted_cells of all running sequences together
    uint32_t wanted_cells;    // of the candidate
};

// Whether the oldest waiting request may start. One that fits the window always starts when nothing
// else is running. Pure function.
bool may_start(const AdmissionView & view);

}  // namespace llamaint
