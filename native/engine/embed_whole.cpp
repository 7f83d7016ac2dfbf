#include "embed_whole.h"

#include "core/machine.h"

#include <algorithm>
#include <chrono>

namespace llamaint {

namespace {

// Texts of one decode. Each takes at least one token of the pack, and most take ten or more.
constexpr uint32_t max_texts = 64;

// Splitting less than this between workers costs more in kernels than it gains in cores.
constexpr uint32_t min_share = 64;

// What evaluating n tokens at once takes beside the weights: the attention mask (float and half) and the
// output rows, which llama.cpp makes as wide as the vocabulary too.
double bytes_at_once(double n_tokens, double n_vocab) {
    return n_tokens * n_tokens * 6.0 + n_tokens * n_vocab * 4.0;
}

}  // namespace

WholeTextWorker::WholeTextWorker(Setup setup, EmbedQueue & queue, EmbedMetrics & metrics)
    : EmbedWorker(std::move(setup), queue, metrics),
      // The first worker alone has threads to spare: it is the one that is served when nothing else runs.
      governor_(setup_.index == 0 ? setup_.context.n_threads : 1, setup_.adaptive_threads, runnable_threads) {
    open(std::max(setup_.pack_tokens, std::min(setup_.max_tokens, setup_.context.n_ubatch)));
}

ContextParams WholeTextWorker::sized(uint32_t n_tokens) const {
    ContextParams context = setup_.context;
    context.n_ctx = n_tokens;
    context.n_batch = n_tokens;
    context.n_ubatch = n_tokens;
    context.n_seq_max = std::min(max_texts, n_tokens);
    context.n_threads = setup_.index == 0 ? context.n_threads : setup_.n_threads;
    context.n_threads_batch = context.n_threads;
    return context;
}

void WholeTextWorker::run() {
    for (;;) {
        const EmbedQueue::Pack pack = queue_.take({ setup_.index, /*wait=*/true, /*room=*/setup_.max_tokens,
                                                    setup_.pack_tokens, min_share, context_->n_seq_max() });
        if (pack.texts.empty()) {
            return;
        }
        embed(pack.texts, pack.alone);
        queue_.done();
    }
}

void WholeTextWorker::embed(const std::vector<EmbedText> & texts, bool alone) {
    try {
        const Decoded outcome = evaluate(texts, alone);
        if (outcome == Decoded::ok) {
            pool(texts);
        } else if (outcome != Decoded::aborted && texts.size() > 1) {
            // One of them is at fault; the others must not share its error.
            for (const EmbedText & text : texts) {
                embed({ text }, alone);
            }
        } else {
            for (const EmbedText & text : texts) {
                text.job->fail(failure(outcome, static_cast<uint32_t>(text.tokens().size())));
            }
        }
    } catch (const Error & error) {
        for (const EmbedText & text : texts) {
            text.job->fail(error);
        }
    } catch (const std::exception & exception) {
        for (const EmbedText & text : texts) {
            text.job->fail(Error(ErrorCode::engine, exception.what()));
        }
    }
}

EmbedWorker::Decoded WholeTextWorker::evaluate(const std::vector<EmbedText> & texts, bool alone) {
    uint32_t n_tokens = 0;
    for (const EmbedText & text : texts) {
        n_tokens += static_cast<uint32_t>(text.tokens().size());
    }
    if (n_tokens > room()) {
        const double needed = bytes_at_once(n_tokens, setup_.model->n_vocab());
        const double available = static_cast<double>(available_memory_bytes());
        if (available > 0 && needed > available) {
            throw Error(ErrorCode::capacity,
                        "a text of " + std::to_string(n_tokens) + " tokens takes about " +
                            std::to_string(static_cast<uint64_t>(needed / 1e6)) + " MB to evaluate at once; " +
                            std::to_string(static_cast<uint64_t>(available / 1e6)) + " MB are available",
                        { { "n_tokens", static_cast<double>(n_tokens) },
                          { "needed_bytes", needed },
                          { "available_bytes", available } });
        }
        grow(n_tokens);
    }
    batch_->clear();
    std::vector<const EmbedText *> participants;
    for (const EmbedText & text : texts) {
        const auto seq = static_cast<llama_seq_id>(participants.size());
        for (size_t pos = 0; pos < text.tokens().size(); pos++) {
            batch_->add(text.tokens()[pos], static_cast<llama_pos>(pos), seq, /*output=*/true);
        }
        participants.push_back(&text);
    }
    const int32_t n_threads = alone ? governor_.threads() : setup_.n_threads;
    const auto start = std::chrono::steady_clock::now();
    const Decoded outcome = decode(n_threads, participants);
    if (outcome == Decoded::ok && alone) {
        const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
        governor_.observe(n_tokens, elapsed.count());
    }
    if (context_->memory_kind() != MemoryKind::none) {
        context_->clear();
    }
    return outcome;
}

void WholeTextWorker::pool(const std::vector<EmbedText> & texts) {
    int32_t next_row = 0;
    for (const EmbedText & text : texts) {
        EmbedSink sink(text, setup_.pooling, width_);
        for (size_t i = 0; i < text.tokens().size(); i++) {
            sink.add(row(next_row++));
        }
        finish(sink);
    }
}

}  // namespace llamaint
