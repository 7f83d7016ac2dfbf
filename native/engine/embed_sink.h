#pragma once

#include "core/pooling.h"
#include "embed_handle.h"

#include <cstdint>

namespace llamaint {

// Where the rows of one text go: into its pooled vector, or one after the other when nothing is pooled.
class EmbedSink {
  public:
    EmbedSink(EmbedText text, Pooling pooling, uint32_t width)
        : text_(std::move(text)), pooling_(pooling), width_(width), pool_(pooling, width) {
        if (pooling_ == Pooling::none) {
            std::vector<float> & rows = text_.job->rows(text_.index);
            rows.clear();
            rows.reserve(text_.tokens().size() * width_);
        }
    }

    const EmbedText & text() const { return text_; }

    void add(const float * row) {
        if (pooling_ == Pooling::none) {
            std::vector<float> & rows = text_.job->rows(text_.index);
            rows.insert(rows.end(), row, row + width_);
        } else {
            pool_.add(row);
        }
    }

    // Throws Error(numeric) for NaN or infinity.
    void finish() const {
        if (pooling_ == Pooling::none) {
            const std::vector<float> & rows = text_.job->rows(text_.index);
            check_finite(rows.data(), rows.size());
        } else {
            pool_.finish(text_.job->pooled(text_.index));
        }
    }

  private:
    EmbedText text_;
    Pooling pooling_;
    uint32_t width_;
    RowPool pool_;
};

}  // namespace llamaint
