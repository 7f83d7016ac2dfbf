#pragma once

#include "llama.h"

namespace llamaint {

// Takes candidates out whose probability is zero: biased or masked to minus infinity, or too small for
// a float. llama.cpp's typical sampler multiplies zero by log zero and then compares NaN.
llama_sampler * make_possible_only();

}  // namespace llamaint
