#pragma once

#include "context.h"
#include "llama.h"

namespace llamaint {

// Fills in every "take the model's" value and checks the rest against what llama.cpp aborts on.
// Throws Error(config) naming the field, Error(capacity) when the cache cannot fit into memory.
ContextParams resolve(const Model & model, const ContextParams & params);

// Resolved parameters in llama.cpp's words.
llama_context_params native_params(const ContextParams & params);

// Positions the model can tell apart: the length of its table of positions where it has one, else no limit.
// llama.cpp aborts beyond the end of the table.
uint32_t n_positions(const Model & model);

// Upper bound of the cache's size for one token of one sequence, in bytes; 0 without attention.
double cache_bytes_per_token(const Model & model, const ContextParams & params);

}  // namespace llamaint
