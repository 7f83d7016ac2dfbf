#pragma once

#include "llama.h"

#include <cstdint>

namespace llamaint {

// A host batch of token rows with room for `capacity` of them. The caller keeps to the capacity.
class EmbedBatch {
  public:
    explicit EmbedBatch(int32_t capacity) : batch_(llama_batch_init(capacity, 0, 1)) {}
    ~EmbedBatch() { llama_batch_free(batch_); }

    EmbedBatch(const EmbedBatch &) = delete;
    EmbedBatch & operator=(const EmbedBatch &) = delete;

    void clear() { batch_.n_tokens = 0; }

    // Returns the row's number.
    int32_t add(llama_token token, llama_pos pos, llama_seq_id seq, bool output) {
        const int32_t row = batch_.n_tokens++;
        batch_.token[row] = token;
        batch_.pos[row] = pos;
        batch_.n_seq_id[row] = 1;
        batch_.seq_id[row][0] = seq;
        batch_.logits[row] = output;
        return row;
    }

    int32_t n_rows() const { return batch_.n_tokens; }
    const llama_batch & native() const { return batch_; }

  private:
    llama_batch batch_;
};

}  // namespace llamaint
