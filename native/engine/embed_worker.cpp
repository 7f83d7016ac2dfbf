#include "embed_worker.h"

#include "core/log.h"

#include <algorithm>
#include <chrono>

namespace llamaint {

namespace {

constexpr uint32_t batch_multiple = 256;

// Growing in powers of two keeps the number of new contexts small.
uint32_t rounded_up(uint32_t n_tokens, uint32_t limit) {
    uint64_t size = batch_multiple;
    while (size < n_tokens) {
        size *= 2;
    }
    return static_cast<uint32_t>(std::max<uint64_t>(n_tokens, std::min<uint64_t>(size, limit)));
}

}  // namespace

EmbedWorker::EmbedWorker(Setup setup, EmbedQueue & queue, EmbedMetrics & metrics)
    : setup_(std::move(setup)), width_(static_cast<uint32_t>(llama_model_n_embd_out(setup_.model->handle()))),
      queue_(queue), metrics_(metrics), encode_(llama_model_has_encoder(setup_.model->handle())) {}

EmbedWorker::~EmbedWorker() {
    gate_.detach();
}

void EmbedWorker::open(uint32_t n_tokens) {
    auto context = std::make_unique<Context>(setup_.model, sized(n_tokens));
    auto batch = std::make_unique<EmbedBatch>(static_cast<int32_t>(context->n_batch()));
    gate_.detach();
    context_ = std::move(context);
    batch_ = std::move(batch);
    room_ = n_tokens;
    gate_.attach(*context_);
}

void EmbedWorker::grow(uint32_t n_tokens) {
    if (n_tokens > room_) {
        open(rounded_up(n_tokens, std::max(setup_.max_tokens, setup_.pack_tokens)));
        metrics_.grown_contexts++;
    }
}

EmbedWorker::Decoded EmbedWorker::decode(int32_t n_threads, const std::vector<const EmbedText *> & texts) {
    std::vector<std::shared_ptr<const CancelFlag>> jobs;
    for (const EmbedText * text : texts) {
        if (jobs.empty() || jobs.back() != text->job) {
            jobs.push_back(text->job);
        }
    }
    context_->set_n_threads(n_threads, n_threads);
    gate_.enter(std::move(jobs));
    const auto start = std::chrono::steady_clock::now();
    int32_t result = 0;
    log::Capture capture;
    try {
        result = encode_ ? llama_encode(context_->handle(), batch_->native())
                         : llama_decode(context_->handle(), batch_->native());
        reason_.clear();
    } catch (const std::exception & exception) {
        result = -3;
        reason_ = exception.what();
    }
    if (result == 0) {
        llama_synchronize(context_->handle());
    }
    gate_.leave();

    const auto elapsed = std::chrono::steady_clock::now() - start;
    metrics_.decode_us += static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(elapsed).count());
    metrics_.decodes++;
    switch (result) {
    case 0:
        metrics_.tokens += static_cast<uint64_t>(batch_->n_rows());
        return Decoded::ok;
    case 1:
        return Decoded::no_room;
    case 2:
        metrics_.aborted_decodes++;
        return Decoded::aborted;
    default:
        metrics_.failed_decodes++;
        if (reason_.empty()) {
            reason_ = "llama.cpp returned " + std::to_string(result) + " " + capture.reason();
        }
        return Decoded::failed;
    }
}

const float * EmbedWorker::row(int32_t index) const {
    const float * values = llama_get_embeddings_ith(context_->handle(), index);
    if (!values) {
        throw Error(ErrorCode::decode, "llama.cpp has no embedding of row " + std::to_string(index),
                    { { "row", static_cast<double>(index) } });
    }
    return values;
}

Error EmbedWorker::failure(Decoded outcome, uint32_t n_tokens) const {
    switch (outcome) {
    case Decoded::aborted:
        return Error(ErrorCode::closed, "the engine was closed");
    case Decoded::no_room:
        return Error(ErrorCode::capacity, "the cache has no room for a text of " + std::to_string(n_tokens) + " tokens",
                     { { "n_tokens", static_cast<double>(n_tokens) } });
    default:
        return Error(ErrorCode::decode,
                     "evaluating a text of " + std::to_string(n_tokens) + " tokens failed: " + reason_,
                     { { "n_tokens", static_cast<double>(n_tokens) } });
    }
}

void EmbedWorker::finish(const EmbedSink & sink) {
    try {
        sink.finish();
        metrics_.texts++;
        sink.text().job->finish_text();
    } catch (const Error & error) {
        sink.text().job->fail(error);
    }
}

}  // namespace llamaint
