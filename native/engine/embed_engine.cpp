#include "embed_engine.h"

#include "embed_chunks.h"
#include "embed_plan.h"
#include "embed_whole.h"

namespace llamaint {

EmbedEngine::EmbedEngine(std::shared_ptr<const Model> model, const EmbedParams & params)
    : model_(std::move(model)), workers_(std::make_shared<Workers>()), notifier_(std::make_shared<Notifier>()) {
    const Pooling pooling = resolve_pooling(*model_, params.pooling);
    const EmbedPlan plan = plan_embedding(*model_, params.context, params.pack_tokens, params.n_workers);
    queue_.open(plan.n_workers);
    for (uint32_t index = 0; index < plan.n_workers; index++) {
        EmbedWorker::Setup setup{ model_,           plan.context, pooling,        plan.max_tokens,
                                  plan.pack_tokens, index,        plan.n_threads, plan.adaptive };
        if (plan.causal) {
            workers_->push_back(std::make_unique<ChunkWorker>(std::move(setup), queue_, metrics_));
        } else {
            workers_->push_back(std::make_unique<WholeTextWorker>(std::move(setup), queue_, metrics_));
        }
    }
    info_.n_embd_out = static_cast<uint32_t>(llama_model_n_embd_out(model_->handle()));
    info_.pooling = pooling;
    info_.max_tokens = plan.max_tokens;
    info_.pack_tokens = plan.pack_tokens;
    info_.n_workers = plan.n_workers;
    info_.n_threads = plan.context.n_threads;
    info_.causal = plan.causal;
    info_.flash_attn = plan.context.flash_attn;
    try {
        for (const auto & worker : *workers_) {
            threads_.emplace_back([raw = worker.get()] { raw->run(); });
        }
    } catch (...) {
        close();
        throw;
    }
}

EmbedEngine::~EmbedEngine() {
    close();
}

std::shared_ptr<EmbedHandle> EmbedEngine::submit(std::vector<Tokens> texts) {
    for (size_t index = 0; index < texts.size(); index++) {
        if (texts[index].size() > info_.max_tokens) {
            throw Error(ErrorCode::prompt_too_long,
                        "text " + std::to_string(index) + " has " + std::to_string(texts[index].size()) +
                            " tokens; the model takes " + std::to_string(info_.max_tokens),
                        { { "index", static_cast<double>(index) },
                          { "n_prompt", static_cast<double>(texts[index].size()) },
                          { "n_ctx", static_cast<double>(info_.max_tokens) } });
        }
        model_->check_tokens(texts[index]);
    }
    auto job = std::make_shared<EmbedHandle>(next_id_++, std::move(texts), info_.n_embd_out,
                                             info_.pooling == Pooling::none, notifier_);
    job->on_cancel([workers = std::weak_ptr<Workers>(workers_)] {
        if (const auto open = workers.lock()) {
            for (const auto & worker : *open) {
                worker->check_cancelled();
            }
        }
    });
    queue_.push(job);
    metrics_.jobs++;
    return job;
}

void EmbedEngine::close() {
    queue_.close();
    for (const auto & worker : *workers_) {
        worker->close();
    }
    std::lock_guard<std::mutex> lock(join_mutex_);
    for (std::thread & thread : threads_) {
        if (thread.joinable()) {
            thread.join();
        }
    }
    notifier_->close();
}

}  // namespace llamaint
