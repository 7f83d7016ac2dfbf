#include "context_options.h"

#include "choice.h"
#include "devices.h"
#include "error.h"
#include "limits.h"
#include "log.h"
#include "machine.h"

#include <algorithm>
#include <cmath>
#include <thread>

namespace llamaint {

namespace {

constexpr int32_t max_threads = 512;              // GGML_MAX_N_THREADS
constexpr uint32_t max_batch = 1u << 20;          // tokens of one decode
constexpr uint32_t max_cells = (1u << 31) - 256;  // positions are int32
constexpr uint32_t cell_multiple = 256;           // llama.cpp pads n_ctx to this

ggml_type cache_type(const char * field, const std::string & name) {
    return choose<ggml_type>(field, name,
                             { { "f32", GGML_TYPE_F32 },
                               { "f16", GGML_TYPE_F16 },
                               { "bf16", GGML_TYPE_BF16 },
                               { "q8_0", GGML_TYPE_Q8_0 },
                               { "q4_0", GGML_TYPE_Q4_0 },
                               { "q4_1", GGML_TYPE_Q4_1 },
                               { "iq4_nl", GGML_TYPE_IQ4_NL },
                               { "q5_0", GGML_TYPE_Q5_0 },
                               { "q5_1", GGML_TYPE_Q5_1 } });
}

llama_flash_attn_type flash_attention(const std::string & name) {
    return choose<llama_flash_attn_type>("flash_attn", name,
                                         { { "auto", LLAMA_FLASH_ATTN_TYPE_AUTO },
                                           { "on", LLAMA_FLASH_ATTN_TYPE_ENABLED },
                                           { "off", LLAMA_FLASH_ATTN_TYPE_DISABLED } });
}

[[noreturn]] void refuse(const char * field, double value, const std::string & why) {
    std::string text = std::to_string(value);
    if (value == std::floor(value) && std::abs(value) < 1e15) {
        text = std::to_string(static_cast<int64_t>(value));
    }
    throw Error(ErrorCode::config, std::string(field) + "=" + text + ": " + why, { { field, value } });
}

void check_range(const char * field, double value, double low, double high) {
    if (!(value >= low && value <= high)) {
        refuse(field, value,
               "must be from " + std::to_string(static_cast<int64_t>(low)) + " to " +
                   std::to_string(static_cast<int64_t>(high)));
    }
}

void check_finite(const char * field, float value, bool negative_ok) {
    if (!std::isfinite(value) || (!negative_ok && value < 0)) {
        refuse(field, value, negative_ok ? "must be finite" : "must be finite and not negative");
    }
}

double element_bytes(ggml_type type) {
    return double(ggml_type_size(type)) / double(ggml_blck_size(type));
}

double metadata_number(const Model & model, const std::string & suffix, double otherwise) {
    const auto text = model.metadata_value(model.arch() + suffix);
    return text && !text->empty() ? std::strtod(text->c_str(), nullptr) : otherwise;
}

// Threads beyond the processors take turns on them and wait for each other at every node of the graph.
int32_t capped_threads(const char * field, int32_t n_threads) {
    const int32_t n_processors = std::max(1, static_cast<int32_t>(std::thread::hardware_concurrency()));
    if (n_threads > n_processors) {
        log::write(log::warning, std::string(field) + "=" + std::to_string(n_threads) + ", but the machine has " +
                                     std::to_string(n_processors) + " processors; it is set to that");
    }
    return std::min(n_threads, n_processors);
}

// A cache that main memory cannot hold would end the process when it is first written to. Where the
// size is only bounded (windows, recurrent layers) or memory is elsewhere, llama.cpp has to find out.
void check_cache_fits(const Model & model, const ContextParams & params) {
    const bool size_known = llama_model_n_swa(model.handle()) == 0 && !llama_model_is_hybrid(model.handle());
    const double wanted = cache_bytes_per_token(model, params) * double(params.n_ctx);
    const double available = double(available_memory_bytes());
    if (size_known && !has_gpu() && available > 0 && wanted > available) {
        const auto mib = [](double bytes) { return std::to_string(static_cast<int64_t>(bytes / (1 << 20))); };
        throw Error(ErrorCode::capacity,
                    "a cache of " + std::to_string(params.n_ctx) + " tokens takes " + mib(wanted) + " MiB; " +
                        mib(available) + " MiB of memory are free",
                    { { "n_ctx", double(params.n_ctx) }, { "bytes", wanted }, { "available_bytes", available } });
    }
}

uint32_t default_n_ctx(const Model & model, const ContextParams & params) {
    const uint32_t trained = static_cast<uint32_t>(std::max(llama_model_n_ctx_train(model.handle()), 0));
    if (trained == 0) {
        throw Error(ErrorCode::config, "n_ctx=0, but the model does not say how long its window is; give n_ctx");
    }
    const double per_token = cache_bytes_per_token(model, params);
    const double available = double(available_memory_bytes());
    if (per_token <= 0 || available <= 0) {
        return trained;
    }
    const double fits = available / 2 / per_token;
    const double cells = std::min(double(trained), std::floor(fits / cell_multiple) * cell_multiple);
    return static_cast<uint32_t>(std::max(cells, double(std::min(trained, cell_multiple))));
}

}  // namespace

double cache_bytes_per_token(const Model & model, const ContextParams & params) {
    if (llama_model_is_recurrent(model.handle()) || !llama_model_has_decoder(model.handle())) {
        return 0;
    }
    const double n_head = llama_model_n_head(model.handle());
    // Models with a count per layer give an array; the number of query heads is their upper bound.
    const double n_head_kv = metadata_number(model, ".attention.head_count_kv", n_head);
    const double head = n_head > 0 ? llama_model_n_embd(model.handle()) / n_head : 0;
    const double per_layer =
        n_head_kv *
        (metadata_number(model, ".attention.key_length", head) * element_bytes(cache_type("type_k", params.type_k)) +
         metadata_number(model, ".attention.value_length", head) * element_bytes(cache_type("type_v", params.type_v)));
    return per_layer * llama_model_n_layer(model.handle());
}

uint32_t n_positions(const Model & model) {
    for (const char * arch : { "bert", "gpt2", "mpt", "starcoder" }) {
        if (model.arch() == arch) {
            return static_cast<uint32_t>(std::max(llama_model_n_ctx_train(model.handle()), 0));
        }
    }
    return UINT32_MAX;
}

ContextParams resolve(const Model & model, const ContextParams & params) {
    if (model.vocab_only()) {
        throw Error(ErrorCode::config, "the model was loaded with vocab_only: it has no weights to run");
    }
    ContextParams r = params;
    check_range("n_seq_max", r.n_seq_max, 1, double(limits::max_sequences));
    check_range("n_batch", r.n_batch, 1, max_batch);
    check_range("n_ubatch", r.n_ubatch, 1, max_batch);
    check_range("n_ctx", r.n_ctx, 0, max_cells);
    check_range("n_threads", r.n_threads, 0, max_threads);
    check_range("n_threads_batch", r.n_threads_batch, 0, max_threads);
    check_finite("rope_freq_base", r.rope_freq_base, false);
    check_finite("rope_freq_scale", r.rope_freq_scale, false);
    check_finite("yarn_ext_factor", r.yarn_ext_factor, true);
    check_finite("yarn_attn_factor", r.yarn_attn_factor, true);
    check_finite("yarn_beta_fast", r.yarn_beta_fast, true);
    check_finite("yarn_beta_slow", r.yarn_beta_slow, true);

    const bool quantised_v = ggml_is_quantized(cache_type("type_v", r.type_v));
    if (quantised_v && flash_attention(r.flash_attn) == LLAMA_FLASH_ATTN_TYPE_DISABLED) {
        throw Error(ErrorCode::config, "type_v=\"" + r.type_v + "\" needs flash attention, but flash_attn=\"off\"");
    }
    if (r.n_threads == 0) {
        r.n_threads = std::min(usable_cores(), max_threads);
    }
    r.n_threads = capped_threads("n_threads", r.n_threads);
    if (r.n_threads_batch == 0) {
        r.n_threads_batch = r.n_threads;
    }
    r.n_threads_batch = capped_threads("n_threads_batch", r.n_threads_batch);
    if (r.n_ctx == 0) {
        r.n_ctx = default_n_ctx(model, r);
    }
    r.n_ctx = (r.n_ctx + cell_multiple - 1) / cell_multiple * cell_multiple;
    check_cache_fits(model, r);
    r.n_batch = std::min(r.n_batch, r.n_ctx);
    if (r.n_batch < r.n_seq_max) {
        refuse("n_batch", r.n_batch,
               "smaller than n_seq_max=" + std::to_string(r.n_seq_max) + ": each sequence needs a place in a batch");
    }
    r.n_ubatch = std::min(r.n_ubatch, r.n_batch);
    return r;
}

llama_context_params native_params(const ContextParams & params) {
    llama_context_params native = llama_context_default_params();
    native.n_ctx = params.n_ctx;
    native.n_batch = params.n_batch;
    native.n_ubatch = params.n_ubatch;
    native.n_seq_max = params.n_seq_max;
    // Rows of logits one decode may ask for. 64 lets a self-test and a draft's verification ask for
    // several rows per sequence; embeddings ask for every row.
    native.n_outputs_max =
        params.embeddings ? params.n_batch : std::min(params.n_batch, std::max(params.n_seq_max, 64u));
    native.n_outputs_max_per_seq = native.n_outputs_max;
    native.n_threads = params.n_threads;
    native.n_threads_batch = params.n_threads_batch;
    native.rope_scaling_type = choose<llama_rope_scaling_type>("rope_scaling", params.rope_scaling,
                                                               { { "auto", LLAMA_ROPE_SCALING_TYPE_UNSPECIFIED },
                                                                 { "none", LLAMA_ROPE_SCALING_TYPE_NONE },
                                                                 { "linear", LLAMA_ROPE_SCALING_TYPE_LINEAR },
                                                                 { "yarn", LLAMA_ROPE_SCALING_TYPE_YARN },
                                                                 { "longrope", LLAMA_ROPE_SCALING_TYPE_LONGROPE } });
    native.pooling_type = choose<enum llama_pooling_type>("pooling", params.pooling,
                                                          { { "auto", LLAMA_POOLING_TYPE_UNSPECIFIED },
                                                            { "none", LLAMA_POOLING_TYPE_NONE },
                                                            { "mean", LLAMA_POOLING_TYPE_MEAN },
                                                            { "cls", LLAMA_POOLING_TYPE_CLS },
                                                            { "last", LLAMA_POOLING_TYPE_LAST },
                                                            { "rank", LLAMA_POOLING_TYPE_RANK } });
    native.attention_type = choose<llama_attention_type>("attention", params.attention,
                                                         { { "auto", LLAMA_ATTENTION_TYPE_UNSPECIFIED },
                                                           { "causal", LLAMA_ATTENTION_TYPE_CAUSAL },
                                                           { "non_causal", LLAMA_ATTENTION_TYPE_NON_CAUSAL } });
    native.flash_attn_type = flash_attention(params.flash_attn);
    native.rope_freq_base = params.rope_freq_base;
    native.rope_freq_scale = params.rope_freq_scale;
    native.yarn_ext_factor = params.yarn_ext_factor;
    native.yarn_attn_factor = params.yarn_attn_factor;
    native.yarn_beta_fast = params.yarn_beta_fast;
    native.yarn_beta_slow = params.yarn_beta_slow;
    native.yarn_orig_ctx = params.yarn_orig_ctx;
    native.type_k = cache_type("type_k", params.type_k);
    native.type_v = cache_type("type_v", params.type_v);
    native.embeddings = params.embeddings;
    native.offload_kqv = params.offload_kqv;
    native.op_offload = params.op_offload;
    native.swa_full = params.swa_full;
    native.kv_unified = params.kv_unified;
    native.no_perf = params.no_perf;
    return native;
}

}  // namespace llamaint
