#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <vector>

namespace llamaint {

using TokenIds = std::vector<int32_t>;

// Tokens at the front of both.
uint32_t common_prefix(const TokenIds & a, const TokenIds & b);

// Finished sequences whose memory is still on the device, least recently used first. Knows tokens and
// slots only; the engine moves the memory.
class PrefixCache {
  public:
    struct Entry {
        int32_t slot;
        TokenIds tokens;  // exactly those evaluated in the slot's memory
    };
    struct Hit {
        const Entry * entry = nullptr;
        uint32_t length = 0;
    };

    void insert(int32_t slot, TokenIds tokens) { entries_.push_back({ slot, std::move(tokens) }); }

    // The entry that shares the longest front with `prompt`. `whole` asks for entries that are a front
    // of it from first to last token: recurrent memory cannot be cut back. The hit never covers the
    // whole prompt, because its last token must be evaluated for logits.
    Hit find(const TokenIds & prompt, bool whole) const;

    // Marks the entry of `slot` as just used.
    void touch(int32_t slot);
    void erase(int32_t slot);
    void clear() { entries_.clear(); }

    bool empty() const { return entries_.empty(); }
    size_t size() const { return entries_.size(); }
    // Slot of the least recently used entry, -1 when empty. `except` is passed over.
    int32_t oldest(int32_t except = -1) const;
    const std::list<Entry> & entries() const { return entries_; }

  private:
    std::list<Entry> entries_;
};

}  // namespace llamaint
