#include "prefix_cache.h"

#include <algorithm>

namespace llamaint {

uint32_t common_prefix(const TokenIds & a, const TokenIds & b) {
    const size_t n = std::min(a.size(), b.size());
    return static_cast<uint32_t>(std::mismatch(a.begin(), a.begin() + n, b.begin()).first - a.begin());
}

PrefixCache::Hit PrefixCache::find(const TokenIds & prompt, bool whole) const {
    Hit best;
    for (const auto & entry : entries_) {
        uint32_t length = common_prefix(entry.tokens, prompt);
        if (whole && (length != entry.tokens.size() || length == prompt.size())) {
            continue;
        }
        length = std::min<uint32_t>(length, prompt.empty() ? 0 : prompt.size() - 1);
        // Among equals the most recently used wins: it is the least likely to be evicted next.
        if (length > 0 && length >= best.length) {
            best = { &entry, length };
        }
    }
    return best;
}

void PrefixCache::touch(int32_t slot) {
    const auto it = std::find_if(entries_.begin(), entries_.end(), [&](const Entry & e) { return e.slot == slot; });
    if (it != entries_.end()) {
        entries_.splice(entries_.end(), entries_, it);
    }
}

void PrefixCache::erase(int32_t slot) {
    entries_.remove_if([&](const Entry & e) { return e.slot == slot; });
}

int32_t PrefixCache::oldest(int32_t except) const {
    for (const auto & entry : entries_) {
        if (entry.slot != except) {
            return entry.slot;
        }
    }
    return -1;
}

}  // namespace llamaint
