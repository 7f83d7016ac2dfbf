#include "embed_shares.h"

#include <algorithm>

namespace llamaint {

std::vector<uint32_t> fair_shares(const std::vector<uint32_t> & wanted, uint32_t n_rows) {
    const auto n_texts = static_cast<uint32_t>(std::max<size_t>(1, wanted.size()));
    const uint32_t part = n_rows / n_texts;
    uint32_t free = n_rows;
    std::vector<uint32_t> granted;
    for (const uint32_t want : wanted) {
        granted.push_back(std::min(want, part));
        free -= granted.back();
    }
    for (size_t i = 0; i < wanted.size(); i++) {
        const uint32_t more = std::min(wanted[i] - granted[i], free);
        granted[i] += more;
        free -= more;
    }
    return granted;
}

}  // namespace llamaint
