"""Models whose memory is a state: mamba (all layers) and qwen35 (three layers of four)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.support.tiny_models.blocks import Sizes, attention, embeddings, gated_ffn
from tests.support.tiny_models.tokenizers import BpeTokenizer
from tests.support.tiny_models.writer import TinyWriter


def write_mamba(path: Path) -> None:
    """A mamba of 2 layers; no attention, no feed-forward."""
    vocab, n_layer, n_embd = BpeTokenizer(), 2, 64
    n_inner, n_state, n_rank, n_conv = 2 * n_embd, 16, 4, 4
    out = TinyWriter(path, "mamba", seed=14)
    out.u32(
        context_length=4096,
        embedding_length=n_embd,
        block_count=n_layer,
        feed_forward_length=0,
        attention__head_count=0,
        ssm__conv_kernel=n_conv,
        ssm__inner_size=n_inner,
        ssm__state_size=n_state,
        ssm__time_step_rank=n_rank,
    )
    out.f32("{arch}.attention.layer_norm_rms_epsilon", 1e-5)
    out.tokenizer(vocab)
    embeddings(out, vocab, n_embd)
    for block in (f"blk.{index}" for index in range(n_layer)):
        out.rms_norm(f"{block}.attn_norm", n_embd)
        out.linear(f"{block}.ssm_in", n_embd, 2 * n_inner)
        out.normal(f"{block}.ssm_conv1d.weight", n_conv, n_inner, std=0.4)
        out.normal(f"{block}.ssm_conv1d.bias", n_inner, std=0.05)
        out.linear(f"{block}.ssm_x", n_inner, n_rank + 2 * n_state)
        out.linear(f"{block}.ssm_dt", n_rank, n_inner)
        out.normal(f"{block}.ssm_dt.bias", n_inner, std=0.5)
        # Decay rates are stored negated; mamba starts from -1 .. -n_state in every channel.
        out.put(f"{block}.ssm_a", np.tile(-np.arange(1, n_state + 1, dtype=np.float32), (n_inner, 1)))
        out.near_one(f"{block}.ssm_d", n_inner)
        out.linear(f"{block}.ssm_out", n_inner, n_embd)
    out.close()


def write_qwen35(path: Path, *, n_mtp: int = 0) -> None:
    """A qwen35: three gated-delta-net layers, then one of full attention.

    Args:
        path: file to write.
        n_mtp: multi-token-prediction layers after them, 0 or 1.
    """
    vocab = BpeTokenizer(pre="qwen35")
    n_layer, interval = 4, 4
    sizes = Sizes(n_layer=n_layer + n_mtp)
    n_state, n_group, n_rank, n_conv = 32, 2, 2, 4
    out = TinyWriter(path, "qwen35", seed=13)
    out.u32(
        context_length=sizes.n_ctx,
        embedding_length=sizes.n_embd,
        block_count=sizes.n_layer,
        feed_forward_length=sizes.n_ff,
        attention__head_count=sizes.n_head,
        attention__head_count_kv=sizes.n_head_kv,
        attention__key_length=sizes.n_head_dim,
        attention__value_length=sizes.n_head_dim,
        rope__dimension_count=sizes.n_head_dim // 2,
        ssm__conv_kernel=n_conv,
        ssm__state_size=n_state,
        ssm__group_count=n_group,
        ssm__time_step_rank=n_rank,
        ssm__inner_size=n_state * n_rank,
        full_attention_interval=interval,
    )
    if n_mtp:
        out.u32(nextn_predict_layers=n_mtp)
    out.array("{arch}.rope.dimension_sections", [4, 2, 2, 0])
    out.f32("{arch}.attention.layer_norm_rms_epsilon", 1e-6)
    out.f32("{arch}.rope.freq_base", 1e7)
    out.tokenizer(vocab)
    embeddings(out, vocab, sizes.n_embd)
    for index in range(sizes.n_layer):
        block = f"blk.{index}"
        out.rms_norm(f"{block}.attn_norm", sizes.n_embd)
        out.rms_norm(f"{block}.post_attention_norm", sizes.n_embd)
        gated_ffn(out, block, sizes)
        if index >= n_layer or (index + 1) % interval == 0:
            attention(out, block, sizes, qk_norm=True, gated=True)
        else:
            _delta_net(out, block, sizes.n_embd, n_state, n_group, n_rank, n_conv)
        if index >= n_layer:
            out.linear(f"{block}.nextn.eh_proj", 2 * sizes.n_embd, sizes.n_embd)
            for name in ("enorm", "hnorm", "shared_head_norm"):
                out.rms_norm(f"{block}.nextn.{name}", sizes.n_embd)
    out.close()


def _delta_net(out: TinyWriter, block: str, n_embd: int, n_state: int, n_group: int, n_rank: int, n_conv: int) -> None:
    """Tensors of one gated-delta-net layer: ``n_group`` key heads and ``n_rank`` value heads of ``n_state``."""
    n_keys, n_values = n_state * n_group, n_state * n_rank
    n_qkv = 2 * n_keys + n_values
    out.linear(f"{block}.attn_qkv", n_embd, n_qkv)
    out.linear(f"{block}.attn_gate", n_embd, n_values)
    out.normal(f"{block}.ssm_conv1d.weight", n_conv, n_qkv, std=0.4)
    out.normal(f"{block}.ssm_dt.bias", n_rank, std=0.5)
    out.put(f"{block}.ssm_a", -np.exp(out.rng(f"{block}.ssm_a").uniform(-1.5, 0.5, n_rank)).astype(np.float32))
    out.linear(f"{block}.ssm_beta", n_embd, n_rank)
    out.linear(f"{block}.ssm_alpha", n_embd, n_rank)
    out.rms_norm(f"{block}.ssm_norm", n_state)
    out.linear(f"{block}.ssm_out", n_values, n_embd)
