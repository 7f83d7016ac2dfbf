#pragma once

#include <cstdint>

namespace llamaint {

// Chooses how many threads the next decode uses. llama.cpp's threads spin at every graph node, so one
// thread that another program delays delays them all, and fewer threads can be faster than more
// (docs/dev/threads.md has figures). The governor compares step times: when steps become slow, and from
// time to time anyway, it tries a neighbouring count for a few steps and keeps the faster.
// Pure: times come in, a count goes out.
class ThreadGovernor {
  public:
    ThreadGovernor(int32_t max_threads, bool adaptive) : max_(max_threads), adaptive_(adaptive), current_(max_threads) {}

    int32_t threads() const { return trial_ != 0 ? trial_ : current_; }

    // A decode of `rows` rows on threads() threads took `seconds`.
    void observe(uint32_t rows, double seconds);

    uint64_t changes() const { return changes_; }

  private:
    void start_trial(int32_t threads);
    void end_trial();
    void settle();
    int32_t next_lower();

    int32_t max_;
    bool    adaptive_;
    int32_t current_;

    int      bucket_      = -1;   // steps are compared only with steps of about as many rows
    uint32_t n_steps_     = 0;    // at current_ since the last change of bucket or count
    double   recent_      = 0.0;  // smoothed seconds per step at current_
    double   best_        = 0.0;  // smallest recent_ seen at current_ since settle()
    double   since_trial_ = 0.0;  // seconds decoded since the last trial
    double   interval_    = 0.0;  // seconds to the next unprompted trial; doubles while trials fail

    int32_t  trial_       = 0;  // count on trial, 0 for none
    uint32_t trial_steps_ = 0;
    double   trial_total_ = 0.0;
    bool     try_more_    = false;  // which direction the next unprompted trial takes
    int32_t  lower_       = 0;      // last lower count that was tried in vain at current_, 0 for none
    uint64_t changes_     = 0;
};

}  // namespace llamaint
