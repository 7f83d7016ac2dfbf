"""Values that cross the public API: frozen, keyword-only, each default written once."""

from llamaint.types.events import (
    ChatEvent,
    Finish,
    FinishReason,
    ReasoningDelta,
    TextDelta,
    TokenLogprob,
    ToolArgsDelta,
    ToolCallEnd,
    ToolCallStart,
)
from llamaint.types.messages import Content, Message, Role, TextPart, ToolCall
from llamaint.types.params import (
    ContextParams,
    EmbeddingParams,
    KvOverride,
    LogitsProcessor,
    ModelParams,
    SamplingParams,
)
from llamaint.types.results import ChatResult, Choice, CompletionResult, Embeddings
from llamaint.types.usage import Timings, Usage

__all__ = [
    "ChatEvent",
    "ChatResult",
    "Choice",
    "CompletionResult",
    "Content",
    "ContextParams",
    "EmbeddingParams",
    "Embeddings",
    "Finish",
    "FinishReason",
    "KvOverride",
    "LogitsProcessor",
    "Message",
    "ModelParams",
    "ReasoningDelta",
    "Role",
    "SamplingParams",
    "TextDelta",
    "TextPart",
    "Timings",
    "TokenLogprob",
    "ToolArgsDelta",
    "ToolCall",
    "ToolCallEnd",
    "ToolCallStart",
    "Usage",
]
