#pragma once

#include <cstdint>
#include <functional>

namespace llamaint {

// Chooses how many threads the next decode uses. llama.cpp's threads spin at every graph node, so one
// thread that another program delays delays them all, and fewer threads can be many times faster than
// more (docs/dev/threads.md has figures). The governor compares step times: when steps become slow or
// the machine crowded it tries fewer threads for a few steps, when cores are free it tries more, and it
// keeps what is faster. Pure: times and counts come in, a count goes out.
class ThreadGovernor {
  public:
    // Threads of all programs, ours included, that want a core now; 0 when unknown.
    using Runnable = std::function<int32_t()>;

    ThreadGovernor(int32_t max_threads, bool adaptive, Runnable runnable)
        : max_(max_threads), adaptive_(adaptive && max_threads > 1), runnable_(std::move(runnable)),
          current_(max_threads) {}

    int32_t threads() const { return trial_ != 0 ? trial_ : current_; }

    // Work begins after a pause: starts with the cores that are free.
    void begin();

    // A decode of `rows` rows on threads() threads took `seconds`.
    void observe(uint32_t rows, double seconds);

    uint64_t changes() const { return changes_; }

  private:
    enum class Crowd { unknown, free, full, over };

    Crowd crowd(int32_t n_running) const;
    void observe_trial(double seconds);
    void end_trial();
    void start_trial(int32_t threads);
    void settle();
    int32_t next_lower();

    int32_t max_;
    bool adaptive_;
    Runnable runnable_;
    int32_t current_;

    int bucket_ = -1;           // steps are compared only with steps of about as many rows
    uint32_t n_steps_ = 0;      // at current_ since the last change of bucket or count
    double recent_ = 0.0;       // smoothed seconds per step at current_
    double best_ = 0.0;         // smallest recent_ seen at current_
    double since_trial_ = 0.0;  // seconds decoded since the last trial
    double interval_ = 0.0;     // seconds to wait before the next; grows while trials fail

    int32_t trial_ = 0;  // count on trial, 0 for none
    uint32_t trial_steps_ = 0;
    double trial_counted_ = 0.0;  // seconds of all trial steps but the first
    double trial_total_ = 0.0;
    int32_t lower_ = 0;  // last lower count that was tried in vain at current_, 0 for none
    uint64_t changes_ = 0;
};

}  // namespace llamaint
