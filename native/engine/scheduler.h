#pragma once

#include <cstdint>
#include <vector>

namespace llamaint {

// One running sequence as the scheduler sees it.
struct SeqView {
    uint32_t pending;  // tokens known but not evaluated: 1 while generating, more in prefill
    bool generating;   // has produced a token already and is not catching up after a preemption
};

struct StepBudget {
    uint32_t max_rows;      // of one decode
    uint32_t free_cells;    // of the KV cache
    uint32_t prefill_rows;  // prompt rows beside generating ones, so that these do not wait long
    uint32_t fair_rows;     // prompt rows each prefilling sequence gets before the oldest takes the rest
};

// Rows of the next decode, one entry per view in the same order; 0 leaves a sequence out.
// Generating sequences come first, one row each. What is left goes to prompts: every one gets
// `fair_rows`, or half as many again if that completes it, so that a short prompt is not held up by a
// long one; then the oldest take the rest.
// Pure function; views are ordered by age, oldest first.
std::vector<uint32_t> plan_rows(const std::vector<SeqView> & views, const StepBudget & budget);

}  // namespace llamaint
