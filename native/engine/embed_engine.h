#pragma once

#include "core/context.h"
#include "core/pooling.h"
#include "embed_handle.h"
#include "embed_metrics.h"
#include "embed_queue.h"
#include "embed_worker.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace llamaint {

struct EmbedParams {
    ContextParams context;
    std::string pooling = "auto";  // auto | none | mean | cls | last
    uint32_t pack_tokens = 0;      // tokens of one decode that holds several texts; 0 = measured default
    uint32_t n_workers = 0;        // contexts that work at the same time; 0 = measured default
};

struct EmbedInfo {
    uint32_t n_embd_out;
    Pooling pooling;
    uint32_t max_tokens;  // of one text
    uint32_t pack_tokens;
    uint32_t n_workers;
    int32_t n_threads;  // of all workers together
    bool causal;
    std::string flash_attn;
};

// Embeds the texts of many jobs at once on threads that never take the GIL. Thread-safe; the destructor closes.
class EmbedEngine {
  public:
    // Throws what Context throws, and Error(config | unsupported) for its own settings.
    EmbedEngine(std::shared_ptr<const Model> model, const EmbedParams & params);
    ~EmbedEngine();

    // Texts as tokens; one without tokens gets a vector of zeros. Throws Error(prompt_too_long) with the
    // numbers index, n_prompt and n_ctx, Error(invalid_batch), Error(closed).
    std::shared_ptr<EmbedHandle> submit(std::vector<Tokens> texts);

    std::vector<uint64_t> wait_ready(double timeout_s) { return notifier_->wait(timeout_s); }
    const EmbedInfo & info() const { return info_; }
    const EmbedMetrics & metrics() const { return metrics_; }
    uint64_t waiting_tokens() const { return queue_.waiting_tokens(); }

    // Ends every job with Error(closed), stops running decodes and joins the threads. Idempotent.
    void close();
    bool closed() const { return queue_.closed(); }

  private:
    using Workers = std::vector<std::unique_ptr<EmbedWorker>>;

    std::shared_ptr<const Model> model_;
    EmbedInfo info_{};
    EmbedMetrics metrics_;
    EmbedQueue queue_;
    std::shared_ptr<Workers> workers_;  // cancel callbacks hold it weakly
    std::shared_ptr<Notifier> notifier_;
    std::atomic<uint64_t> next_id_{ 1 };
    std::mutex join_mutex_;
    std::vector<std::thread> threads_;
};

}  // namespace llamaint
