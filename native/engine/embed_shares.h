#pragma once

#include <cstdint>
#include <vector>

namespace llamaint {

// Rows of one decode of `n_rows` for each text: an equal part, and what is left over to the oldest first.
// No text gets more than it wants. Pure.
std::vector<uint32_t> fair_shares(const std::vector<uint32_t> & wanted, uint32_t n_rows);

}  // namespace llamaint
