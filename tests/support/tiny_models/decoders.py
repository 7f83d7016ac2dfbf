"""Transformers that generate: llama, qwen3, gemma3, gpt2, and a llama whose answer is known beforehand."""

from __future__ import annotations

from pathlib import Path

import gguf
import numpy as np

from tests.support.tiny_models.blocks import Sizes, decoder_block, describe, embeddings
from tests.support.tiny_models.tokenizers import CHATML, BpeTokenizer, SpmTokenizer
from tests.support.tiny_models.writer import Floats, TinyWriter

CYCLE = "abcdefghijklmnop"


def write_llama(
    path: Path,
    *,
    spm: bool = False,
    n_ctx: int = 4096,
    chat_template: str | None = CHATML,
    weight_type: gguf.GGMLQuantizationType = gguf.GGMLQuantizationType.F32,
) -> None:
    """A llama of 4 layers (2 with the SentencePiece vocabulary)."""
    vocab = SpmTokenizer(chat_template=chat_template) if spm else BpeTokenizer(chat_template=chat_template)
    sizes = Sizes(n_layer=2 if spm else 4, n_ctx=n_ctx)
    out = TinyWriter(path, "llama", seed=2 if spm else 1, weight_type=weight_type)
    describe(out, vocab, sizes)
    embeddings(out, vocab, sizes.n_embd)
    for index in range(sizes.n_layer):
        decoder_block(out, index, sizes)
    out.close()


def write_qwen3(path: Path) -> None:
    """A qwen3: llama with norms on queries and keys."""
    vocab, sizes = BpeTokenizer(), Sizes(n_layer=4)
    out = TinyWriter(path, "qwen3", seed=2)
    describe(out, vocab, sizes)
    embeddings(out, vocab, sizes.n_embd)
    for index in range(sizes.n_layer):
        decoder_block(out, index, sizes, qk_norm=True)
    out.close()


def write_gemma3(path: Path) -> None:
    """A gemma3: five layers with a sliding window of 64 tokens, then one global; tied output."""
    vocab, sizes = SpmTokenizer(), Sizes(n_layer=6)
    out = TinyWriter(path, "gemma3", seed=5)
    describe(out, vocab, sizes, rope_base=1e6)
    out.u32(attention__sliding_window=64)
    embeddings(out, vocab, sizes.n_embd, std=sizes.n_embd**-0.5, tied=True)
    for index in range(sizes.n_layer):
        decoder_block(out, index, sizes, qk_norm=True, post_norms=True)
    out.close()


def write_gpt2(path: Path, *, n_ctx: int) -> None:
    """A gpt2: positions looked up in a table of ``n_ctx`` rows, layer norms, biases, one matrix for q, k and v."""
    vocab, sizes = BpeTokenizer(), Sizes(n_ctx=n_ctx, n_head_kv=2)
    out = TinyWriter(path, "gpt2", seed=8)
    out.u32(
        context_length=sizes.n_ctx,
        embedding_length=sizes.n_embd,
        block_count=sizes.n_layer,
        feed_forward_length=sizes.n_ff,
        attention__head_count=sizes.n_head,
    )
    out.f32("{arch}.attention.layer_norm_epsilon", 1e-5)
    out.tokenizer(vocab)
    out.normal("token_embd.weight", sizes.n_embd, vocab.n_vocab, std=0.5)
    out.normal("position_embd.weight", sizes.n_embd, sizes.n_ctx, std=0.2)
    out.layer_norm("output_norm", sizes.n_embd)
    for block in (f"blk.{index}" for index in range(sizes.n_layer)):
        out.layer_norm(f"{block}.attn_norm", sizes.n_embd)
        out.linear(f"{block}.attn_qkv", sizes.n_embd, 3 * sizes.n_embd, bias=True)
        out.linear(f"{block}.attn_output", sizes.n_embd, sizes.n_embd, bias=True)
        out.layer_norm(f"{block}.ffn_norm", sizes.n_embd)
        out.linear(f"{block}.ffn_up", sizes.n_embd, sizes.n_ff, bias=True)
        out.linear(f"{block}.ffn_down", sizes.n_ff, sizes.n_embd, bias=True)
    out.close()


def write_llama_cycle(path: Path) -> None:
    """A llama that continues ``abcdefghijklmnop`` for ever, one letter (= one token) at a time.

    The residual stays the embedding of the last token plus a little noise from the layers, and the
    output row of each letter is the embedding of the letter before it. All embeddings have RMS 1, so
    the last norm leaves them alone.
    """
    vocab, sizes = BpeTokenizer(), Sizes(n_layer=2)
    out = TinyWriter(path, "llama", seed=40)
    describe(out, vocab, sizes)
    rows = out.rng("token_embd.weight").standard_normal((vocab.n_vocab, sizes.n_embd)).astype(np.float32)
    rows /= np.sqrt(np.mean(rows * rows, axis=1, keepdims=True))
    out.put("token_embd.weight", rows)
    out.put("output_norm.weight", np.ones(sizes.n_embd, np.float32))
    out.put("output.weight", _successor_head(rows))
    for index in range(sizes.n_layer):
        _quiet_block(out, index, sizes)
    out.close()


def _successor_head(rows: Floats) -> Floats:
    """float32 ``[n_vocab, n_embd]``: the row of each letter's successor is the letter's embedding."""
    head = np.zeros_like(rows)
    letters = [ord(letter) for letter in CYCLE]
    for letter, successor in zip(letters, letters[1:] + letters[:1], strict=True):
        head[successor] = 0.25 * rows[letter]
    return head


def _quiet_block(out: TinyWriter, index: int, sizes: Sizes) -> None:
    """A layer whose attention and feed-forward write only a little into the residual."""
    block, quiet = f"blk.{index}", 0.01
    for name in ("attn_norm", "ffn_norm"):
        out.rms_norm(f"{block}.{name}", sizes.n_embd)
    out.linear(f"{block}.attn_q", sizes.n_embd, sizes.n_q)
    out.linear(f"{block}.attn_k", sizes.n_embd, sizes.n_kv)
    out.linear(f"{block}.attn_v", sizes.n_embd, sizes.n_kv)
    out.normal(f"{block}.attn_output.weight", sizes.n_q, sizes.n_embd, std=quiet)
    out.linear(f"{block}.ffn_gate", sizes.n_embd, sizes.n_ff)
    out.linear(f"{block}.ffn_up", sizes.n_embd, sizes.n_ff)
    out.normal(f"{block}.ffn_down.weight", sizes.n_ff, sizes.n_embd, std=quiet)
