#include "kv_ledger.h"

#include <algorithm>

namespace llamaint {

uint32_t KvLedger::Block::held() const {
    return held_without(-1);
}

uint32_t KvLedger::Block::held_without(int32_t seq) const {
    uint32_t most = 0;
    for (const auto & [owner, n] : owners) {
        if (owner != seq) {
            most = std::max(most, n);
        }
    }
    return most;
}

void KvLedger::set_hold(Block & block, int32_t seq, uint32_t n) {
    const uint32_t before = block.held();
    if (n == 0) {
        block.owners.erase(seq);
    } else {
        block.owners[seq] = n;
    }
    used_ = used_ - before + block.held();
}

void KvLedger::append(int32_t seq, uint32_t n) {
    if (n == 0) {
        return;
    }
    Blocks & blocks = sequences_[seq];
    // A block that only this sequence owns can simply grow.
    if (blocks.empty() || blocks.back()->owners.size() > 1) {
        blocks.push_back(std::make_shared<Block>());
    }
    Block & last = *blocks.back();
    const auto it = last.owners.find(seq);
    set_hold(last, seq, (it == last.owners.end() ? 0 : it->second) + n);
}

void KvLedger::share_prefix(int32_t src, int32_t dst, uint32_t n) {
    truncate(dst, 0);
    const auto source = sequences_.find(src);
    if (source == sequences_.end()) {
        return;
    }
    Blocks shared;
    for (const auto & block : source->second) {
        if (n == 0) {
            break;
        }
        const uint32_t take = std::min(n, block->owners.at(src));
        set_hold(*block, dst, take);
        shared.push_back(block);
        n -= take;
    }
    sequences_[dst] = std::move(shared);
}

void KvLedger::truncate(int32_t seq, uint32_t n) {
    const auto it = sequences_.find(seq);
    if (it == sequences_.end()) {
        return;
    }
    Blocks kept;
    for (const auto & block : it->second) {
        const uint32_t keep = std::min(n, block->owners.at(seq));
        set_hold(*block, seq, keep);
        n -= keep;
        if (keep > 0) {
            kept.push_back(block);
        }
    }
    if (kept.empty()) {
        sequences_.erase(it);
    } else {
        it->second = std::move(kept);
    }
}

void KvLedger::clear() {
    sequences_.clear();
    used_ = 0;
}

uint32_t KvLedger::length(int32_t seq) const {
    const auto it = sequences_.find(seq);
    uint32_t n = 0;
    if (it != sequences_.end()) {
        for (const auto & block : it->second) {
            n += block->owners.at(seq);
        }
    }
    return n;
}

uint32_t KvLedger::exclusive(int32_t seq) const {
    const auto it = sequences_.find(seq);
    uint32_t n = 0;
    if (it != sequences_.end()) {
        for (const auto & block : it->second) {
            n += block->held() - block->held_without(seq);
        }
    }
    return n;
}

}  // namespace llamaint
