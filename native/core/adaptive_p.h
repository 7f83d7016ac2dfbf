#pragma once

#include "llama.h"

#include <cstdint>

namespace llamaint {

// The adaptive-p sampler of llama.cpp (llama_sampler_init_adaptive_p, pull request 17927): picks tokens
// whose probability lies near a target, which moves so that the running mean meets `target`.
// Written anew because llama.cpp's cannot be copied: its clone starts the random numbers again and
// forgets the probabilities of the token it has just picked.
// `target` 0..1, `decay` 0..0.99 (how much of the past counts). Picks a token: the last of a chain.
llama_sampler * make_adaptive_p(float target, float decay, uint32_t seed);

}  // namespace llamaint
