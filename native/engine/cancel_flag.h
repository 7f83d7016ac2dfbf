#pragma once

#include <atomic>

namespace llamaint {

// Set once by whoever gives a request up, read by the engine's threads.
class CancelFlag {
  public:
    bool cancelled() const { return cancelled_.load(std::memory_order_acquire); }

  protected:
    ~CancelFlag() = default;

    // True for the first caller.
    bool set_cancelled() { return !cancelled_.exchange(true, std::memory_order_acq_rel); }

  private:
    std::atomic<bool> cancelled_{ false };
};

}  // namespace llamaint
