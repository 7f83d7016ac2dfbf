"""Values that go down through the seam: one generation request, one rendering of a chat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from llamaint.types import LogitsProcessor, SamplingParams

if TYPE_CHECKING:
    from llamaint.backend.grammar import Grammar


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineRequest:
    """What the engine is asked to generate.

    Attributes:
        prompt: token ids, at least one.
        sampling: checked values; its grammar fields are already compiled into ``grammar``.
        grammar: what `Model.grammar_from_gbnf` or `Model.grammar_from_json_schema` returned.
        max_tokens: ``None`` means until end of generation or a full window; 0 means none.
        n: choices that share the prompt.
        logprobs: ``None`` for none; k >= 0 for the picked token and the k most likely.
        deadline_s: seconds from submit to cancellation; ``None`` means no deadline.
        cache_prompt: start from, and leave behind, a cached prefix.
        stream: false delivers everything with the last chunk.
        preserved_tokens: special tokens that appear in the text although others do not.
    """

    prompt: Sequence[int]
    sampling: SamplingParams = field(default_factory=SamplingParams)
    grammar: Grammar | None = None
    max_tokens: int | None = None
    n: int = 1
    stop: Sequence[str] = ()
    logprobs: int | None = None
    deadline_s: float | None = None
    cache_prompt: bool = True
    stream: bool = True
    preserved_tokens: Sequence[int] = ()
    logits_processors: Sequence[LogitsProcessor] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatOptions:
    """How a chat template renders a conversation.

    Attributes:
        continue_final: the last assistant message is a prefix to go on from.
        json_schema: JSON text the reply must satisfy; exclusive with ``grammar``.
        grammar: GBNF text the reply must satisfy.
        template_kwargs: further template variables; values are JSON text.
    """

    add_generation_prompt: bool = True
    continue_final: bool = False
    enable_thinking: bool = True
    json_schema: str = ""
    grammar: str = ""
    template_kwargs: Mapping[str, str] = field(default_factory=dict)
