#include "embed_chunks.h"

#include "core/machine.h"
#include "embed_shares.h"

#include <algorithm>
#include <chrono>

namespace llamaint {

namespace {

// Cells of the first context; longer texts make it grow.
constexpr uint32_t first_cells = 2048;

// Texts in the cache at once. Attention cells are shared, a recurrent state has its full price.
constexpr uint32_t max_attention_texts = 32;
constexpr uint32_t max_recurrent_texts = 8;

// Pooling "last": up to this many rows it costs less to run the head over all of them than to read the
// weights a second time for the last ones.
constexpr uint64_t max_unsplit_rows = 32;

uint32_t max_texts(const Model & model) {
    const bool recurrent = llama_model_is_recurrent(model.handle()) || llama_model_is_hybrid(model.handle());
    return recurrent ? max_recurrent_texts : max_attention_texts;
}

}  // namespace

ChunkWorker::ChunkWorker(Setup setup, EmbedQueue & queue, EmbedMetrics & metrics)
    : EmbedWorker(std::move(setup), queue, metrics),
      governor_(setup_.context.n_threads, setup_.adaptive_threads, runnable_threads) {
    open(std::min(std::max(first_cells, setup_.pack_tokens), std::max(setup_.max_tokens, setup_.pack_tokens)));
}

ContextParams ChunkWorker::sized(uint32_t n_tokens) const {
    ContextParams context = setup_.context;
    context.n_ctx = n_tokens;
    context.n_batch = setup_.pack_tokens;
    context.n_ubatch = std::min(context.n_ubatch, context.n_batch);
    context.n_seq_max = std::min(max_texts(*setup_.model), context.n_batch);
    return context;
}

void ChunkWorker::run() {
    for (;;) {
        try {
            drop_ended();
            admit();
            if (queue_.closed()) {
                fail_all(Error(ErrorCode::closed, "the engine was closed"));
                return;
            }
            step();
        } catch (const Error & error) {
            fail_all(error);
        } catch (const std::exception & exception) {
            fail_all(Error(ErrorCode::engine, exception.what()));
        }
    }
}

void ChunkWorker::drop_ended() {
    const auto ended = [this](const Active & active) {
        if (!active.sink.text().job->ended()) {
            return false;
        }
        release(active);
        return true;
    };
    active_.erase(std::remove_if(active_.begin(), active_.end(), ended), active_.end());
}

void ChunkWorker::admit() {
    if (!alone_.empty()) {
        if (active_.empty()) {
            const EmbedText text = std::move(alone_.front());
            alone_.pop_front();
            start(text);
        }
        return;
    }
    uint64_t n_cells = 0;
    uint64_t n_left = 0;
    for (const Active & active : active_) {
        n_cells += active.n_tokens();
        // A long text leaves most of a decode to those that come after it.
        n_left += std::min(active.n_left(), setup_.pack_tokens / 4);
    }
    EmbedQueue::Request request;
    request.wait = active_.empty();
    request.room = active_.empty() ? setup_.max_tokens : room() - std::min<uint64_t>(room(), n_cells);
    request.want = setup_.pack_tokens - std::min<uint64_t>(setup_.pack_tokens, n_left);
    request.share = request.want;
    request.n_texts = context_->n_seq_max() - active_.size();
    if (!request.wait && (request.want == 0 || request.n_texts == 0)) {
        return;
    }
    EmbedQueue::Pack pack = queue_.take(request);
    if (pack.texts.empty()) {
        return;
    }
    queue_.done();
    if (active_.empty()) {
        uint64_t n_tokens = 0;
        for (const EmbedText & text : pack.texts) {
            n_tokens += text.tokens().size();
        }
        try {
            grow(static_cast<uint32_t>(n_tokens));
        } catch (const Error & error) {
            for (const EmbedText & text : pack.texts) {
                text.job->fail(error);
            }
            return;
        }
    }
    for (EmbedText & text : pack.texts) {
        start(std::move(text));
    }
}

void ChunkWorker::start(EmbedText text) {
    llama_seq_id seq = 0;
    const auto used = [&](const Active & active) { return active.seq == seq; };
    while (std::any_of(active_.begin(), active_.end(), used)) {
        seq++;
    }
    active_.push_back({ EmbedSink(std::move(text), setup_.pooling, width_), seq });
}

// With pooling "last" only one row of each text is needed. The others are evaluated without outputs, which
// saves the model's head for them; then the last tokens of several texts follow in one decode.
std::vector<ChunkWorker::Span> ChunkWorker::plan() {
    uint64_t n_left = 0;
    bool ready = false;  // a text lacks nothing but its last token
    for (const Active & active : active_) {
        n_left += active.n_left();
        ready = ready || active.n_left() == 1;
    }
    const bool split = setup_.pooling == Pooling::last && n_left > max_unsplit_rows;
    set_outputs(!split || ready);

    std::vector<uint32_t> wanted;
    for (const Active & active : active_) {
        const bool waits = split && ready && active.n_left() > 1;
        const uint32_t n_before = split && !ready ? active.n_left() - 1 : active.n_left();
        wanted.push_back(waits ? 0 : n_before);
    }
    const std::vector<uint32_t> granted = fair_shares(wanted, setup_.pack_tokens);

    std::vector<Span> spans;
    batch_->clear();
    for (size_t i = 0; i < active_.size(); i++) {
        Active & active = active_[i];
        for (uint32_t pos = active.n_done; pos < active.n_done + granted[i]; pos++) {
            batch_->add(active.sink.text().tokens()[pos], static_cast<llama_pos>(pos), active.seq, outputs_);
        }
        if (granted[i] > 0) {
            spans.push_back({ &active, granted[i] });
        }
    }
    return spans;
}

void ChunkWorker::step() {
    if (active_.empty()) {
        return;
    }
    const std::vector<Span> spans = plan();
    std::vector<const EmbedText *> texts;
    for (const Span & span : spans) {
        texts.push_back(&span.active->sink.text());
    }
    const auto start = std::chrono::steady_clock::now();
    const Decoded outcome = decode(governor_.threads(), texts);
    if (outcome == Decoded::ok) {
        const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
        governor_.observe(static_cast<uint32_t>(batch_->n_rows()), elapsed.count());
        commit(spans);
    } else if (outcome != Decoded::aborted && active_.size() > 1) {
        isolate();
    } else {
        // An aborted decode held nothing but texts of cancelled jobs, or the engine closes.
        for (const Span & span : spans) {
            span.active->sink.text().job->fail(failure(outcome, span.active->n_tokens()));
        }
        if (outcome != Decoded::aborted) {
            context_->clear();
        }
    }
}

void ChunkWorker::commit(const std::vector<Span> & spans) {
    int32_t next_row = 0;
    for (const Span & span : spans) {
        Active & active = *span.active;
        for (uint32_t i = 0; outputs_ && i < span.n_rows; i++) {
            active.sink.add(row(next_row++));
        }
        active.n_done += span.n_rows;
    }
    const auto complete = [this](const Active & active) {
        if (active.n_left() > 0) {
            return false;
        }
        finish(active.sink);
        release(active);
        return true;
    };
    active_.erase(std::remove_if(active_.begin(), active_.end(), complete), active_.end());
}

void ChunkWorker::release(const Active & active) {
    context_->seq_rm(active.seq, -1, -1);
}

void ChunkWorker::set_outputs(bool on) {
    outputs_ = on;
    llama_set_embeddings(context_->handle(), on);
}

// One of the texts is at fault, or they were too many: each starts again, by itself.
void ChunkWorker::isolate() {
    for (const Active & active : active_) {
        alone_.push_back(active.sink.text());
    }
    active_.clear();
    context_->clear();
}

void ChunkWorker::fail_all(const Error & error) {
    for (const Active & active : active_) {
        active.sink.text().job->fail(error);
    }
    for (const EmbedText & text : alone_) {
        text.job->fail(error);
    }
    active_.clear();
    alone_.clear();
    context_->clear();
}

}  // namespace llamaint
