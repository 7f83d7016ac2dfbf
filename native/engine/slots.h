#pragma once

#include "core/context.h"
#include "kv_ledger.h"
#include "prefix_cache.h"

#include <cstdint>
#include <set>
#include <vector>

namespace llamaint {

// Who holds which seq_id of the context, and every movement of its memory: running sequences, finished
// ones kept for their prefix, and free slots. Engine thread only.
class Slots {
  public:
    struct Options {
        uint32_t n_cache_slots;
        bool prefix_cache;
    };
    // A running sequence whose evaluated tokens may be shared.
    struct Running {
        int32_t slot;
        const Tokens * tokens;
        uint32_t n_committed;
    };
    struct Acquired {
        int32_t slot;
        uint32_t n_reused;  // tokens at the front that are in memory already
    };

    Slots(Context & context, const Options & options);

    // A slot for `tokens`, with the longest prefix found among finished and running sequences already
    // in it when `reuse`. Evicts the least recently used finished sequence when no slot is free.
    Acquired acquire(const Tokens & tokens, bool reuse, const std::vector<Running> & running);

    // A slot that starts with everything `src` has evaluated; -1 when none is free or evictable.
    int32_t fork(int32_t src);

    // Gives the slot back; `keep` leaves its `tokens` behind for later prefixes.
    void release(int32_t slot, const Tokens & tokens, uint32_t n_committed, bool keep);

    // Rows were evaluated for `slot`.
    void committed(int32_t slot, uint32_t n) { ledger_.append(slot, n); }
    // A decode failed or was abandoned half-way: returns how many of the first `n` tokens, those that
    // were there before it, are still in memory.
    uint32_t undo(int32_t slot, uint32_t n);

    // Frees one finished sequence; false when there is none.
    bool evict_one();
    uint32_t free_cells() const;       // right now
    uint32_t reachable_cells() const;  // after evicting every finished sequence
    bool has_room_for_one_more() const { return !free_.empty() || !cache_.empty(); }

    uint32_t used_cells() const { return ledger_.used(); }
    size_t n_cached() const { return cache_.size(); }
    uint64_t n_evicted() const { return n_evicted_; }

  private:
    bool rewind(int32_t slot, uint32_t n);
    bool window_intact(int32_t slot, uint32_t n) const;
    int32_t take_free();
    void copy_prefix(int32_t src, int32_t dst, uint32_t n);
    void clear(int32_t slot);

    Context & context_;
    Options options_;
    bool whole_only_;  // recurrent memory: a prefix is reused whole or not at all
    bool can_share_;   // cells can belong to several sequences
    uint32_t n_swa_;
    KvLedger ledger_;
    PrefixCache cache_;
    std::set<int32_t> free_;  // the lowest is taken: decodes are fastest over neighbours (Loop::plan)
    uint64_t n_evicted_ = 0;
};

}  // namespace llamaint
