#include "exact_rows.h"

#include "core/error.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace llamaint {

namespace {

constexpr uint32_t n_probe = 6;  // rows compared; the rest of a wide batch is padding

class Probe {
  public:
    explicit Probe(Context & context)
        : context_(context), n_vocab_(static_cast<size_t>(context.model()->n_vocab())),
          batch_(llama_batch_init(static_cast<int32_t>(context.n_batch()), 0, 1)) {}
    ~Probe() {
        llama_batch_free(batch_);
        context_.clear();
    }

    // Logits of the probe's rows, float32 [n_probe, n_vocab], decoded `width` rows at a time; a last
    // batch wider than the probe is filled with further tokens.
    std::vector<float> logits(uint32_t width) {
        context_.clear();
        std::vector<float> out;
        for (uint32_t pos = 0; pos < n_probe;) {
            const uint32_t n_rows = width == 1 ? 1 : width;
            fill(pos, n_rows);
            if (llama_decode(context_.handle(), batch_) != 0) {
                throw Error(ErrorCode::decode, "the self-test of deterministic=True could not decode");
            }
            for (uint32_t i = 0; i < n_rows && pos + i < n_probe; i++) {
                const float * row = llama_get_logits_ith(context_.handle(), static_cast<int32_t>(i));
                out.insert(out.end(), row, row + n_vocab_);
            }
            pos += n_rows;
        }
        return out;
    }

  private:
    void fill(uint32_t pos, uint32_t n_rows) {
        batch_.n_tokens = static_cast<int32_t>(n_rows);
        for (uint32_t i = 0; i < n_rows; i++) {
            const uint32_t p = pos + i;
            batch_.token[i] = static_cast<llama_token>((p * 2654435761u >> 8) % n_vocab_);
            batch_.pos[i] = static_cast<llama_pos>(p);
            batch_.n_seq_id[i] = 1;
            batch_.seq_id[i][0] = 0;
            batch_.logits[i] = p < n_probe;
        }
    }

    Context & context_;
    const size_t n_vocab_;
    llama_batch batch_;
};

}  // namespace

uint32_t find_exact_rows(Context & context, uint32_t most) {
    most = std::min({ most, context.n_ubatch(), context.n_ctx_seq() });
    Probe probe(context);
    const auto reference = probe.logits(1);
    const auto equal = [&](uint32_t width) {
        const auto logits = probe.logits(width);
        return std::memcmp(logits.data(), reference.data(), reference.size() * sizeof(float)) == 0;
    };
    uint32_t good = 1;
    uint32_t bad = 0;
    for (uint32_t width = 2; width <= most && bad == 0; width = width < most ? std::min(2 * width, most) : most + 1) {
        (equal(width) ? good : bad) = width;
    }
    while (bad > good + 1) {
        const uint32_t middle = good + (bad - good) / 2;
        (equal(middle) ? good : bad) = middle;
    }
    return good;
}

}  // namespace llamaint
