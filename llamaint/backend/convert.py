"""Our parameter objects to the keyword arguments of the native ones. Pure."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from llamaint.backend.requests import ChatOptions
    from llamaint.types import ContextParams, EmbeddingParams, ModelParams, SamplingParams

_GPU_LAYERS = {"auto": -1, "all": -2}
RANDOM_SEED = 2**32 - 1  # LLAMA_DEFAULT_SEED: the engine draws a fresh one
# Settings of the engine around the native context, not of the context.
_ENGINE_FIELDS = ("n_parallel", "n_cache_slots", "prefix_cache", "deterministic", "max_queue")


def _fields(params: object) -> dict[str, Any]:
    return {field.name: getattr(params, field.name) for field in fields(params)}  # type: ignore[arg-type]


def model_fields(params: ModelParams) -> dict[str, Any]:
    """For ``_native.ModelParams``."""
    result = _fields(params)
    if isinstance(params.n_gpu_layers, str):
        result["n_gpu_layers"] = _GPU_LAYERS[params.n_gpu_layers]
    result["tensor_split"] = [float(share) for share in params.tensor_split]
    result["devices"] = list(params.devices)
    result["tensor_buft_overrides"] = list(params.tensor_buft_overrides.items())
    result["kv_overrides"] = dict(params.kv_overrides)
    return result


def context_fields(params: ContextParams) -> dict[str, Any]:
    """For ``_native.ContextParams``; the native engine chooses the number of sequences."""
    result = _fields(params)
    for name in _ENGINE_FIELDS:
        del result[name]
    result["n_threads"] = _threads(params.n_threads)
    result["n_threads_batch"] = params.n_threads_batch or 0
    return result


def engine_fields(params: ContextParams) -> dict[str, Any]:
    """For ``_native.EngineParams``, its context excepted."""
    result = {name: getattr(params, name) for name in _ENGINE_FIELDS}
    result["n_cache_slots"] = -1 if params.n_cache_slots is None else params.n_cache_slots
    result["adaptive_threads"] = params.n_threads == "auto"
    return result


def embed_context_fields(params: EmbeddingParams) -> dict[str, Any]:
    """For the ``_native.ContextParams`` of an embedding engine."""
    return {
        "n_ctx": params.n_ctx,
        "n_ubatch": params.n_ubatch,
        "n_threads": _threads(params.n_threads),
        "flash_attn": params.flash_attn,
    }


def embed_fields(params: EmbeddingParams) -> dict[str, Any]:
    """For ``_native.EmbedParams``, its context excepted."""
    return {"pooling": params.pooling, "pack_tokens": params.pack_tokens or 0}


def sampling_fields(params: SamplingParams) -> dict[str, Any]:
    """For ``_native.SamplingParams``; grammars travel beside it, compiled."""
    result = _fields(params)
    del result["grammar"], result["json_schema"]
    result["mirostat"] = result.pop("mirostat_mode")
    result["seed"] = RANDOM_SEED if params.seed is None else params.seed
    result["logit_bias"] = [(int(token), float(bias)) for token, bias in params.logit_bias.items()]
    result["dry_sequence_breakers"] = list(params.dry_sequence_breakers)
    if params.samplers is None:
        del result["samplers"]  # the native default is the default order
    else:
        result["samplers"] = list(params.samplers)
    return result


def chat_fields(options: ChatOptions) -> dict[str, Any]:
    """For ``_native.ChatOptions``."""
    return {**_fields(options), "template_kwargs": dict(options.template_kwargs)}


def _threads(n_threads: int | str) -> int:
    return n_threads if isinstance(n_threads, int) else 0
