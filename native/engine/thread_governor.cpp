#include "thread_governor.h"

#include <algorithm>
#include <cmath>

namespace llamaint {

namespace {

constexpr uint32_t max_decode_rows = 64;  // larger steps are prompts: their times vary too much
constexpr uint32_t warm_steps = 3;        // steps before recent_ means anything
constexpr uint32_t trial_length = 5;      // the first is not counted: the threads wake up in it
constexpr double slow_factor = 1.5;       // recent_ over best_ that asks for a trial
constexpr double gain_needed = 0.92;      // a trial wins below this share of recent_
constexpr double first_interval = 0.3;
constexpr double blind_interval = 5.0;  // between trials that nothing asks for
constexpr double last_interval = 60.0;
constexpr double cost_share = 0.04;  // failing trials may cost this share of the time
constexpr double smoothing = 0.2;

// Steps within about 25 % of each other in rows share a bucket.
int row_bucket(uint32_t rows) {
    return static_cast<int>(std::log(static_cast<double>(rows)) / std::log(1.25));
}

}  // namespace

// How full the machine would be with `n_running` threads of ours.
ThreadGovernor::Crowd ThreadGovernor::crowd(int32_t n_running) const {
    const int32_t n_runnable = runnable_ ? runnable_() : 0;
    if (n_runnable <= 0) {
        return Crowd::unknown;
    }
    const int32_t n_total = std::max(0, n_runnable - n_running) + current_;
    return n_total > max_ ? Crowd::over : n_total == max_ ? Crowd::full : Crowd::free;
}

void ThreadGovernor::begin() {
    const int32_t n_runnable = adaptive_ && runnable_ ? runnable_() : 0;
    if (n_runnable > 0) {
        // The engine thread asks, so one of the runnable threads is ours.
        current_ = std::clamp(max_ - (n_runnable - 1), 1, max_);
        bucket_ = -1;
        trial_ = 0;
    }
}

void ThreadGovernor::observe(uint32_t rows, double seconds) {
    if (!adaptive_ || rows == 0 || rows > max_decode_rows) {
        return;
    }
    if (const int bucket = row_bucket(rows); bucket != bucket_) {
        bucket_ = bucket;
        trial_ = 0;
        settle();
    }
    if (trial_ != 0) {
        observe_trial(seconds);
        return;
    }
    since_trial_ += seconds;
    recent_ = n_steps_++ == 0 ? seconds : recent_ + smoothing * (seconds - recent_);
    if (n_steps_ < warm_steps || since_trial_ < std::max(first_interval, interval_)) {
        best_ = best_ == 0.0 ? recent_ : std::min(best_, recent_);
        return;
    }
    best_ = std::min(best_, recent_);
    // Between steps only the engine thread runs; ggml's others sleep.
    const Crowd now = crowd(1);
    const bool blind = since_trial_ > blind_interval;
    if (current_ > 1 && (now == Crowd::over || recent_ > slow_factor * best_ || (blind && now == Crowd::unknown))) {
        start_trial(next_lower());
    } else if (current_ < max_ && (now == Crowd::free || blind)) {
        start_trial(std::min(max_, current_ * 2));
    }
}

void ThreadGovernor::observe_trial(double seconds) {
    trial_total_ += seconds;
    if (trial_steps_++ > 0) {
        trial_counted_ += seconds;
    }
    // A trial that has already lost is not played to its end.
    const bool lost = trial_total_ > (trial_steps_ == 1 ? 2.5 : trial_length) * recent_;
    if (lost || trial_steps_ == trial_length) {
        end_trial();
    }
}

void ThreadGovernor::end_trial() {
    const bool whole = trial_steps_ == trial_length;
    if (whole && trial_counted_ / (trial_length - 1) < gain_needed * recent_) {
        current_ = trial_;
        interval_ = 0.0;
        changes_++;
        settle();
    } else {
        const double cost = trial_total_ - trial_steps_ * recent_;
        interval_ = std::min(last_interval, std::max({ first_interval, 2.0 * interval_, cost / cost_share }));
        best_ = recent_;  // what was slow is the new normal, or the next trial would follow at once
    }
    trial_ = 0;
    since_trial_ = 0.0;
}

void ThreadGovernor::start_trial(int32_t threads) {
    trial_ = threads;
    trial_steps_ = 0;
    trial_counted_ = 0.0;
    trial_total_ = 0.0;
}

void ThreadGovernor::settle() {
    n_steps_ = 0;
    recent_ = 0.0;
    best_ = 0.0;
    lower_ = 0;
}

// Half of the count, then a quarter, ... and from the top again: when only two of eight cores are free,
// four threads are as slow as eight.
int32_t ThreadGovernor::next_lower() {
    const int32_t from = lower_ > 1 ? lower_ : current_;
    lower_ = std::max(1, from / 2);
    return lower_;
}

}  // namespace llamaint
