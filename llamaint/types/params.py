"""Settings of models, contexts and sampling. Names and meanings follow llama.cpp's common/common.h."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

KvOverride = bool | int | float | str
LoadMode = Literal["auto", "none", "mmap", "mlock", "mmap_mlock", "direct_io"]
SplitMode = Literal["none", "layer", "row", "tensor"]
CacheType = Literal["f32", "f16", "bf16", "q8_0", "q4_0", "q4_1", "iq4_nl", "q5_0", "q5_1"]
FlashAttention = Literal["auto", "on", "off"]
RopeScaling = Literal["auto", "none", "linear", "yarn", "longrope"]
Pooling = Literal["auto", "none", "mean", "cls", "last"]

# Called with all tokens so far (int32 [n], prompt included) and the logits to edit in place (float32 [n_vocab]).
LogitsProcessor = Callable[[Any, Any], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelParams:
    """How weights are loaded and where they live.

    Attributes:
        n_gpu_layers: layers to offload; ``"auto"`` lets llama.cpp fit them, ``"all"`` takes every layer.
        split_mode: how layers spread over several GPUs.
        main_gpu: the GPU used when ``split_mode="none"``.
        tensor_split: share of each GPU, any positive scale.
        devices: names of ggml devices to use (``llamaint doctor`` lists them); empty means all.
        load_mode: how the file gets into memory.
        check_tensors: validate the tensor data while loading (slower, finds damaged files).
        use_extra_bufts: repack weights for faster CPU kernels.
        no_host: bypass the host buffer so that extra buffers can be used.
        load_mtp: load the multi-token-prediction layers if the file has them.
        cpu_moe: keep all mixture-of-experts weights on the CPU.
        n_cpu_moe: keep those of the first n layers on the CPU.
        tensor_buft_overrides: regular expression of tensor names to buffer type name.
        kv_overrides: metadata keys to override; strings up to 127 bytes.
    """

    n_gpu_layers: int | Literal["auto", "all"] = "auto"
    split_mode: SplitMode = "layer"
    main_gpu: int = 0
    tensor_split: Sequence[float] = ()
    devices: Sequence[str] = ()
    load_mode: LoadMode = "auto"
    vocab_only: bool = False
    check_tensors: bool = False
    use_extra_bufts: bool = True
    no_host: bool = False
    load_mtp: bool = False
    cpu_moe: bool = False
    n_cpu_moe: int = 0
    tensor_buft_overrides: Mapping[str, str] = field(default_factory=dict)
    kv_overrides: Mapping[str, KvOverride] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextParams:
    """The engine's memory, batching and threads.

    Attributes:
        n_ctx: tokens that all sequences together can hold; one sequence may use them all. With
            ``kv_unified=False`` or ``deterministic`` every sequence has as many of its own.
            0 takes the model's trained window, capped by the memory that is free.
        n_batch: tokens one decode may carry.
        n_ubatch: tokens evaluated at once; non-causal inputs must fit.
        n_parallel: sequences that generate at the same time; further requests wait.
        n_threads: threads of one decode; ``"auto"`` starts with the usable cores and gives
            threads back while other programs are busy. More than the machine has processors
            are reduced to them, with a warning in the log.
        n_threads_batch: threads for prompts; ``None`` means as many as ``n_threads``.
        flash_attn: flash attention; ``"auto"`` where the backend has it.
        type_k: data type of cached keys.
        type_v: data type of cached values; quantised types need flash attention.
        offload_kqv: keep the cache on the GPU.
        op_offload: offload large host operations to the GPU.
        swa_full: full-size cache for sliding-window layers (more prefix reuse, more memory).
        kv_unified: one pool of cells for all sequences. ``False`` gives each of them its own: more
            memory for the same window and no shared beginnings, but attention never passes over
            other sequences' cells, which many streams at once notice.
        rope_scaling, rope_freq_base, rope_freq_scale, yarn_ext_factor, yarn_attn_factor,
        yarn_beta_fast, yarn_beta_slow, yarn_orig_ctx: RoPE and YaRN; 0 or negative means the model's.
        prefix_cache: keep finished sequences and start new requests from their longest common prefix.
        n_cache_slots: finished sequences kept beside the running ones; ``None`` means ``n_parallel``.
        deterministic: bit-equal answers whatever else is running; see docs/determinism.md.
        max_queue: waiting requests; one more raises `CapacityError`.
        no_perf: do not take timings.
    """

    n_ctx: int = 0
    n_batch: int = 2048
    n_ubatch: int = 512
    n_parallel: int = 4
    n_threads: int | Literal["auto"] = "auto"
    n_threads_batch: int | None = None
    flash_attn: FlashAttention = "auto"
    type_k: CacheType = "f16"
    type_v: CacheType = "f16"
    offload_kqv: bool = True
    op_offload: bool = True
    swa_full: bool = False
    kv_unified: bool = True
    rope_scaling: RopeScaling = "auto"
    rope_freq_base: float = 0.0
    rope_freq_scale: float = 0.0
    yarn_ext_factor: float = -1.0
    yarn_attn_factor: float = -1.0
    yarn_beta_fast: float = -1.0
    yarn_beta_slow: float = -1.0
    yarn_orig_ctx: int = 0
    prefix_cache: bool = True
    n_cache_slots: int | None = None
    deterministic: bool = False
    max_queue: int = 1024
    no_perf: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingParams:
    """The embedding engine.

    Attributes:
        n_ctx: longest text in tokens; 0 means the model's trained window.
        n_ubatch: tokens evaluated at once; raised to ``n_ctx`` for non-causal models.
        pooling: how token vectors become one; ``"auto"`` is what the model file asks for (mean if
            it does not say), ``"none"`` returns one vector per token.
        pack_tokens: tokens of different texts packed into one decode; ``None`` takes the
            measured default (benchmarks/bench_text.py).
        n_threads, flash_attn: as in `ContextParams`.
    """

    n_ctx: int = 0
    n_ubatch: int = 512
    pooling: Pooling = "auto"
    pack_tokens: int | None = None
    n_threads: int | Literal["auto"] = "auto"
    flash_attn: FlashAttention = "auto"


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingParams:
    """How the next token is chosen. Defaults are those of llama.cpp's common_params_sampling.

    Attributes:
        seed: ``None`` draws a fresh one per request; 0 is a seed like any other. Choice i of n uses seed + i.
        temperature: 0 is greedy.
        penalty_last_n: window of repeat, frequency and presence penalties in tokens, prompt included;
            0 turns them off, -1 is the whole context.
        dry_penalty_last_n: the same for DRY.
        mirostat_mode: 0 off, 1 or 2; replaces the chain after temperature.
        adaptive_target: 0..1 turns on adaptive-p; negative is off.
        ignore_eos: bias every end-of-generation token to minus infinity.
        logit_bias: token id to additive bias.
        samplers: order of the chain, by llama.cpp's names; ``None`` is the default order.
        grammar: GBNF text.
        json_schema: JSON schema; exclusive with ``grammar``.
    """

    seed: int | None = None
    temperature: float = 0.8
    dynatemp_range: float = 0.0
    dynatemp_exponent: float = 1.0
    top_k: int = 40
    top_p: float = 0.95
    min_p: float = 0.05
    typical_p: float = 1.0
    top_n_sigma: float = -1.0
    xtc_probability: float = 0.0
    xtc_threshold: float = 0.1
    min_keep: int = 0
    penalty_last_n: int = 64
    repeat_penalty: float = 1.0
    frequency_penalty: float = 0.0
    presence_penalty: float = 0.0
    dry_multiplier: float = 0.0
    dry_base: float = 1.75
    dry_allowed_length: int = 2
    dry_penalty_last_n: int = 64
    dry_sequence_breakers: Sequence[str] = ("\n", ":", '"', "*")
    mirostat_mode: Literal[0, 1, 2] = 0
    mirostat_tau: float = 5.0
    mirostat_eta: float = 0.1
    adaptive_target: float = -1.0
    adaptive_decay: float = 0.9
    ignore_eos: bool = False
    logit_bias: Mapping[int, float] = field(default_factory=dict)
    samplers: Sequence[str] | None = None
    grammar: str | None = None
    json_schema: Mapping[str, object] | str | None = None
