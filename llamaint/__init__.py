"""A local LLM runtime: one import, no server.

```python
from llamaint import Llama

with Llama("smollm2-135m") as llm:
    for event in llm.chat_stream([{"role": "user", "content": "Hello!"}]):
        ...
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from llamaint._version import __version__
from llamaint.api.grammar import LlamaGrammar
from llamaint.api.llama import Llama
from llamaint.api.shared import shared_llama
from llamaint.errors import (
    CancelledError,
    CapacityError,
    ClosedError,
    ConfigError,
    DecodeError,
    EngineError,
    ForkedError,
    GrammarError,
    InvalidBatchError,
    LlamaintError,
    MediaError,
    ModelError,
    ModelLoadError,
    ModelNotFoundError,
    NumericError,
    PromptTooLongError,
    RequestError,
    StateError,
    TemplateError,
    ToolError,
    UnsupportedError,
)
from llamaint.types import (
    ChatEvent,
    ChatResult,
    Choice,
    CompletionResult,
    ContextParams,
    EmbeddingParams,
    Embeddings,
    Finish,
    LogitsProcessor,
    Message,
    ModelParams,
    ReasoningDelta,
    SamplingParams,
    TextDelta,
    TextPart,
    Timings,
    TokenLogprob,
    ToolArgsDelta,
    ToolCall,
    ToolCallEnd,
    ToolCallStart,
    Usage,
)

if TYPE_CHECKING:
    from llamaint.api.embedding import LlamaEmbedding
    from llamaint.api.shared_embedding import shared_embedding

__all__ = [
    "CancelledError",
    "CapacityError",
    "ChatEvent",
    "ChatResult",
    "Choice",
    "ClosedError",
    "CompletionResult",
    "ConfigError",
    "ContextParams",
    "DecodeError",
    "EmbeddingParams",
    "Embeddings",
    "EngineError",
    "Finish",
    "ForkedError",
    "GrammarError",
    "InvalidBatchError",
    "Llama",
    "LlamaEmbedding",
    "LlamaGrammar",
    "LlamaintError",
    "LogitsProcessor",
    "MediaError",
    "Message",
    "ModelError",
    "ModelLoadError",
    "ModelNotFoundError",
    "ModelParams",
    "NumericError",
    "PromptTooLongError",
    "ReasoningDelta",
    "RequestError",
    "SamplingParams",
    "StateError",
    "TemplateError",
    "TextDelta",
    "TextPart",
    "Timings",
    "TokenLogprob",
    "ToolArgsDelta",
    "ToolCall",
    "ToolCallEnd",
    "ToolCallStart",
    "ToolError",
    "UnsupportedError",
    "Usage",
    "__version__",
    "shared_embedding",
    "shared_llama",
]

# Loaded when first used: they import numpy, which takes longer than everything else together.
_LAZY = {
    "LlamaEmbedding": "llamaint.api.embedding",
    "shared_embedding": "llamaint.api.shared_embedding",
    "hub": "llamaint.hub",
}


def __getattr__(name: str) -> object:
    module_name = _LAZY.get(name)
    if module_name is None:
        raise AttributeError(f"module 'llamaint' has no attribute {name!r}")
    from importlib import import_module

    module = import_module(module_name)
    return module if name == "hub" else getattr(module, name)
