#include "embed_handle.h"

#include "seconds.h"

#include <algorithm>

namespace llamaint {

EmbedHandle::EmbedHandle(uint64_t id, std::vector<Tokens> texts, uint32_t width, bool keep_rows,
                         std::shared_ptr<Notifier> notifier)
    : id_(id), texts_(std::move(texts)), width_(width), keep_rows_(keep_rows), output_(std::make_shared<EmbedOutput>()),
      // Texts without tokens keep the zero vector they start with.
      n_open_(static_cast<size_t>(
          std::count_if(texts_.begin(), texts_.end(), [](const Tokens & text) { return !text.empty(); }))),
      ended_(n_open_ == 0), notifier_(std::move(notifier)) {
    if (keep_rows) {
        output_->rows.resize(texts_.size());
    } else {
        output_->pooled.resize(texts_.size() * width_);
    }
}

bool EmbedHandle::wait(double timeout_s) {
    std::unique_lock<std::mutex> lock(mutex_);
    return changed_.wait_for(lock, clamp_seconds(timeout_s), [&] { return ended_; });
}

std::shared_ptr<EmbedOutput> EmbedHandle::result() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return ended_; });
    if (error_) {
        throw Error(*error_);
    }
    return output_;
}

void EmbedHandle::watch() {
    bool ended = false;
    {
        std::lock_guard<std::mutex> lock(mutex_);
        watched_ = true;
        ended = ended_;
    }
    if (ended) {
        notifier_->add(id_);
    }
}

void EmbedHandle::cancel() {
    if (!set_cancelled()) {
        return;
    }
    std::function<void()> callback;
    {
        std::lock_guard<std::mutex> lock(mutex_);
        callback.swap(on_cancel_);
    }
    fail(Error(ErrorCode::cancelled, "the request was cancelled"));
    if (callback) {
        callback();
    }
}

void EmbedHandle::on_cancel(std::function<void()> callback) {
    std::lock_guard<std::mutex> lock(mutex_);
    on_cancel_ = std::move(callback);
}

bool EmbedHandle::ended() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return ended_;
}

void EmbedHandle::fail(const Error & error) {
    end(std::make_shared<const Error>(error));
}

void EmbedHandle::finish_text() {
    {
        std::lock_guard<std::mutex> lock(mutex_);
        if (--n_open_ > 0) {
            return;
        }
    }
    end(nullptr);
}

void EmbedHandle::end(std::shared_ptr<const Error> error) {
    bool notify = false;
    {
        std::lock_guard<std::mutex> lock(mutex_);
        if (ended_) {
            return;
        }
        ended_ = true;
        error_ = std::move(error);
        on_cancel_ = nullptr;
        notify = watched_;
    }
    changed_.notify_all();
    if (notify) {
        notifier_->add(id_);
    }
}

}  // namespace llamaint
