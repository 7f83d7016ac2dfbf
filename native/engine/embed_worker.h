#pragma once

#include "abort_gate.h"
#include "core/context.h"
#include "core/pooling.h"
#include "embed_batch.h"
#include "embed_metrics.h"
#include "embed_queue.h"
#include "embed_sink.h"

#include <memory>
#include <string>
#include <vector>

namespace llamaint {

// One context and the thread that works with it. The two kinds differ in how texts become decodes:
// whole (WholeTextWorker) or in chunks over a cache (ChunkWorker).
class EmbedWorker {
  public:
    struct Setup {
        std::shared_ptr<const Model> model;
        ContextParams context;  // resolved
        Pooling pooling;
        uint32_t max_tokens;   // of one text
        uint32_t pack_tokens;  // of one decode that holds several texts
        uint32_t index;        // of the worker; 0 is served first
        int32_t n_threads;     // beside other workers
        bool adaptive_threads;
    };

    virtual ~EmbedWorker();

    EmbedWorker(const EmbedWorker &) = delete;
    EmbedWorker & operator=(const EmbedWorker &) = delete;

    // Until the queue is closed; every text taken from it has then a result or its job an error.
    virtual void run() = 0;

    // Any thread: a job was cancelled; the engine closes.
    void check_cancelled() { gate_.check(); }
    void close() { gate_.close(); }

    const ContextParams & context_params() const { return context_->params(); }

  protected:
    enum class Decoded { ok, no_room, aborted, failed };

    // Starts with a context for `first_tokens`.
    EmbedWorker(Setup setup, EmbedQueue & queue, EmbedMetrics & metrics);

    // The settings of a context that can hold `n_tokens` at once.
    virtual ContextParams sized(uint32_t n_tokens) const = 0;

    // Called once by the constructors of the two kinds.
    void open(uint32_t n_tokens);

    // Makes the context hold `n_tokens`; nothing of the old one survives. Throws Error(capacity) when
    // memory is short; the old context then stays.
    void grow(uint32_t n_tokens);
    uint32_t room() const { return room_; }

    // Evaluates batch_. May be given up early when all its jobs are cancelled, or the engine closes.
    Decoded decode(int32_t n_threads, const std::vector<const EmbedText *> & texts);
    // float32 [n_embd_out] of a row of the last decode. Throws Error(decode) if it was not evaluated.
    const float * row(int32_t index) const;

    Error failure(Decoded outcome, uint32_t n_tokens) const;
    // The text has all its rows.
    void finish(const EmbedSink & sink);

    const Setup setup_;
    const uint32_t width_;  // n_embd_out
    EmbedQueue & queue_;
    EmbedMetrics & metrics_;
    std::unique_ptr<Context> context_;
    std::unique_ptr<EmbedBatch> batch_;

  private:
    AbortGate gate_;
    uint32_t room_ = 0;
    bool encode_;         // encoder-decoder models: their encoder
    std::string reason_;  // of the last failed decode
};

}  // namespace llamaint
