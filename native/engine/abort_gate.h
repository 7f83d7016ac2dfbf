#pragma once

#include "cancel_flag.h"
#include "core/context.h"

#include <memory>
#include <mutex>
#include <vector>

namespace llamaint {

// Decides whether a running decode may be abandoned. llama.cpp leaves half-evaluated memory behind an
// aborted decode, so that is done only when nobody in the batch needs its memory any more: all its
// requests are cancelled, or the engine closes.
class AbortGate {
  public:
    AbortGate() = default;
    explicit AbortGate(Context & context) : context_(&context) {}

    // Engine thread, around a decode.
    void enter(std::vector<std::shared_ptr<const CancelFlag>> participants);
    void leave();

    // Any thread: somebody cancelled.
    void check();
    // Any thread: the engine closes.
    void close();
    // Engine thread, before the context goes away, and when another takes its place.
    void detach();
    void attach(Context & context);

  private:
    void check_locked();

    std::mutex mutex_;
    Context * context_ = nullptr;
    std::vector<std::shared_ptr<const CancelFlag>> participants_;
    bool closing_ = false;
};

}  // namespace llamaint
