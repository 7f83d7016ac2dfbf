#include "embed_queue.h"

#include <algorithm>

namespace llamaint {

void EmbedQueue::push(std::shared_ptr<EmbedHandle> job) {
    Pending pending{ std::move(job) };
    const std::vector<Tokens> & texts = pending.job->texts();
    for (const Tokens & text : texts) {
        pending.n_tokens += text.size();
    }
    while (pending.next < texts.size() && texts[pending.next].empty()) {
        pending.next++;
    }
    {
        std::lock_guard<std::mutex> lock(mutex_);
        if (closed_) {
            throw Error(ErrorCode::closed, "the engine is closed");
        }
        if (pending.next == texts.size()) {
            return;
        }
        n_tokens_ += pending.n_tokens;
        pending_.push_back(std::move(pending));
    }
    changed_.notify_all();
}

EmbedQueue::Pack EmbedQueue::take(const Request & request) {
    Pack pack;
    bool more = false;
    {
        std::unique_lock<std::mutex> lock(mutex_);
        const auto ready = [&] {
            drop_ended();
            return closed_ || (!pending_.empty() && n_busy_ >= request.worker);
        };
        if (request.wait) {
            changed_.wait(lock, ready);
        } else if (!ready()) {
            return pack;
        }
        if (closed_) {
            return pack;
        }
        const uint64_t n_idle = std::max<uint64_t>(1, n_workers_ - std::min(n_workers_, n_busy_));
        const uint64_t share = std::max(request.share, (n_tokens_ + n_idle - 1) / n_idle);
        const uint64_t want = std::min(request.want, share);
        uint64_t taken = 0;
        for (; !pending_.empty() && pack.texts.size() < request.n_texts; drop_ended()) {
            Pending & front = pending_.front();
            const uint64_t length = front.job->texts()[front.next].size();
            if (taken + length > request.room || (taken > 0 && taken + length > want)) {
                break;
            }
            taken += length;
            pack.texts.push_back({ front.job, front.next });
            pop_front_text();
        }
        if (!pack.texts.empty()) {
            n_busy_++;
        }
        pack.alone = pending_.empty() && n_busy_ == 1;
        more = !pending_.empty();
    }
    if (more) {
        changed_.notify_all();
    }
    return pack;
}

void EmbedQueue::done() {
    std::lock_guard<std::mutex> lock(mutex_);
    n_busy_--;
}

void EmbedQueue::close() {
    std::deque<Pending> pending;
    {
        std::lock_guard<std::mutex> lock(mutex_);
        closed_ = true;
        pending.swap(pending_);
        n_tokens_ = 0;
    }
    changed_.notify_all();
    for (const Pending & waiting : pending) {
        waiting.job->fail(Error(ErrorCode::closed, "the engine was closed"));
    }
}

bool EmbedQueue::closed() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return closed_;
}

uint64_t EmbedQueue::waiting_tokens() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return n_tokens_;
}

// Cancelled and failed jobs leave when they come to the front.
void EmbedQueue::drop_ended() {
    while (!pending_.empty() && pending_.front().job->ended()) {
        n_tokens_ -= pending_.front().n_tokens;
        pending_.pop_front();
    }
}

// The job goes to the back with its next text, if it has one.
void EmbedQueue::pop_front_text() {
    Pending pending = std::move(pending_.front());
    pending_.pop_front();
    const std::vector<Tokens> & texts = pending.job->texts();
    pending.n_tokens -= texts[pending.next].size();
    n_tokens_ -= texts[pending.next].size();
    do {
        pending.next++;
    } while (pending.next < texts.size() && texts[pending.next].empty());
    if (pending.next < texts.size()) {
        pending_.push_back(std::move(pending));
    }
}

}  // namespace llamaint
