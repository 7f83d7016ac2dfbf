#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace llamaint {

// Counts the cells of a unified KV cache. llama.cpp does not tell how many are used, and sequences
// share cells after a prefix copy, so each sequence is kept as runs of cells with shared ownership.
// Pure arithmetic: it never touches the cache itself.
class KvLedger {
  public:
    // Adds `n` new cells behind the last position of `seq`.
    void append(int32_t seq, uint32_t n);

    // `dst` (empty) shares the first `n` cells of `src`; 0 <= n <= length(src).
    void share_prefix(int32_t src, int32_t dst, uint32_t n);

    // Keeps the first `n` cells of `seq`; 0 releases them all.
    void truncate(int32_t seq, uint32_t n);

    void clear();

    uint32_t length(int32_t seq) const;
    // Distinct cells in use.
    uint32_t used() const { return used_; }
    // Cells that releasing `seq` would free: those no other sequence shares.
    uint32_t exclusive(int32_t seq) const;

  private:
    // A block of cells allocated together. Cells beyond the longest remaining owner are free.
    struct Block {
        std::map<int32_t, uint32_t> owners;  // sequence -> how many cells of the front it holds
        uint32_t held() const;
        uint32_t held_without(int32_t seq) const;
    };
    using Blocks = std::vector<std::shared_ptr<Block>>;

    void set_hold(Block & block, int32_t seq, uint32_t n);

    std::map<int32_t, Blocks> sequences_;
    uint32_t used_ = 0;
};

}  // namespace llamaint
