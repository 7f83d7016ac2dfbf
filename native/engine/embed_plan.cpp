#include "embed_plan.h"

#include "core/context_options.h"
#include "core/devices.h"
#include "core/error.h"

#include <algorithm>

namespace llamaint {

namespace {

// Measured with `python -m benchmarks.embedding packing` (docs/dev/embeddings.md has the figures).
constexpr uint32_t default_pack_tokens = 128;

// Each worker has a context of its own; beyond this many a worker gets more threads instead.
constexpr uint32_t max_workers = 8;

bool is_causal(const Model & model, const ContextParams & context) {
    if (context.attention != "auto") {
        return context.attention == "causal";
    }
    if (llama_model_has_encoder(model.handle()) || llama_model_is_diffusion(model.handle())) {
        return false;
    }
    const std::string said = model.metadata_value(model.arch() + ".attention.causal").value_or("");
    return said.empty() ? model.arch().find("bert") == std::string::npos && model.arch() != "gemma-embedding"
                        : said == "true";
}

}  // namespace

EmbedPlan plan_embedding(const Model & model, const ContextParams & params, uint32_t pack_tokens, uint32_t n_workers) {
    if (model.vocab_only()) {
        throw Error(ErrorCode::unsupported, "the model was loaded with vocab_only: it cannot embed");
    }
    EmbedPlan plan{};
    plan.causal = is_causal(model, params);
    plan.adaptive = params.n_threads == 0;
    ContextParams base = params;
    base.embeddings = true;
    base.pooling = "none";
    base.kv_unified = true;
    base.n_seq_max = 1;
    base.n_batch = std::max({ base.n_batch, base.n_ubatch, pack_tokens });

    const auto trained = static_cast<uint32_t>(std::max(llama_model_n_ctx_train(model.handle()), 0));
    if (params.n_ctx > n_positions(model)) {
        throw Error(
            ErrorCode::config,
            "n_ctx=" + std::to_string(params.n_ctx) + ", but the model (" + model.arch() +
                ") knows no position beyond " + std::to_string(trained),
            { { "n_ctx", static_cast<double>(params.n_ctx) }, { "n_ctx_train", static_cast<double>(trained) } });
    }
    plan.context = resolve(model, base);
    plan.max_tokens = params.n_ctx > 0 ? params.n_ctx : std::min(plan.context.n_ctx, trained);
    plan.pack_tokens = pack_tokens;
    if (pack_tokens == 0) {
        plan.pack_tokens = plan.causal ? plan.context.n_ubatch : std::min(default_pack_tokens, plan.context.n_ubatch);
    }
    // One thread per worker: threads that share a decode wait for each other at every node of its graph.
    const auto n_threads = static_cast<uint32_t>(plan.context.n_threads);
    plan.n_workers = std::min(n_threads, n_workers > 0 ? n_workers : plan.causal || has_gpu() ? 1 : max_workers);
    plan.n_threads = static_cast<int32_t>(n_threads / plan.n_workers);
    return plan;
}

}  // namespace llamaint
