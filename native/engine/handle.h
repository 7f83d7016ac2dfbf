#pragma once

#include "cancel_flag.h"
#include "request.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

namespace llamaint {

// Collects the ids of watched handles that have something to take, for one waiting thread.
class Notifier {
  public:
    void add(uint64_t id);
    // Waits for ids, at most `timeout_s` seconds. Throws Error(closed) after close() once drained.
    std::vector<uint64_t> wait(double timeout_s);
    void close();

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::set<uint64_t> ready_;
    bool closed_ = false;
};

// The meeting point of one request: the engine pushes chunks, any one thread takes them.
// Every choice ends with exactly one chunk that carries a finish.
class Handle : public CancelFlag {
  public:
    Handle(uint64_t id, int32_t n_choices, bool stream, std::shared_ptr<Notifier> notifier)
        : id_(id), stream_(stream), n_open_(n_choices), notifier_(std::move(notifier)) {}

    uint64_t id() const { return id_; }

    // Consumer side, thread-safe.
    std::vector<Chunk> take();
    std::vector<Chunk> wait(double timeout_s);
    bool done() const;  // all choices have ended and everything was taken
    void watch();
    void cancel();

    // Engine side. Chunks of one choice that nobody took yet are merged.
    void push(Chunk chunk);
    // Called once by cancel(), on the thread of the caller.
    void on_cancel(std::function<void()> callback);

  private:
    std::vector<Chunk> take_locked();

    const uint64_t id_;
    const bool stream_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Chunk> chunks_;
    int32_t n_open_;  // choices that have not ended
    bool ready_ = false;
    bool watched_ = false;
    std::function<void()> on_cancel_;
    std::shared_ptr<Notifier> notifier_;
};

}  // namespace llamaint
