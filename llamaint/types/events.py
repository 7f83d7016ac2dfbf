"""What a stream yields. Exactly one `Finish` per choice ends it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from llamaint.types.usage import Timings, Usage

FinishReason = Literal["stop", "length", "tool_calls"]
_Bytes = bytes  # the field of that name hides the type


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenLogprob:
    """Natural-log probability of a generated token.

    Attributes:
        token: id.
        bytes: the token's bytes, which may be part of a character.
        logprob: of the model's raw distribution.
        sampled_logprob: of the distribution that was sampled from (after penalties, top-k, temperature...).
        top: the most likely alternatives of the raw distribution: (id, bytes, logprob).
    """

    token: int
    bytes: bytes
    logprob: float
    sampled_logprob: float
    top: tuple[tuple[int, _Bytes, float], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta:
    """New answer text: valid UTF-8, never part of a stop string.

    ``tokens`` and ``logprobs`` are those that were decided since the last delta of this choice;
    text may be held back while it could begin a stop string, so the two need not line up.
    """

    text: str
    index: int = 0
    tokens: tuple[int, ...] = ()
    logprobs: tuple[TokenLogprob, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasoningDelta:
    """New text of the model's reasoning."""

    text: str
    index: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallStart:
    """A tool call begins. ``call`` numbers the calls of one choice from 0."""

    id: str
    name: str
    call: int
    index: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolArgsDelta:
    """New JSON text of a tool call's arguments."""

    text: str
    call: int
    index: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallEnd:
    """A tool call is complete."""

    call: int
    index: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish:
    """A choice ended. ``usage`` counts the whole request once every choice has ended."""

    reason: FinishReason
    index: int = 0
    stop_text: str | None = None
    usage: Usage = field(default_factory=Usage)
    timings: Timings = field(default_factory=Timings)


ChatEvent = TextDelta | ReasoningDelta | ToolCallStart | ToolArgsDelta | ToolCallEnd | Finish
