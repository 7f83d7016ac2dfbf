"""LlamaIndex on local models: `Llamaint` (chat and completion) and `LlamaintEmbedding`."""

from llamaint_llamaindex.embedding import LlamaintEmbedding
from llamaint_llamaindex.llm import Llamaint

__all__ = ["Llamaint", "LlamaintEmbedding"]
