#include "engine.h"

#include "core/limits.h"
#include "exact_rows.h"

#include <algorithm>

namespace llamaint {

namespace {

// Rows of one decode in deterministic mode: more gain nothing, and the self-test stays short.
constexpr uint32_t max_exact_rows = 64;

void refuse(const std::string & message, const char * name, double value) {
    throw Error(ErrorCode::config, message, { { name, value } });
}

uint32_t cache_slots(const EngineParams & params) {
    return params.n_cache_slots < 0 ? params.n_parallel : static_cast<uint32_t>(params.n_cache_slots);
}

// Bit-equal answers need attention whose result depends on the sequence alone. A stream of cells per
// sequence keeps them in order of position. ggml's CPU kernel splits a lone row among the threads, and
// tiles 64 rows or more, only while K and V are both F16 (llama.cpp casts F32 to it): V in BF16, which
// is as large and is summed up in F32, keeps it on the path that works row by row (docs/determinism.md).
void make_deterministic(ContextParams & context, uint32_t n_slots) {
    const auto wide = [](const std::string & type) { return type == "f16" || type == "f32"; };
    if (wide(context.type_k) && wide(context.type_v)) {
        context.type_v = "bf16";
    }
    if (context.flash_attn == "auto") {
        context.flash_attn = "on";
    }
    context.kv_unified = n_slots == 1;
}

}  // namespace

Engine::Engine(std::shared_ptr<const Model> model, const EngineParams & params)
    : model_(std::move(model)), params_(params), inbox_(std::make_shared<Inbox>()),
      notifier_(std::make_shared<Notifier>()) {
    if (params.n_parallel < 1 || params.n_parallel > limits::max_sequences) {
        refuse("n_parallel is " + std::to_string(params.n_parallel) + "; it must be 1 to " +
                   std::to_string(limits::max_sequences),
               "n_parallel", params.n_parallel);
    }
    if (params.n_cache_slots < -1 || params.n_cache_slots > static_cast<int32_t>(limits::max_sequences)) {
        refuse("n_cache_slots is " + std::to_string(params.n_cache_slots) +
                   "; it must be -1 (as many as n_parallel) to " + std::to_string(limits::max_sequences),
               "n_cache_slots", params.n_cache_slots);
    }
    if (model_->vocab_only()) {
        throw Error(ErrorCode::unsupported, "the model was loaded with vocab_only: it cannot generate");
    }
    if (!llama_model_has_decoder(model_->handle()) || llama_model_has_encoder(model_->handle())) {
        throw Error(ErrorCode::unsupported,
                    "the model (" + model_->arch() + ") is not a decoder: it cannot generate text");
    }
    const bool recurrent = llama_model_is_recurrent(model_->handle()) || llama_model_is_hybrid(model_->handle());
    ContextParams context = params.context;
    // Sequences beyond n_parallel cost nothing while attention cells are shared; a recurrent state, or a
    // stream of its own, has its full price.
    const bool cheap = !recurrent && !params.deterministic && context.kv_unified && params.prefix_cache;
    const uint32_t n_slots =
        std::min<uint32_t>(limits::max_sequences, params.n_parallel + (cheap ? cache_slots(params) : 0));
    context.n_seq_max = n_slots;
    context.embeddings = false;
    context.pooling = "none";
    if (params.deterministic) {
        make_deterministic(context, n_slots);
    }
    if (!context.kv_unified) {
        // 0 stays the model's window, shared. What does not fit is refused with the context's other checks.
        context.n_ctx = static_cast<uint32_t>(std::min<uint64_t>(uint64_t(context.n_ctx) * n_slots, UINT32_MAX));
    }
    context.n_batch = std::max({ context.n_batch, n_slots, 2u });
    context.n_ubatch = std::max(context.n_ubatch, 2u);

    context_ = std::make_unique<Context>(model_, context);
    gate_ = std::make_shared<AbortGate>(*context_);

    Loop::Options options{};
    options.n_parallel = params.n_parallel;
    options.max_rows = std::min(context_->n_batch(), std::max(context_->n_ubatch(), n_slots));
    options.adaptive_threads = params.adaptive_threads;
    options.no_perf = context.no_perf;
    if (params.deterministic) {
        info_.exact_rows = find_exact_rows(*context_, std::max(max_exact_rows, params.n_parallel));
        options.max_rows = info_.exact_rows;
        // One row at a time takes kernels whose sums may depend on the number of threads.
        options.adaptive_threads = params.adaptive_threads && info_.exact_rows > 1;
    }
    options.prefill_rows = std::max<uint32_t>(1, std::min<uint32_t>(options.max_rows, 128));

    info_.n_ctx_seq = context_->n_ctx_seq();
    info_.n_parallel = params.n_parallel;
    info_.n_slots = n_slots;
    info_.max_rows = options.max_rows;
    info_.context = context_->params();
    info_.memory_kind = context_->memory_kind();
    info_.max_threads = context_->max_threads();

    Slots::Options slot_options{};
    slot_options.n_cache_slots = cache_slots(params);
    slot_options.prefix_cache = params.prefix_cache;
    thread_ = std::thread([this, options, slot_options] { run(options, slot_options); });
}

Engine::~Engine() {
    close();
    gate_->detach();
}

std::shared_ptr<Handle> Engine::submit(GenerationRequest spec) {
    check_request(spec, *model_, info_.n_ctx_seq);
    auto request = std::make_shared<Request>();
    request->handle = std::make_shared<Handle>(next_id_++, spec.n, spec.stream, notifier_);
    request->submitted = Clock::now();
    if (spec.deadline_s > 0.0) {
        // A year stands for "never": larger values would overflow the clock.
        const double seconds = std::min(spec.deadline_s, 3.0e7);
        request->deadline =
            request->submitted + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    }
    request->spec = std::move(spec);
    request->handle->on_cancel([inbox = std::weak_ptr<Inbox>(inbox_), gate = std::weak_ptr<AbortGate>(gate_)] {
        if (const auto open_gate = gate.lock()) {
            open_gate->check();
        }
        if (const auto open_inbox = inbox.lock()) {
            {
                std::lock_guard<std::mutex> lock(open_inbox->mutex);
                open_inbox->wake = true;
            }
            open_inbox->changed.notify_one();
        }
    });
    {
        std::lock_guard<std::mutex> lock(inbox_->mutex);
        if (inbox_->closing) {
            throw Error(ErrorCode::closed, "the engine is closed");
        }
        const size_t n_waiting = inbox_->requests.size() + metrics_.waiting;
        if (n_waiting >= params_.max_queue) {
            throw Error(ErrorCode::capacity,
                        std::to_string(n_waiting) + " requests are waiting already; max_queue is " +
                            std::to_string(params_.max_queue),
                        { { "n_waiting", static_cast<double>(n_waiting) },
                          { "max_queue", static_cast<double>(params_.max_queue) } });
        }
        inbox_->requests.push_back(request);
    }
    inbox_->changed.notify_one();
    return request->handle;
}

void Engine::run(Loop::Options options, Slots::Options slot_options) {
    Loop loop(*context_, options, slot_options, *gate_, metrics_);
    bool busy = false;
    auto last_busy = Clock::time_point{};
    for (;;) {
        std::vector<std::shared_ptr<Request>> requests;
        {
            std::unique_lock<std::mutex> lock(inbox_->mutex);
            if (!busy) {
                inbox_->changed.wait(lock,
                                     [&] { return inbox_->wake || inbox_->closing || !inbox_->requests.empty(); });
            }
            inbox_->wake = false;
            requests.swap(inbox_->requests);
            if (inbox_->closing) {
                lock.unlock();
                for (auto & request : requests) {
                    loop.add(std::move(request));
                }
                loop.fail_all(Error(ErrorCode::closed, "the engine was closed"));
                return;
            }
        }
        if (const auto now = Clock::now(); !requests.empty() && now - last_busy > std::chrono::milliseconds(500)) {
            loop.wake();
        }
        try {
            for (auto & request : requests) {
                loop.add(std::move(request));
            }
            busy = loop.step();
        } catch (const std::exception & exception) {
            // Out of memory while planning, say. The handles must end whatever happened.
            loop.fail_all(Error(ErrorCode::engine, exception.what()));
            busy = true;
        }
        last_busy = Clock::now();
    }
}

void Engine::close() {
    {
        std::lock_guard<std::mutex> lock(inbox_->mutex);
        inbox_->closing = true;
    }
    gate_->close();
    inbox_->changed.notify_all();
    std::lock_guard<std::mutex> lock(join_mutex_);
    // A logits processor that closes its own engine cannot wait for itself: the destructor joins.
    if (thread_.joinable() && thread_.get_id() != std::this_thread::get_id()) {
        thread_.join();
        notifier_->close();
    }
}

bool Engine::closed() const {
    std::lock_guard<std::mutex> lock(inbox_->mutex);
    return inbox_->closing;
}

}  // namespace llamaint
