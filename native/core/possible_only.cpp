#include "possible_only.h"

#include <algorithm>
#include <cmath>

namespace llamaint {

namespace {

// exp(-87) is the smallest normal float.
constexpr float farthest = 87.0f;

void apply(llama_sampler *, llama_token_data_array * row) {
    float largest = -INFINITY;
    for (size_t i = 0; i < row->size; ++i) {
        largest = std::max(largest, row->data[i].logit);
    }
    const auto impossible = [&](const llama_token_data & candidate) {
        return !(candidate.logit >= largest - farthest);
    };
    const auto end = std::remove_if(row->data, row->data + row->size, impossible);
    row->size = static_cast<size_t>(end - row->data);
}

llama_sampler_i interface() {
    llama_sampler_i functions{};
    functions.name = [](const llama_sampler *) { return "possible-only"; };
    functions.apply = apply;
    functions.clone = [](const llama_sampler *) { return make_possible_only(); };
    return functions;
}

}  // namespace

llama_sampler * make_possible_only() {
    static llama_sampler_i functions = interface();
    return llama_sampler_init(&functions, nullptr);
}

}  // namespace llamaint
