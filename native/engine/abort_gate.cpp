#include "abort_gate.h"

#include <algorithm>

namespace llamaint {

void AbortGate::enter(std::vector<std::shared_ptr<const CancelFlag>> participants) {
    std::lock_guard<std::mutex> lock(mutex_);
    participants_ = std::move(participants);
    check_locked();
}

void AbortGate::leave() {
    std::lock_guard<std::mutex> lock(mutex_);
    participants_.clear();
    context_->request_abort(false);
}

void AbortGate::check() {
    std::lock_guard<std::mutex> lock(mutex_);
    check_locked();
}

void AbortGate::close() {
    std::lock_guard<std::mutex> lock(mutex_);
    closing_ = true;
    check_locked();
}

void AbortGate::detach() {
    std::lock_guard<std::mutex> lock(mutex_);
    context_ = nullptr;
    participants_.clear();
}

void AbortGate::attach(Context & context) {
    std::lock_guard<std::mutex> lock(mutex_);
    context_ = &context;
}

void AbortGate::check_locked() {
    if (context_ == nullptr || participants_.empty()) {
        return;
    }
    const bool unwanted = std::all_of(participants_.begin(), participants_.end(),
                                      [](const auto & request) { return request->cancelled(); });
    if (closing_ || unwanted) {
        context_->request_abort(true);
    }
}

}  // namespace llamaint
