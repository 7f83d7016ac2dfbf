#include "scheduler.h"

#include <algorithm>

namespace llamaint {

std::vector<uint32_t> plan_rows(const std::vector<SeqView> & views, const StepBudget & budget) {
    std::vector<uint32_t> rows(views.size(), 0);
    uint32_t left = std::min(budget.max_rows, budget.free_cells);
    bool any_generate = false;

    for (size_t i = 0; i < views.size() && left > 0; i++) {
        if (views[i].generating && views[i].pending > 0) {
            rows[i] = 1;
            left--;
            any_generate = true;
        }
    }
    if (any_generate) {
        left = std::min(left, budget.prefill_rows);
    }
    const auto give = [&](size_t i, uint32_t most) {
        const uint32_t n = std::min({ views[i].pending - rows[i], most, left });
        rows[i] += n;
        left -= n;
    };
    for (size_t i = 0; i < views.size(); i++) {
        if (!views[i].generating) {
            // A short rest is taken along: a decode for a few rows costs almost as much as one for many.
            const bool short_rest = views[i].pending <= budget.fair_rows + budget.fair_rows / 2;
            give(i, short_rest ? views[i].pending : budget.fair_rows);
        }
    }
    for (size_t i = 0; i < views.size(); i++) {
        if (!views[i].generating) {
            give(i, left);
        }
    }
    return rows;
}

}  // namespace llamaint
