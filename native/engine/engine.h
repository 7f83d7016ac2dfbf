#pragma once

#include "abort_gate.h"
#include "core/context.h"
#include "handle.h"
#include "loop.h"
#include "metrics.h"
#include "request.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace llamaint {

struct EngineParams {
    ContextParams context;
    uint32_t n_parallel = 4;
    int32_t n_cache_slots = -1;  // finished sequences kept for prefix reuse; -1 = n_parallel
    bool prefix_cache = true;
    bool adaptive_threads = true;
    bool deterministic = false;
    uint32_t max_queue = 1024;  // requests that wait to start
};

struct EngineInfo {
    uint32_t n_ctx_seq;  // window of one sequence
    uint32_t n_parallel;
    uint32_t n_slots;
    uint32_t max_rows;      // of one decode
    uint32_t exact_rows;    // deterministic only: found by the self-test; 0 otherwise
    ContextParams context;  // resolved
    MemoryKind memory_kind;
    int32_t max_threads;
};

// Serves many generation requests at once on its own thread, which never takes the GIL except inside a
// Python logits processor. Thread-safe. The destructor closes.
class Engine {
  public:
    // Throws what Context throws, and Error(config) for its own settings.
    Engine(std::shared_ptr<const Model> model, const EngineParams & params);
    ~Engine();

    // Throws Error(request | prompt_too_long | invalid_batch | capacity | closed).
    std::shared_ptr<Handle> submit(GenerationRequest request);

    std::vector<uint64_t> wait_ready(double timeout_s) { return notifier_->wait(timeout_s); }
    const EngineInfo & info() const { return info_; }
    const Metrics & metrics() const { return metrics_; }
    const std::shared_ptr<const Model> & model() const { return model_; }

    // Ends every request with Error(closed), stops a running decode and joins the thread. Idempotent.
    void close();
    bool closed() const;

  private:
    // Requests on their way to the engine thread; outlives the engine in cancel callbacks.
    struct Inbox {
        std::mutex mutex;
        std::condition_variable changed;
        std::vector<std::shared_ptr<Request>> requests;
        bool wake = false;
        bool closing = false;
    };

    void run(Loop::Options options, Slots::Options slot_options);

    std::shared_ptr<const Model> model_;
    EngineParams params_;
    EngineInfo info_{};
    std::unique_ptr<Context> context_;
    std::shared_ptr<AbortGate> gate_;
    std::shared_ptr<Inbox> inbox_;
    std::shared_ptr<Notifier> notifier_;
    Metrics metrics_;
    std::atomic<uint64_t> next_id_{ 1 };
    std::mutex join_mutex_;
    std::thread thread_;
};

}  // namespace llamaint
