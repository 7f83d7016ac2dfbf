#pragma once

#include "embed_worker.h"
#include "thread_governor.h"

#include <vector>

namespace llamaint {

// For models whose attention is not causal: each text is evaluated in one piece, several in one decode,
// each as a sequence of its own. Nothing stays in memory between decodes.
class WholeTextWorker : public EmbedWorker {
  public:
    WholeTextWorker(Setup setup, EmbedQueue & queue, EmbedMetrics & metrics);

    void run() override;

  private:
    ContextParams sized(uint32_t n_tokens) const override;

    void embed(const std::vector<EmbedText> & texts, bool alone);
    Decoded evaluate(const std::vector<EmbedText> & texts, bool alone);
    void pool(const std::vector<EmbedText> & texts);

    ThreadGovernor governor_;  // of decodes that have the machine to themselves
};

}  // namespace llamaint
