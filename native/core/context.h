#pragma once

#include "llama.h"
#include "machine.h"
#include "model.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace llamaint {

struct ContextParams {
    uint32_t n_ctx = 0;  // cells for all sequences together; 0 = the model's, capped by memory
    uint32_t n_batch = 2048;
    uint32_t n_ubatch = 512;
    uint32_t n_seq_max = 1;
    int32_t n_threads = 0;            // 0 = one per physical core this process may use
    int32_t n_threads_batch = 0;      // 0 = n_threads
    std::string pooling = "none";     // none | mean | cls | last | rank | auto (the model's)
    std::string attention = "auto";   // auto | causal | non_causal
    std::string flash_attn = "auto";  // auto | on | off
    std::string type_k = "f16";       // f32 f16 bf16 q8_0 q4_0 q4_1 iq4_nl q5_0 q5_1
    std::string type_v = "f16";
    std::string rope_scaling = "auto";  // auto | none | linear | yarn | longrope
    float rope_freq_base = 0.0f;        // 0 = the model's
    float rope_freq_scale = 0.0f;
    float yarn_ext_factor = -1.0f;
    float yarn_attn_factor = -1.0f;
    float yarn_beta_fast = -1.0f;
    float yarn_beta_slow = -1.0f;
    uint32_t yarn_orig_ctx = 0;
    bool embeddings = false;
    bool offload_kqv = true;
    bool op_offload = true;
    bool swa_full = false;
    bool kv_unified = true;
    bool no_perf = false;
};

// What a sequence's memory can undo (llama.cpp's kinds, facts in docs/dev/memory.md).
enum class MemoryKind {
    none,       // no memory: encoder-only models
    partial,    // attention: any suffix can be removed
    full_only,  // recurrent and hybrid: only the whole sequence
};

// One llama_context with checks in front of every call that could abort. One thread at a time.
class Context {
  public:
    // Throws Error(config) for sizes llama.cpp would abort on, Error(capacity) when memory is short.
    Context(std::shared_ptr<const Model> model, const ContextParams & params);
    ~Context();

    Context(const Context &) = delete;
    Context & operator=(const Context &) = delete;

    llama_context * handle() const { return ctx_; }
    const std::shared_ptr<const Model> & model() const { return model_; }
    const ContextParams & params() const { return params_; }  // resolved: no zeros left

    uint32_t n_ctx() const { return llama_n_ctx(ctx_); }
    uint32_t n_ctx_seq() const { return n_ctx_seq_; }  // positions one sequence may use
    uint32_t n_batch() const { return llama_n_batch(ctx_); }
    uint32_t n_ubatch() const { return llama_n_ubatch(ctx_); }
    uint32_t n_seq_max() const { return llama_n_seq_max(ctx_); }
    MemoryKind memory_kind() const { return kind_; }
    bool can_shift() const;

    // Memory operations; a sequence id outside [0, n_seq_max) throws Error(invalid_batch).
    bool seq_rm(llama_seq_id seq, llama_pos p0, llama_pos p1);  // false: refused, nothing changed
    void seq_cp(llama_seq_id src, llama_seq_id dst, llama_pos p0, llama_pos p1);
    llama_pos seq_pos_min(llama_seq_id seq) const;
    llama_pos seq_pos_max(llama_seq_id seq) const;
    void clear();

    // Threads for the next decode, at most those of the pool made at construction.
    void set_n_threads(int32_t n_threads, int32_t n_threads_batch);
    int32_t max_threads() const { return max_threads_; }

    // While set, a running decode on the CPU returns early with 2 (llama_set_abort_callback).
    void request_abort(bool on) { abort_.store(on, std::memory_order_relaxed); }

  private:
    void check_seq(llama_seq_id seq) const;

    std::shared_ptr<const Model> model_;
    ContextParams params_;
    llama_context * ctx_ = nullptr;
    ggml_threadpool_t threadpool_ = nullptr;
    MemoryKind kind_ = MemoryKind::none;
    uint32_t n_ctx_seq_ = 0;
    int32_t max_threads_ = 1;
    std::atomic<bool> abort_{ false };
};

}  // namespace llamaint
