#include "thread_governor.h"

#include <algorithm>
#include <cmath>

namespace llamaint {

namespace {

constexpr uint32_t max_decode_rows = 64;    // larger steps are prompts: their times vary too much
constexpr uint32_t warm_steps      = 6;     // steps before recent_ means anything
constexpr uint32_t trial_length    = 5;     // the first is not counted: the threads wake up in it
constexpr double   slow_factor     = 1.5;   // recent_ over best_ that asks for a trial
constexpr double   gain_needed     = 0.92;  // a trial wins below this share of recent_
constexpr double   first_interval  = 0.4;
constexpr double   last_interval   = 6.0;
constexpr double   smoothing       = 0.2;

// Steps within about 25 % of each other in rows share a bucket.
int row_bucket(uint32_t rows) {
    return static_cast<int>(std::log(static_cast<double>(rows)) / std::log(1.25));
}

}  // namespace

void ThreadGovernor::observe(uint32_t rows, double seconds) {
    if (!adaptive_ || max_ <= 1 || rows == 0 || rows > max_decode_rows) {
        return;
    }
    if (const int bucket = row_bucket(rows); bucket != bucket_) {
        bucket_ = bucket;
        trial_  = 0;
        settle();
        return;
    }
    if (trial_ != 0) {
        if (trial_steps_++ > 0) {
            trial_total_ += seconds;
        }
        if (trial_steps_ == trial_length) {
            end_trial();
        }
        return;
    }
    n_steps_++;
    since_trial_ += seconds;
    recent_ = n_steps_ == 1 ? seconds : recent_ + smoothing * (seconds - recent_);
    if (n_steps_ < warm_steps) {
        return;
    }
    best_ = best_ == 0.0 ? recent_ : std::min(best_, recent_);

    const bool slow = recent_ > slow_factor * best_;
    const bool due  = since_trial_ > (interval_ == 0.0 ? first_interval : interval_);
    if (slow && current_ > 1 && since_trial_ > first_interval) {
        start_trial(next_lower());
    } else if (due) {
        const bool more = current_ < max_ && (current_ == 1 || try_more_);
        try_more_       = !try_more_;
        start_trial(more ? std::min(max_, current_ * 2) : next_lower());
    }
}

// Half of the count, then a quarter, ... and from the top again: when only two of eight cores are free,
// four threads are as slow as eight.
int32_t ThreadGovernor::next_lower() {
    const int32_t from = lower_ > 1 ? lower_ : current_;
    lower_             = std::max(1, from / 2);
    return lower_;
}

void ThreadGovernor::start_trial(int32_t threads) {
    trial_       = threads;
    trial_steps_ = 0;
    trial_total_ = 0.0;
}

void ThreadGovernor::end_trial() {
    const double mean = trial_total_ / (trial_length - 1);
    if (mean < gain_needed * recent_) {
        current_  = trial_;
        interval_ = first_interval;
        changes_++;
        settle();
    } else {
        interval_ = std::min(last_interval, std::max(first_interval, 2.0 * interval_));
        // What was slow before the trial is the new normal, or the next trial would follow at once.
        best_ = recent_;
    }
    trial_       = 0;
    since_trial_ = 0.0;
}

void ThreadGovernor::settle() {
    n_steps_ = 0;
    recent_  = 0.0;
    best_    = 0.0;
    lower_   = 0;
}

}  // namespace llamaint
