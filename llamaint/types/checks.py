"""What each setting may be. One rule per field; a value that breaks it is named in the error."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from numbers import Integral, Real
from typing import Any, get_args

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

# Returns what the value must be, or None when it is.
Rule = Callable[[Any], "str | None"]

MAX_SEQUENCES = 256  # LLAMA_MAX_SEQ
MAX_SEED = 2**32 - 2  # the next one is llama.cpp's mark for a random seed
_MAX_OVERRIDE_BYTES = 127
_INT32 = 2**31 - 1
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


def _integer(low: int = -_INT32, high: int = _INT32, *, names: Sequence[str] = ()) -> Rule:
    span = f"an integer from {low} to {high}"
    must = " or ".join([*map(repr, names), span])

    def rule(value: Any) -> str | None:
        if isinstance(value, str) and value in names:
            return None
        whole = isinstance(value, Integral) and not isinstance(value, bool)
        return None if whole and low <= int(value) <= high else must

    return rule


def _number(low: float = -math.inf, high: float = math.inf) -> Rule:
    bounds = [f"at least {low:g}"] * (low > -math.inf) + [f"at most {high:g}"] * (high < math.inf)
    must = " and ".join(["a finite number", *bounds])

    def rule(value: Any) -> str | None:
        real = isinstance(value, Real) and not isinstance(value, bool)
        return None if real and math.isfinite(value) and low <= value <= high else must

    return rule


def _choice(literal: Any) -> Rule:
    names = get_args(literal)
    must = "one of " + ", ".join(map(repr, names))
    return lambda value: None if isinstance(value, str) and value in names else must


def _flag(value: Any) -> str | None:
    return None if isinstance(value, bool) else "True or False"


def _optional(rule: Rule) -> Rule:
    def optional(value: Any) -> str | None:
        must = None if value is None else rule(value)
        return f"None or {must}" if must is not None else None

    return optional


def _each(rule: Rule, what: str) -> Rule:
    def every(value: Any) -> str | None:
        if isinstance(value, str) or not isinstance(value, Iterable):
            return f"a sequence of {what}"
        return next((f"a sequence of {what}" for item in value if rule(item) is not None), None)

    return every


def _text(value: Any) -> str | None:
    return None if isinstance(value, str) and value else "a text that is not empty"


def _overrides(value: Any) -> str | None:
    if not isinstance(value, Mapping):
        return "a mapping of metadata keys to bool, int, float or str"
    for key, item in value.items():
        if not isinstance(key, str) or not isinstance(item, (bool, int, float, str)):
            return "a mapping of metadata keys to bool, int, float or str"
        if any(len(s.encode()) > _MAX_OVERRIDE_BYTES for s in (key, item) if isinstance(s, str)):
            return f"made of keys and texts of at most {_MAX_OVERRIDE_BYTES} bytes"
    return None


def _text_map(value: Any) -> str | None:
    texts = isinstance(value, Mapping) and all(
        isinstance(key, str) and isinstance(item, str) for key, item in value.items()
    )
    return None if texts else "a mapping of text to text"


def _logit_bias(value: Any) -> str | None:
    token, bias = _integer(0), _number()
    good = isinstance(value, Mapping) and all(
        token(key) is None and (bias(item) is None or item == -math.inf) for key, item in value.items()
    )
    return None if good else "a mapping of token ids to finite numbers or -inf"


def _schema(value: Any) -> str | None:
    return None if isinstance(value, (str, Mapping)) else "a JSON schema as mapping or text"


MODEL_RULES: Mapping[str, Rule] = {
    "n_gpu_layers": _integer(0, names=("auto", "all")),
    "split_mode": _choice(SplitMode),
    "main_gpu": _integer(0),
    "tensor_split": _each(_number(0), "numbers that are not negative"),
    "devices": _each(_text, "device names"),
    "load_mode": _choice(LoadMode),
    **dict.fromkeys(("vocab_only", "check_tensors", "use_extra_bufts", "no_host", "load_mtp", "cpu_moe"), _flag),
    "n_cpu_moe": _integer(0),
    "tensor_buft_overrides": _text_map,
    "kv_overrides": _overrides,
}

CONTEXT_RULES: Mapping[str, Rule] = {
    "n_ctx": _integer(0),
    "n_batch": _integer(1),
    "n_ubatch": _integer(1),
    "n_parallel": _integer(1, MAX_SEQUENCES),
    "n_threads": _integer(1, 512, names=("auto",)),
    "n_threads_batch": _optional(_integer(1, 512)),
    "flash_attn": _choice(FlashAttention),
    "type_k": _choice(CacheType),
    "type_v": _choice(CacheType),
    "rope_scaling": _choice(RopeScaling),
    **dict.fromkeys((*_ROPE, *_YARN), _number()),
    "yarn_orig_ctx": _integer(0),
    "n_cache_slots": _optional(_integer(0, MAX_SEQUENCES - 1)),
    "max_queue": _integer(1),
    **dict.fromkeys(("offload_kqv", "op_offload", "swa_full", "prefix_cache", "deterministic", "no_perf"), _flag),
}

EMBEDDING_RULES: Mapping[str, Rule] = {
    "n_ctx": _integer(0),
    "n_ubatch": _integer(1),
    "pooling": _choice(Pooling),
    "pack_tokens": _optional(_integer(1)),
    "n_threads": _integer(1, 512, names=("auto",)),
    "flash_attn": _choice(FlashAttention),
}

SAMPLING_RULES: Mapping[str, Rule] = {
    "seed": _optional(_integer(0, MAX_SEED)),
    "temperature": _number(0),
    "dynatemp_range": _number(0),
    "dynatemp_exponent": _number(0),
    "top_k": _integer(),
    "top_p": _number(0, 1),
    "min_p": _number(0, 1),
    "typical_p": _number(0, 1),
    "top_n_sigma": _number(),
    "xtc_probability": _number(0, 1),
    "xtc_threshold": _number(0, 1),
    "min_keep": _integer(0),
    "penalty_last_n": _integer(-1),
    "repeat_penalty": _number(1e-6),
    "frequency_penalty": _number(),
    "presence_penalty": _number(),
    "dry_multiplier": _number(0),
    "dry_base": _number(1),
    "dry_allowed_length": _integer(0),
    "dry_penalty_last_n": _integer(-1),
    "dry_sequence_breakers": _each(_text, "texts that are not empty"),
    "mirostat_mode": _integer(0, 2),
    "mirostat_tau": _number(0),
    "mirostat_eta": _number(0),
    "adaptive_target": _number(-_INT32, 1),
    "adaptive_decay": _number(0, 0.99),
    "ignore_eos": _flag,
    "logit_bias": _logit_bias,
    "samplers": _optional(_each(lambda name: None if name in SAMPLERS else "", f"names among {', '.join(SAMPLERS)}")),
    "grammar": _optional(_text),
    "json_schema": _optional(_schema),
}


def _check(params: Any, rules: Mapping[str, Rule], error: type[LlamaintError]) -> None:
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
