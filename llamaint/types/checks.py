"""What each setting may be. One rule per field; a value that breaks it is named in the error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

from llamaint.errors import ConfigError, LlamaintError, RequestError
from llamaint.types.params import (
    CacheType,
    ContextParams,
    EmbeddingParams,
    FlashAttention,
    LoadMode,
    ModelParams,
    Pooling,
    RopeScaling,
    SamplingParams,
    SplitMode,
)
from llamaint.types.rules import (
    INT32_MAX,
    Rule,
    choice,
    each,
    flag,
    integer,
    kv_overrides,
    logit_bias,
    number,
    optional,
    schema,
    text,
    text_map,
)

_Params = ModelParams | ContextParams | EmbeddingParams | SamplingParams

MAX_SEQUENCES = 256  # LLAMA_MAX_SEQ
MAX_THREADS = 512  # GGML_MAX_N_THREADS
MAX_SEED = 2**32 - 2  # the next one is llama.cpp's mark for a random seed
_ROPE = ("rope_freq_base", "rope_freq_scale", "yarn_ext_factor", "yarn_attn_factor")
_YARN = ("yarn_beta_fast", "yarn_beta_slow")
SAMPLERS = (
    "penalties",
    "dry",
    "top_n_sigma",
    "top_k",
    "typ_p",
    "top_p",
    "min_p",
    "xtc",
    "temperature",
    "infill",
    "adaptive_p",
)


MODEL_RULES: Mapping[str, Rule] = {
    "n_gpu_layers": integer(0, names=("auto", "all")),
    "split_mode": choice(SplitMode),
    "main_gpu": integer(0),
    "tensor_split": each(number(0), "numbers that are not negative"),
    "devices": each(text, "device names"),
    "load_mode": choice(LoadMode),
    **dict.fromkeys(("vocab_only", "check_tensors", "use_extra_bufts", "no_host", "load_mtp", "cpu_moe"), flag),
    "n_cpu_moe": integer(0),
    "tensor_buft_overrides": text_map,
    "kv_overrides": kv_overrides,
}

CONTEXT_RULES: Mapping[str, Rule] = {
    "n_ctx": integer(0),
    "n_batch": integer(1),
    "n_ubatch": integer(1),
    "n_parallel": integer(1, MAX_SEQUENCES),
    "n_threads": integer(1, MAX_THREADS, names=("auto",)),
    "n_threads_batch": optional(integer(1, MAX_THREADS)),
    "flash_attn": choice(FlashAttention),
    "type_k": choice(CacheType),
    "type_v": choice(CacheType),
    "rope_scaling": choice(RopeScaling),
    **dict.fromkeys((*_ROPE, *_YARN), number()),
    "yarn_orig_ctx": integer(0),
    "n_cache_slots": optional(integer(0, MAX_SEQUENCES - 1)),
    "max_queue": integer(1),
    **dict.fromkeys(
        ("offload_kqv", "op_offload", "swa_full", "kv_unified", "prefix_cache", "deterministic", "no_perf"), flag
    ),
}

EMBEDDING_RULES: Mapping[str, Rule] = {
    "n_ctx": integer(0),
    "n_ubatch": integer(1),
    "pooling": choice(Pooling),
    "pack_tokens": optional(integer(1)),
    "n_threads": integer(1, MAX_THREADS, names=("auto",)),
    "flash_attn": choice(FlashAttention),
}

SAMPLING_RULES: Mapping[str, Rule] = {
    "seed": optional(integer(0, MAX_SEED)),
    "temperature": number(0),
    "dynatemp_range": number(0),
    "dynatemp_exponent": number(0),
    "top_k": integer(),
    "top_p": number(0, 1),
    "min_p": number(0, 1),
    "typical_p": number(0, 1),
    "top_n_sigma": number(),
    "xtc_probability": number(0, 1),
    "xtc_threshold": number(0, 1),
    "min_keep": integer(0),
    "penalty_last_n": integer(-1),
    "repeat_penalty": number(1e-6),
    "frequency_penalty": number(),
    "presence_penalty": number(),
    "dry_multiplier": number(0),
    "dry_base": number(1),
    "dry_allowed_length": integer(0),
    "dry_penalty_last_n": integer(-1),
    "dry_sequence_breakers": each(text, "texts that are not empty"),
    "mirostat_mode": integer(0, 2),
    "mirostat_tau": number(0),
    "mirostat_eta": number(0),
    "adaptive_target": number(-INT32_MAX, 1),
    "adaptive_decay": number(0, 0.99),
    "ignore_eos": flag,
    "logit_bias": logit_bias,
    "samplers": optional(each(lambda name: None if name in SAMPLERS else "", f"names among {', '.join(SAMPLERS)}")),
    "grammar": optional(text),
    "json_schema": optional(schema),
}


def _check(
    params: ModelParams | ContextParams | EmbeddingParams | SamplingParams,
    rules: Mapping[str, Rule],
    error: type[LlamaintError],
) -> None:
    for field in fields(params):
        value = getattr(params, field.name)
        must = rules[field.name](value)
        if must is not None:
            raise error(f"{field.name} must be {must}; it is {value!r}")


def check_model(params: ModelParams) -> None:
    """Raises ConfigError naming the first field that cannot work."""
    _check(params, MODEL_RULES, ConfigError)


def check_context(params: ContextParams) -> None:
    """Raises ConfigError naming the first field that cannot work."""
    _check(params, CONTEXT_RULES, ConfigError)
    if params.flash_attn == "off" and params.type_v not in ("f32", "f16", "bf16"):
        raise ConfigError(f"type_v={params.type_v!r} needs flash attention; flash_attn is 'off'")
    slots = params.n_parallel if params.n_cache_slots is None else params.n_cache_slots
    if params.n_cache_slots is not None and params.n_parallel + slots > MAX_SEQUENCES:
        raise ConfigError(
            f"n_parallel={params.n_parallel} and n_cache_slots={slots} are together more than"
            f" the {MAX_SEQUENCES} sequences llama.cpp can hold",
            n_sequences=params.n_parallel + slots,
            max_sequences=MAX_SEQUENCES,
        )


def check_embedding(params: EmbeddingParams) -> None:
    """Raises ConfigError naming the first field that cannot work."""
    _check(params, EMBEDDING_RULES, ConfigError)


def check_sampling(params: SamplingParams) -> None:
    """Raises RequestError naming the first field that cannot work."""
    _check(params, SAMPLING_RULES, RequestError)
    if params.grammar is not None and params.json_schema is not None:
        raise RequestError("grammar and json_schema exclude each other; both are set")
