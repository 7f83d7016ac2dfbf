#pragma once

#include "core/context.h"
#include "core/model.h"

#include <cstdint>

namespace llamaint {

// How a model is run as an embedder. Pure, but for reading the model.
struct EmbedPlan {
    bool causal;            // texts can be cut into chunks
    uint32_t max_tokens;    // of one text
    uint32_t pack_tokens;   // of one decode that holds several texts
    uint32_t n_workers;     // contexts that work at the same time
    int32_t n_threads;      // of one worker beside the others
    bool adaptive;          // the number of threads may follow the machine's load
    ContextParams context;  // resolved
};

// `pack_tokens` and `n_workers` 0 take the defaults. Throws Error(config) for sizes that cannot work and
// Error(unsupported) for a model without weights.
EmbedPlan plan_embedding(const Model & model, const ContextParams & context, uint32_t pack_tokens, uint32_t n_workers);

}  // namespace llamaint
