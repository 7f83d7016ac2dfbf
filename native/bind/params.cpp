#include "params.h"

#include "core/context.h"
#include "core/model.h"
#include "core/sampler.h"
#include "module.h"

namespace llamaint::bind {

namespace {

void register_model_params(py::module_ & m) {
    Params<ModelParams>(m, "ModelParams", "How weights are loaded and where they live; core/model.h.")
        .field("n_gpu_layers", &ModelParams::n_gpu_layers)
        .field("split_mode", &ModelParams::split_mode)
        .field("main_gpu", &ModelParams::main_gpu)
        .field("tensor_split", &ModelParams::tensor_split)
        .field("devices", &ModelParams::devices)
        .field("load_mode", &ModelParams::load_mode)
        .field("vocab_only", &ModelParams::vocab_only)
        .field("check_tensors", &ModelParams::check_tensors)
        .field("use_extra_bufts", &ModelParams::use_extra_bufts)
        .field("no_host", &ModelParams::no_host)
        .field("load_mtp", &ModelParams::load_mtp)
        .field("cpu_moe", &ModelParams::cpu_moe)
        .field("n_cpu_moe", &ModelParams::n_cpu_moe)
        .field("tensor_buft_overrides", &ModelParams::tensor_buft_overrides)
        .field("kv_overrides", &ModelParams::kv_overrides);
}

void register_context_params(py::module_ & m) {
    Params<ContextParams>(m, "ContextParams", "The memory, batching and threads of a context; core/context.h.")
        .field("n_ctx", &ContextParams::n_ctx)
        .field("n_batch", &ContextParams::n_batch)
        .field("n_ubatch", &ContextParams::n_ubatch)
        .field("n_seq_max", &ContextParams::n_seq_max)
        .field("n_threads", &ContextParams::n_threads)
        .field("n_threads_batch", &ContextParams::n_threads_batch)
        .field("pooling", &ContextParams::pooling)
        .field("attention", &ContextParams::attention)
        .field("flash_attn", &ContextParams::flash_attn)
        .field("type_k", &ContextParams::type_k)
        .field("type_v", &ContextParams::type_v)
        .field("rope_scaling", &ContextParams::rope_scaling)
        .field("rope_freq_base", &ContextParams::rope_freq_base)
        .field("rope_freq_scale", &ContextParams::rope_freq_scale)
        .field("yarn_ext_factor", &ContextParams::yarn_ext_factor)
        .field("yarn_attn_factor", &ContextParams::yarn_attn_factor)
        .field("yarn_beta_fast", &ContextParams::yarn_beta_fast)
        .field("yarn_beta_slow", &ContextParams::yarn_beta_slow)
        .field("yarn_orig_ctx", &ContextParams::yarn_orig_ctx)
        .field("embeddings", &ContextParams::embeddings)
        .field("offload_kqv", &ContextParams::offload_kqv)
        .field("op_offload", &ContextParams::op_offload)
        .field("swa_full", &ContextParams::swa_full)
        .field("kv_unified", &ContextParams::kv_unified)
        .field("no_perf", &ContextParams::no_perf);
}

void register_sampling_params(py::module_ & m) {
    Params<SamplingParams>(m, "SamplingParams", "How the next token is chosen; core/sampler.h.")
        .field("seed", &SamplingParams::seed)
        .field("temperature", &SamplingParams::temperature)
        .field("dynatemp_range", &SamplingParams::dynatemp_range)
        .field("dynatemp_exponent", &SamplingParams::dynatemp_exponent)
        .field("top_k", &SamplingParams::top_k)
        .field("top_p", &SamplingParams::top_p)
        .field("min_p", &SamplingParams::min_p)
        .field("typical_p", &SamplingParams::typical_p)
        .field("top_n_sigma", &SamplingParams::top_n_sigma)
        .field("xtc_probability", &SamplingParams::xtc_probability)
        .field("xtc_threshold", &SamplingParams::xtc_threshold)
        .field("min_keep", &SamplingParams::min_keep)
        .field("penalty_last_n", &SamplingParams::penalty_last_n)
        .field("repeat_penalty", &SamplingParams::repeat_penalty)
        .field("frequency_penalty", &SamplingParams::frequency_penalty)
        .field("presence_penalty", &SamplingParams::presence_penalty)
        .field("dry_multiplier", &SamplingParams::dry_multiplier)
        .field("dry_base", &SamplingParams::dry_base)
        .field("dry_allowed_length", &SamplingParams::dry_allowed_length)
        .field("dry_penalty_last_n", &SamplingParams::dry_penalty_last_n)
        .field("dry_sequence_breakers", &SamplingParams::dry_sequence_breakers)
        .field("mirostat", &SamplingParams::mirostat)
        .field("mirostat_tau", &SamplingParams::mirostat_tau)
        .field("mirostat_eta", &SamplingParams::mirostat_eta)
        .field("adaptive_target", &SamplingParams::adaptive_target)
        .field("adaptive_decay", &SamplingParams::adaptive_decay)
        .field("ignore_eos", &SamplingParams::ignore_eos)
        .field("logit_bias", &SamplingParams::logit_bias)
        .field("samplers", &SamplingParams::samplers);
}

}  // namespace

void register_params(py::module_ & m) {
    register_model_params(m);
    register_context_params(m);
    register_sampling_params(m);
}

}  // namespace llamaint::bind
