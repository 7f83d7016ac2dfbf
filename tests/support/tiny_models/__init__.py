"""Tiny random models of many architectures, written with numpy and gguf-py (facts about each: its writer).

Each takes milliseconds to write, has under 1.3 MB, and comes out byte for byte the same each time:

    path = tiny_models.llama()
    for name, path in tiny_models.text_models().items(): ...
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from gguf import GGMLQuantizationType

from tests.support.tiny_models.cache import written
from tests.support.tiny_models.decoders import (
    CYCLE,
    write_gemma3,
    write_gpt2,
    write_llama,
    write_llama_cycle,
    write_qwen3,
)
from tests.support.tiny_models.encoders import write_bert, write_gemma_embedding, write_qwen3_embedding
from tests.support.tiny_models.recurrent import write_mamba, write_qwen35

__all__ = [
    "CYCLE",
    "bert_cls",
    "bert_mean",
    "bert_rerank",
    "embedding_models",
    "gemma3",
    "gemma_embedding",
    "gpt2",
    "llama",
    "llama_cycle",
    "llama_f16",
    "llama_no_template",
    "llama_q4_0",
    "llama_q8_0",
    "llama_spm",
    "mamba",
    "nomic_bert",
    "qwen3",
    "qwen3_embedding",
    "qwen3_reranker",
    "qwen35",
    "qwen35_mtp",
    "text_models",
]


def llama() -> Path:
    """Llama, byte-level BPE, float32; 384 tokens, id == byte value below 256."""
    return written("llama", write_llama)


def llama_spm() -> Path:
    """Llama with a SentencePiece vocabulary that adds ``<s>``."""
    return written("llama-spm", partial(write_llama, spm=True))


def llama_q8_0() -> Path:
    """`llama` with Q8_0 matrices."""
    return written("llama-q8_0", partial(write_llama, weight_type=GGMLQuantizationType.Q8_0))


def llama_q4_0() -> Path:
    """`llama` with Q4_0 matrices."""
    return written("llama-q4_0", partial(write_llama, weight_type=GGMLQuantizationType.Q4_0))


def llama_f16() -> Path:
    """`llama` with F16 matrices."""
    return written("llama-f16", partial(write_llama, weight_type=GGMLQuantizationType.F16))


def llama_no_template() -> Path:
    """`llama` without a chat template and with a trained window of 256 tokens."""
    return written("llama-no-template", partial(write_llama, chat_template=None, n_ctx=256))


def llama_cycle() -> Path:
    """A llama that continues `CYCLE` for ever under greedy sampling: after ``"abc"`` comes ``"defgh..."``.

    One letter is one token; the prompt must end with a letter of `CYCLE`.
    """
    return written("llama-cycle", write_llama_cycle)


def qwen3() -> Path:
    """Qwen3, float32."""
    return written("qwen3", write_qwen3)


def gemma3() -> Path:
    """Gemma3: sliding window of 64 tokens in five layers of six."""
    return written("gemma3", write_gemma3)


def gpt2(n_ctx: int = 300) -> Path:
    """GPT-2: knows ``n_ctx`` positions and no more."""
    return written(f"gpt2-{n_ctx}", partial(write_gpt2, n_ctx=n_ctx))


def qwen35() -> Path:
    """Qwen3.5: hybrid, three recurrent layers and one of attention."""
    return written("qwen35", write_qwen35)


def qwen35_mtp() -> Path:
    """`qwen35` with one multi-token-prediction layer."""
    return written("qwen35-mtp", partial(write_qwen35, n_mtp=1))


def mamba() -> Path:
    """Mamba: recurrent in every layer."""
    return written("mamba", write_mamba)


def bert_mean() -> Path:
    """BERT with mean pooling and a window of 128 tokens."""
    return written("bert-mean", write_bert)


def bert_cls() -> Path:
    """BERT pooled at its first token."""
    return written("bert-cls", partial(write_bert, pooling="cls"))


def bert_rerank() -> Path:
    """BERT with a one-class ranking head."""
    return written("bert-rerank", partial(write_bert, pooling="rank"))


def nomic_bert() -> Path:
    """BERT with RoPE and a gated feed-forward, mean pooling."""
    return written("nomic-bert", partial(write_bert, arch="nomic-bert"))


def gemma_embedding() -> Path:
    """EmbeddingGemma: not causal, mean pooling, sliding windows of 64."""
    return written("gemma-embedding", write_gemma_embedding)


def qwen3_embedding() -> Path:
    """Qwen3 as an embedder: causal, pooled at the last token."""
    return written("qwen3-embedding", write_qwen3_embedding)


def qwen3_reranker() -> Path:
    """Qwen3 as a reranker with the labels yes and no."""
    return written("qwen3-reranker", partial(write_qwen3_embedding, pooling="rank"))


_TEXT: tuple[Callable[[], Path], ...] = (
    llama, llama_spm, llama_q8_0, llama_q4_0, llama_f16, llama_cycle, qwen3, gemma3, qwen35, qwen35_mtp, mamba,
)  # fmt: skip
_EMBEDDING: tuple[Callable[[], Path], ...] = (bert_mean, bert_cls, nomic_bert, gemma_embedding, qwen3_embedding)


def text_models() -> dict[str, Path]:
    """Every model that generates text, by name."""
    return {make.__name__: make() for make in _TEXT}


def embedding_models() -> dict[str, Path]:
    """Every model that embeds texts, by name."""
    return {make.__name__: make() for make in _EMBEDDING}
