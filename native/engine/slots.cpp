#include "slots.h"

#include <algorithm>
#include <limits>

namespace llamaint {

namespace {

// Sharing fewer tokens is not worth a copy.
constexpr uint32_t min_shared = 16;

}  // namespace

Slots::Slots(Context & context, const Options & options)
    : context_(context), options_(options), whole_only_(context.memory_kind() != MemoryKind::partial),
      can_share_(context.params().kv_unified && !whole_only_),
      n_swa_(static_cast<uint32_t>(std::max(0, llama_model_n_swa(context.model()->handle())))) {
    for (uint32_t slot = context.n_seq_max(); slot-- > 0;) {
        free_.insert(static_cast<int32_t>(slot));
    }
}

Slots::Acquired Slots::acquire(const Tokens & tokens, bool reuse, const std::vector<Running> & running) {
    if (!reuse || !options_.prefix_cache) {
        return { take_free(), 0 };
    }
    PrefixCache::Hit hit = cache_.find(tokens, whole_only_);
    if (hit.entry != nullptr && !window_intact(hit.entry->slot, hit.length)) {
        hit = {};
    }
    int32_t src = hit.entry != nullptr ? hit.entry->slot : -1;
    uint32_t length = hit.length;
    bool idle = true;
    if (can_share_) {
        for (const Running & other : running) {
            const uint32_t n = std::min(
                { common_prefix(*other.tokens, tokens), other.n_committed, static_cast<uint32_t>(tokens.size()) - 1 });
            if (n > length && window_intact(other.slot, n)) {
                src = other.slot;
                length = n;
                idle = false;
            }
        }
    }
    if (src < 0 || (length < min_shared && !(idle && length == hit.entry->tokens.size()))) {
        return { take_free(), 0 };
    }
    const bool take_over =
        idle && (length == hit.entry->tokens.size() || !can_share_ || (free_.empty() && cache_.oldest(src) < 0));
    if (take_over) {
        cache_.erase(src);
        return rewind(src, length) ? Acquired{ src, length } : Acquired{ src, 0 };
    }
    cache_.touch(src);
    const int32_t dst = take_free();
    copy_prefix(src, dst, length);
    return { dst, length };
}

int32_t Slots::fork(int32_t src) {
    if (!has_room_for_one_more()) {
        return -1;
    }
    const int32_t dst = take_free();
    copy_prefix(src, dst, ledger_.length(src));
    return dst;
}

void Slots::release(int32_t slot, const Tokens & tokens, uint32_t n_committed, bool keep) {
    if (!keep || !options_.prefix_cache || n_committed == 0 || options_.n_cache_slots == 0) {
        clear(slot);
        free_.insert(slot);
        return;
    }
    TokenIds kept(tokens.begin(), tokens.begin() + n_committed);
    // An entry that is a front of the new one has nothing more to offer.
    std::vector<int32_t> covered;
    for (const auto & entry : cache_.entries()) {
        if (entry.tokens.size() <= kept.size() && common_prefix(entry.tokens, kept) == entry.tokens.size()) {
            covered.push_back(entry.slot);
        }
    }
    for (const int32_t other : covered) {
        cache_.erase(other);
        clear(other);
        free_.insert(other);
    }
    cache_.insert(slot, std::move(kept));
    while (cache_.size() > options_.n_cache_slots) {
        evict_one();
    }
}

uint32_t Slots::undo(int32_t slot, uint32_t n) {
    if (whole_only_) {
        // A recurrent state has already absorbed tokens of the failed batch and cannot tell.
        clear(slot);
        return 0;
    }
    return rewind(slot, n) ? n : 0;
}

// Back to the first `n` tokens. False: the slot is empty now.
bool Slots::rewind(int32_t slot, uint32_t n) {
    if (context_.seq_rm(slot, static_cast<llama_pos>(n), -1)) {
        ledger_.truncate(slot, n);
        return n > 0;
    }
    clear(slot);
    return false;
}

bool Slots::evict_one() {
    const int32_t slot = cache_.oldest();
    if (slot < 0) {
        return false;
    }
    cache_.erase(slot);
    clear(slot);
    free_.insert(slot);
    n_evicted_++;
    return true;
}

uint32_t Slots::free_cells() const {
    if (!context_.params().kv_unified) {
        return std::numeric_limits<uint32_t>::max();  // every slot has its own window
    }
    return context_.n_ctx() - std::min(context_.n_ctx(), ledger_.used());
}

uint32_t Slots::reachable_cells() const {
    if (!context_.params().kv_unified) {
        return std::numeric_limits<uint32_t>::max();
    }
    uint32_t n = free_cells();
    for (const auto & entry : cache_.entries()) {
        n += ledger_.exclusive(entry.slot);
    }
    return n;
}

// Sliding-window layers forget old cells: a prefix of `n` tokens is whole only while the window before
// position n is still there.
bool Slots::window_intact(int32_t slot, uint32_t n) const {
    if (n_swa_ == 0 || whole_only_) {
        return true;
    }
    return context_.seq_pos_min(slot) <= static_cast<llama_pos>(n > n_swa_ ? n - n_swa_ : 0);
}

int32_t Slots::take_free() {
    if (free_.empty()) {
        evict_one();
    }
    const int32_t slot = *free_.begin();
    free_.erase(free_.begin());
    return slot;
}

void Slots::copy_prefix(int32_t src, int32_t dst, uint32_t n) {
    if (context_.params().kv_unified && !whole_only_) {
        context_.seq_cp(src, dst, 0, static_cast<llama_pos>(n));
    } else {
        // Separate streams and recurrent states can only be copied whole.
        context_.seq_cp(src, dst, -1, -1);
    }
    ledger_.share_prefix(src, dst, n);
}

void Slots::clear(int32_t slot) {
    context_.seq_rm(slot, -1, -1);
    ledger_.truncate(slot, 0);
}

}  // namespace llamaint
