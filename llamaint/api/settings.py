"""The keywords of loading. Names without defaults: those stand in the dataclasses of `llamaint.types`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypedDict

if TYPE_CHECKING:
    from llamaint.types import KvOverride
    from llamaint.types.params import CacheType, FlashAttention, LoadMode, Pooling, RopeScaling, SplitMode


class ModelSettings(TypedDict, total=False):
    """Every field of `ModelParams`, and what reports the load."""

    n_gpu_layers: int | Literal["auto", "all"]
    split_mode: SplitMode
    main_gpu: int
    tensor_split: Sequence[float]
    devices: Sequence[str]
    load_mode: LoadMode
    vocab_only: bool
    check_tensors: bool
    use_extra_bufts: bool
    no_host: bool
    load_mtp: bool
    cpu_moe: bool
    n_cpu_moe: int
    tensor_buft_overrides: Mapping[str, str]
    kv_overrides: Mapping[str, KvOverride]
    progress: Callable[[str, float], None] | None


class LoadSettings(ModelSettings, total=False):
    """Keywords of `Llama`: these, every field of `ContextParams`, and the template."""

    n_ctx: int
    n_batch: int
    n_ubatch: int
    n_parallel: int
    n_threads: int | Literal["auto"]
    n_threads_batch: int | None
    flash_attn: FlashAttention
    type_k: CacheType
    type_v: CacheType
    offload_kqv: bool
    op_offload: bool
    swa_full: bool
    kv_unified: bool
    rope_scaling: RopeScaling
    rope_freq_base: float
    rope_freq_scale: float
    yarn_ext_factor: float
    yarn_attn_factor: float
    yarn_beta_fast: float
    yarn_beta_slow: float
    yarn_orig_ctx: int
    prefix_cache: bool
    n_cache_slots: int | None
    deterministic: bool
    max_queue: int
    no_perf: bool
    chat_template: str | None


class EmbeddingSettings(ModelSettings, total=False):
    """Keywords of `LlamaEmbedding`: these, and every field of `EmbeddingParams`."""

    n_ctx: int
    n_ubatch: int
    pooling: Pooling
    pack_tokens: int | None
    n_threads: int | Literal["auto"]
    flash_attn: FlashAttention
