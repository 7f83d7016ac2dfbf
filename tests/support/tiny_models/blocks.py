"""Sizes and tensor groups that several architectures share."""

from __future__ import annotations

from dataclasses import dataclass

from tests.support.tiny_models.writer import TinyWriter, Tokenizer


@dataclass(frozen=True)
class Sizes:
    """Widths of a transformer; the defaults make a file of under 1 MB."""

    n_layer: int = 2
    n_ctx: int = 4096
    n_embd: int = 64
    n_head: int = 2
    n_head_kv: int = 1
    n_head_dim: int = 32
    n_ff: int = 128

    @property
    def n_q(self) -> int:
        """Width of all query heads together."""
        return self.n_head * self.n_head_dim

    @property
    def n_kv(self) -> int:
        """Width of all key heads together."""
        return self.n_head_kv * self.n_head_dim


def describe(out: TinyWriter, vocab: Tokenizer, sizes: Sizes, *, rope_base: float = 10_000.0) -> None:
    """Add the keys of a decoder with RMS norms and RoPE, and its tokenizer."""
    out.u32(
        context_length=sizes.n_ctx,
        embedding_length=sizes.n_embd,
        block_count=sizes.n_layer,
        feed_forward_length=sizes.n_ff,
        attention__head_count=sizes.n_head,
        attention__head_count_kv=sizes.n_head_kv,
        attention__key_length=sizes.n_head_dim,
        attention__value_length=sizes.n_head_dim,
        rope__dimension_count=sizes.n_head_dim,
    )
    out.f32("{arch}.attention.layer_norm_rms_epsilon", 1e-6)
    out.f32("{arch}.rope.freq_base", rope_base)
    out.tokenizer(vocab)


def embeddings(out: TinyWriter, vocab: Tokenizer, n_embd: int, *, std: float = 1.0, tied: bool = False) -> None:
    """Add the token embeddings, the last norm and, unless ``tied``, the output matrix."""
    out.normal("token_embd.weight", n_embd, vocab.n_vocab, std=std)
    out.rms_norm("output_norm", n_embd)
    if not tied:
        out.linear("output", n_embd, vocab.n_vocab)


def attention(out: TinyWriter, block: str, sizes: Sizes, *, qk_norm: bool = False, gated: bool = False) -> None:
    """Add q, k, v and output; ``gated`` doubles q by a gate per head."""
    out.linear(f"{block}.attn_q", sizes.n_embd, sizes.n_q * (2 if gated else 1))
    out.linear(f"{block}.attn_k", sizes.n_embd, sizes.n_kv)
    out.linear(f"{block}.attn_v", sizes.n_embd, sizes.n_kv)
    out.linear(f"{block}.attn_output", sizes.n_q, sizes.n_embd)
    if qk_norm:
        out.rms_norm(f"{block}.attn_q_norm", sizes.n_head_dim)
        out.rms_norm(f"{block}.attn_k_norm", sizes.n_head_dim)


def gated_ffn(out: TinyWriter, block: str, sizes: Sizes) -> None:
    """Add gate, up and down."""
    out.linear(f"{block}.ffn_gate", sizes.n_embd, sizes.n_ff)
    out.linear(f"{block}.ffn_up", sizes.n_embd, sizes.n_ff)
    out.linear(f"{block}.ffn_down", sizes.n_ff, sizes.n_embd)


def decoder_block(
    out: TinyWriter, index: int, sizes: Sizes, *, qk_norm: bool = False, post_norms: bool = False
) -> None:
    """Add one pre-norm transformer layer; ``post_norms`` adds Gemma's two further norms."""
    block = f"blk.{index}"
    out.rms_norm(f"{block}.attn_norm", sizes.n_embd)
    attention(out, block, sizes, qk_norm=qk_norm)
    out.rms_norm(f"{block}.ffn_norm", sizes.n_embd)
    gated_ffn(out, block, sizes)
    if post_norms:
        out.rms_norm(f"{block}.post_attention_norm", sizes.n_embd)
        out.rms_norm(f"{block}.post_ffw_norm", sizes.n_embd)
