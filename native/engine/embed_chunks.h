#pragma once

#include "embed_worker.h"
#include "thread_governor.h"

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace llamaint {

// For causal models: several texts at once as sequences of one cache, each in as many chunks as it takes.
// The result does not depend on how a text was cut, up to the rounding of the kernels.
class ChunkWorker : public EmbedWorker {
  public:
    ChunkWorker(Setup setup, EmbedQueue & queue, EmbedMetrics & metrics);

    void run() override;

  private:
    // A text in the cache.
    struct Active {
        EmbedSink sink;
        llama_seq_id seq;
        uint32_t n_done = 0;

        uint32_t n_tokens() const { return static_cast<uint32_t>(sink.text().tokens().size()); }
        uint32_t n_left() const { return n_tokens() - n_done; }
    };
    // Consecutive rows of the batch that belong to one text.
    struct Span {
        Active * active;
        uint32_t n_rows;
    };

    ContextParams sized(uint32_t n_tokens) const override;

    // One turn: drop the cancelled, take new texts, evaluate a batch, finish what is complete.
    void drop_ended();
    void admit();
    void step();
    std::vector<Span> plan();
    void commit(const std::vector<Span> & spans);

    void start(EmbedText text);
    void release(const Active & active);
    void set_outputs(bool on);
    void isolate();
    void fail_all(const Error & error);

    ThreadGovernor governor_;
    std::vector<Active> active_;   // oldest first
    std::deque<EmbedText> alone_;  // to be evaluated one at a time: a decode that held them failed
    bool outputs_ = true;
};

}  // namespace llamaint
