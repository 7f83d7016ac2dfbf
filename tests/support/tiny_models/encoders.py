"""Models that embed or rank: bert, nomic-bert, gemma-embedding, a qwen3 reranker."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from tests.support.tiny_models.blocks import Sizes, decoder_block, describe, embeddings
from tests.support.tiny_models.tokenizers import BpeTokenizer, SpmTokenizer, WordPieceTokenizer
from tests.support.tiny_models.writer import TinyWriter

# llama.cpp's enum llama_pooling_type.
_POOLING = {"none": 0, "mean": 1, "cls": 2, "last": 3, "rank": 4}


def write_bert(
    path: Path,
    *,
    arch: Literal["bert", "nomic-bert"] = "bert",
    pooling: Literal["mean", "cls", "rank"] = "mean",
    n_ctx: int = 128,
) -> None:
    """A BERT of 2 layers; nomic-bert has RoPE and a gate instead of position embeddings and biases."""
    vocab, is_bert = WordPieceTokenizer(), arch == "bert"
    sizes = Sizes(n_ctx=n_ctx, n_head_kv=2)
    out = TinyWriter(path, arch, seed=6)
    out.u32(
        context_length=sizes.n_ctx,
        embedding_length=sizes.n_embd,
        block_count=sizes.n_layer,
        feed_forward_length=sizes.n_ff,
        attention__head_count=sizes.n_head,
        attention__head_count_kv=sizes.n_head_kv,
        pooling_type=_POOLING[pooling],
    )
    out.f32("{arch}.attention.layer_norm_epsilon", 1e-12)
    out.f32("{arch}.rope.freq_base", 10_000.0)
    out.flag("{arch}.attention.causal", False)
    out.tokenizer(vocab)
    out.normal("token_embd.weight", sizes.n_embd, vocab.n_vocab, std=0.5)
    out.normal("token_types.weight", sizes.n_embd, 2, std=0.1)
    if is_bert:
        out.normal("position_embd.weight", sizes.n_embd, sizes.n_ctx, std=0.2)
    out.layer_norm("token_embd_norm", sizes.n_embd)
    for block in (f"blk.{index}" for index in range(sizes.n_layer)):
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            out.linear(f"{block}.{name}", sizes.n_embd, sizes.n_embd, bias=is_bert)
        out.layer_norm(f"{block}.attn_output_norm", sizes.n_embd)
        out.linear(f"{block}.ffn_up", sizes.n_embd, sizes.n_ff, bias=is_bert)
        out.linear(f"{block}.ffn_down", sizes.n_ff, sizes.n_embd, bias=is_bert)
        if not is_bert:
            out.linear(f"{block}.ffn_gate", sizes.n_embd, sizes.n_ff)
        out.layer_norm(f"{block}.layer_output_norm", sizes.n_embd)
    if pooling == "rank":
        out.linear("cls", sizes.n_embd, sizes.n_embd, bias=True)
        out.linear("cls.output", sizes.n_embd, 1, bias=True)
    out.close()


def write_gemma_embedding(path: Path) -> None:
    """A gemma-embedding: not causal, mean pooling, every third layer global, the others see 64 tokens."""
    vocab, sizes = SpmTokenizer(add_eos=True, chat_template=None), Sizes(n_layer=3, n_ctx=512)
    out = TinyWriter(path, "gemma-embedding", seed=4)
    describe(out, vocab, sizes, rope_base=1e6)
    out.f32("{arch}.rope.freq_base_swa", 1e4)
    out.u32(attention__sliding_window=64, attention__sliding_window_pattern=3, pooling_type=_POOLING["mean"])
    out.flag("{arch}.attention.causal", False)
    embeddings(out, vocab, sizes.n_embd, tied=True)
    for index in range(sizes.n_layer):
        decoder_block(out, index, sizes, qk_norm=True, post_norms=True)
    out.close()


def write_qwen3_embedding(path: Path, *, pooling: Literal["last", "rank"] = "last") -> None:
    """A causal qwen3 that embeds by its last token, or ranks documents as yes or no."""
    vocab, sizes = BpeTokenizer(), Sizes()
    out = TinyWriter(path, "qwen3", seed=3)
    describe(out, vocab, sizes)
    out.u32(pooling_type=_POOLING[pooling])
    embeddings(out, vocab, sizes.n_embd)
    for index in range(sizes.n_layer):
        decoder_block(out, index, sizes, qk_norm=True)
    if pooling == "rank":
        out.array("{arch}.classifier.output_labels", ["yes", "no"])
        out.linear("cls.output", sizes.n_embd, 2)
        out.text(
            "tokenizer.chat_template.rerank",
            "<|im_start|>user\nquery: {query}\ndocument: {document}<|im_end|>\n<|im_start|>assistant\n",
        )
    out.close()
