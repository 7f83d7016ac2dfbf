#include "handle.h"

#include "seconds.h"

namespace llamaint {

namespace {

template <typename T>
void append(std::vector<T> & to, std::vector<T> & from) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace

void Notifier::add(uint64_t id) {
    {
        std::lock_guard<std::mutex> lock(mutex_);
        ready_.insert(id);
    }
    changed_.notify_one();
}

std::vector<uint64_t> Notifier::wait(double timeout_s) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait_for(lock, clamp_seconds(timeout_s), [&] { return !ready_.empty() || closed_; });
    if (ready_.empty() && closed_) {
        throw Error(ErrorCode::closed, "the engine is closed");
    }
    std::vector<uint64_t> ids(ready_.begin(), ready_.end());
    ready_.clear();
    return ids;
}

void Notifier::close() {
    {
        std::lock_guard<std::mutex> lock(mutex_);
        closed_ = true;
    }
    changed_.notify_all();
}

std::vector<Chunk> Handle::take_locked() {
    std::vector<Chunk> out;
    if (ready_) {
        out.assign(std::make_move_iterator(chunks_.begin()), std::make_move_iterator(chunks_.end()));
        chunks_.clear();
        ready_ = false;
    }
    return out;
}

std::vector<Chunk> Handle::take() {
    std::lock_guard<std::mutex> lock(mutex_);
    return take_locked();
}

std::vector<Chunk> Handle::wait(double timeout_s) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait_for(lock, clamp_seconds(timeout_s), [&] { return ready_ || n_open_ == 0; });
    return take_locked();
}

bool Handle::done() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return n_open_ == 0 && chunks_.empty();
}

void Handle::watch() {
    bool ready = false;
    {
        std::lock_guard<std::mutex> lock(mutex_);
        watched_ = true;
        ready = ready_;
    }
    if (ready) {
        notifier_->add(id_);
    }
}

void Handle::cancel() {
    if (!set_cancelled()) {
        return;
    }
    std::function<void()> callback;
    {
        std::lock_guard<std::mutex> lock(mutex_);
        callback.swap(on_cancel_);
    }
    if (callback) {
        callback();
    }
}

void Handle::on_cancel(std::function<void()> callback) {
    std::lock_guard<std::mutex> lock(mutex_);
    on_cancel_ = std::move(callback);
}

void Handle::push(Chunk chunk) {
    bool notify = false;
    {
        std::lock_guard<std::mutex> lock(mutex_);
        if (chunk.finish) {
            n_open_--;
        }
        Chunk * open = nullptr;
        for (auto it = chunks_.rbegin(); it != chunks_.rend() && open == nullptr; ++it) {
            if (it->choice == chunk.choice) {
                open = &*it;
            }
        }
        if (open == nullptr) {
            chunks_.push_back(std::move(chunk));
        } else {
            open->text += chunk.text;
            append(open->tokens, chunk.tokens);
            append(open->logprobs, chunk.logprobs);
            open->finish = chunk.finish;
            open->stop_text = std::move(chunk.stop_text);
            open->error = std::move(chunk.error);
            open->timings = chunk.timings;
        }
        if (stream_ || n_open_ == 0) {
            ready_ = true;
            notify = watched_;
        }
        if (n_open_ == 0) {
            // What cancel() would reach is going away with the request.
            on_cancel_ = nullptr;
        }
    }
    changed_.notify_all();
    if (notify) {
        notifier_->add(id_);
    }
}

}  // namespace llamaint
