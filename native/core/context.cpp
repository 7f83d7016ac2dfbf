#include "context.h"

#include "abort_guard.h"
#include "context_options.h"
#include "error.h"
#include "log.h"
#include "threadpool.h"

#include <algorithm>

namespace llamaint {

namespace {

// Larger models skip the trial: it runs on one thread, and their files rarely come from nowhere.
constexpr uint64_t max_trial_bytes = 8ull << 30;

bool abort_requested(void * flag) {
    return static_cast<std::atomic<bool> *>(flag)->load(std::memory_order_relaxed);
}

Error construction_error(const std::string & reason, bool aborted) {
    const auto has = [&](const char * part) { return reason.find(part) != std::string::npos; };
    if (has("failed to allocate") || has("failed to create ggml context") || has("out of memory")) {
        return Error(ErrorCode::capacity, "not enough memory for this context: " + reason);
    }
    // A file whose tensors do not fit its metadata shows itself when the graph is built.
    return Error(aborted ? ErrorCode::model_load : ErrorCode::config,
                 "no context can be made for this model: " + (reason.empty() ? "no reason given" : reason));
}

// Decodes one token, so that what ggml asserts only when it computes (a damaged file's numbers) shows
// here, where it can be caught: one thread, no workers, a context that is thrown away. It also warms up.
void trial_decode(const Model & model, llama_context * ctx) {
    const bool two_steps = llama_model_has_encoder(model.handle()) && llama_model_has_decoder(model.handle());
    if (two_steps || model.n_vocab() == 0 || llama_model_size(model.handle()) > max_trial_bytes) {
        return;
    }
    llama_set_n_threads(ctx, 1, 1);
    llama_token token = 0;
    const int32_t status = llama_decode(ctx, llama_batch_get_one(&token, 1));
    llama_synchronize(ctx);
    if (status != 0) {
        throw AbortError("the trial decode ended with status " + std::to_string(status));
    }
    if (const llama_memory_t memory = llama_get_memory(ctx)) {
        // A masked cell weighs nothing, whatever it holds; a recurrent state would be gone on with.
        const bool has_state = llama_model_is_recurrent(model.handle()) || llama_model_is_hybrid(model.handle());
        llama_memory_clear(memory, /*data=*/has_state);
    }
    llama_perf_context_reset(ctx);
}

}  // namespace

Context::Context(std::shared_ptr<const Model> model, const ContextParams & params)
    : model_(std::move(model)), params_(resolve(*model_, params)) {
    llama_context_params native = native_params(params_);
    native.abort_callback = abort_requested;
    native.abort_callback_data = &abort_;

    log::Capture capture;
    std::string failure;
    bool aborted = false;
    {
        AbortGuard guard;
        try {
            ctx_ = llama_init_from_model(model_->handle(), native);
            if (ctx_) {
                trial_decode(*model_, ctx_);
                llama_set_n_threads(ctx_, params_.n_threads, params_.n_threads_batch);
            }
            max_threads_ = std::max(params_.n_threads, params_.n_threads_batch);
            threadpool_ = ctx_ ? make_threadpool(max_threads_) : nullptr;
        } catch (const std::bad_alloc &) {
            failure = "out of memory";
        } catch (const AbortError & e) {
            failure = e.what();
            aborted = true;
        } catch (const std::exception & e) {
            failure = e.what();
        }
    }
    if (!ctx_ || !failure.empty()) {
        llama_free(ctx_);
        const std::string reason = failure.empty() ? capture.reason() : failure;
        throw construction_error(reason, aborted || reason.find("GGML_ASSERT") != std::string::npos);
    }
    if (threadpool_) {
        llama_attach_threadpool(ctx_, threadpool_, threadpool_);
    }
    params_.n_ctx = llama_n_ctx(ctx_);
    n_ctx_seq_ = std::min(llama_n_ctx_seq(ctx_), n_positions(*model_));
    params_.n_batch = llama_n_batch(ctx_);
    params_.n_ubatch = llama_n_ubatch(ctx_);
    if (!llama_get_memory(ctx_)) {
        kind_ = MemoryKind::none;
    } else if (llama_model_is_recurrent(model_->handle()) || llama_model_is_hybrid(model_->handle())) {
        kind_ = MemoryKind::full_only;
    } else {
        kind_ = MemoryKind::partial;
    }
}

Context::~Context() {
    llama_detach_threadpool(ctx_);
    llama_free(ctx_);
    free_threadpool(threadpool_);
}

bool Context::can_shift() const {
    const llama_memory_t memory = llama_get_memory(ctx_);
    return memory && llama_memory_can_shift(memory);
}

void Context::check_seq(llama_seq_id seq) const {
    const auto n = static_cast<llama_seq_id>(n_seq_max());
    if (seq < 0 || seq >= n) {
        throw Error(ErrorCode::invalid_batch,
                    "sequence " + std::to_string(seq) + " is outside [0, " + std::to_string(n) + ")",
                    { { "seq", double(seq) }, { "n_seq_max", double(n) } });
    }
}

bool Context::seq_rm(llama_seq_id seq, llama_pos p0, llama_pos p1) {
    check_seq(seq);
    const llama_memory_t memory = llama_get_memory(ctx_);
    return !memory || llama_memory_seq_rm(memory, seq, p0, p1);
}

void Context::seq_cp(llama_seq_id src, llama_seq_id dst, llama_pos p0, llama_pos p1) {
    check_seq(src);
    check_seq(dst);
    // Streams of a non-unified cache are copied whole; llama.cpp aborts on a part of one.
    if (!params_.kv_unified && src != dst && (p0 > 0 || (p1 >= 0 && p1 <= seq_pos_max(src)))) {
        throw Error(ErrorCode::invalid_batch, "without kv_unified only whole sequences can be copied",
                    { { "p0", double(p0) }, { "p1", double(p1) } });
    }
    if (const llama_memory_t memory = llama_get_memory(ctx_)) {
        llama_memory_seq_cp(memory, src, dst, p0, p1);
    }
}

llama_pos Context::seq_pos_min(llama_seq_id seq) const {
    check_seq(seq);
    const llama_memory_t memory = llama_get_memory(ctx_);
    return memory ? llama_memory_seq_pos_min(memory, seq) : -1;
}

llama_pos Context::seq_pos_max(llama_seq_id seq) const {
    check_seq(seq);
    const llama_memory_t memory = llama_get_memory(ctx_);
    return memory ? llama_memory_seq_pos_max(memory, seq) : -1;
}

void Context::clear() {
    if (const llama_memory_t memory = llama_get_memory(ctx_)) {
        llama_memory_clear(memory, /*data=*/true);
    }
}

void Context::set_n_threads(int32_t n_threads, int32_t n_threads_batch) {
    llama_set_n_threads(ctx_, std::clamp(n_threads, 1, max_threads_), std::clamp(n_threads_batch, 1, max_threads_));
}

}  // namespace llamaint
