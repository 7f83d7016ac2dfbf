#include "adaptive_p.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace llamaint {

namespace {

// Shape of the preference around the target, from llama.cpp: quadratic near it, linear far away.
constexpr float width = 0.3f;
constexpr float peak = 5.0f;
constexpr float sharpness = 10.0f;

struct AdaptiveP {
    float target;
    float decay;
    std::mt19937 random;
    // Sums over the accepted tokens of decay^age * probability and of decay^age; they begin as if the
    // target had always been met.
    float probability_sum;
    float weight_sum;
    llama_token picked = LLAMA_TOKEN_NULL;
    float picked_probability = 0;

    void apply(llama_token_data_array & row) {
        const std::vector<float> original = softmax(row);
        const float aim = std::clamp(2 * target - probability_sum / weight_sum, 0.0f, 1.0f);
        for (size_t i = 0; i < row.size; ++i) {
            if (row.data[i].logit > -INFINITY) {
                const float distance = std::abs(original[i] - aim) / width;
                row.data[i].logit = peak - sharpness * distance * distance / (1 + distance);
            }
        }
        const std::vector<float> adapted = softmax(row);
        std::discrete_distribution<size_t> choice(adapted.begin(), adapted.end());
        const size_t selected = choice(random);
        row.selected = static_cast<int64_t>(selected);
        row.sorted = false;
        picked = row.data[selected].id;
        picked_probability = original[selected];
    }

    void accept(llama_token token) {
        if (token == picked) {
            probability_sum = picked_probability + decay * probability_sum;
            weight_sum = 1 + decay * weight_sum;
        }
        picked = LLAMA_TOKEN_NULL;
    }

    static std::vector<float> softmax(llama_token_data_array & row) {
        float largest = -INFINITY;
        for (size_t i = 0; i < row.size; ++i) {
            largest = std::max(largest, row.data[i].logit);
        }
        std::vector<float> p(row.size);
        float sum = 0;
        for (size_t i = 0; i < row.size; ++i) {
            sum += p[i] = std::exp(row.data[i].logit - largest);
        }
        for (size_t i = 0; i < row.size; ++i) {
            row.data[i].p = p[i] /= sum;
        }
        return p;
    }
};

AdaptiveP & state(const llama_sampler * sampler) {
    return *static_cast<AdaptiveP *>(sampler->ctx);
}

llama_sampler * wrap(AdaptiveP * context);

llama_sampler_i interface() {
    llama_sampler_i functions{};
    functions.name = [](const llama_sampler *) { return "adaptive-p"; };
    functions.accept = [](llama_sampler * sampler, llama_token token) { state(sampler).accept(token); };
    functions.apply = [](llama_sampler * sampler, llama_token_data_array * row) { state(sampler).apply(*row); };
    functions.clone = [](const llama_sampler * sampler) { return wrap(new AdaptiveP(state(sampler))); };
    functions.free = [](llama_sampler * sampler) { delete &state(sampler); };
    return functions;
}

llama_sampler * wrap(AdaptiveP * context) {
    static llama_sampler_i functions = interface();
    return llama_sampler_init(&functions, context);
}

}  // namespace

llama_sampler * make_adaptive_p(float target, float decay, uint32_t seed) {
    return wrap(new AdaptiveP{ target, decay, std::mt19937(seed), target / (1 - decay), 1 / (1 - decay) });
}

}  // namespace llamaint
