"""Chat messages as the pipeline sees them; raw dicts are parsed in prompt/messages.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Role = Literal["system", "developer", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPart:
    """A piece of text inside a message."""

    text: str


Content = str | tuple[TextPart, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call the model asked for. ``arguments`` is JSON text, exactly as generated."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One turn of a conversation.

    Attributes:
        content: text, or an ordered tuple of parts.
        reasoning: what a reasoning model thought, kept apart from its answer.
        name: name of the speaker, or of the tool for ``role="tool"``.
        tool_call_id: the call a tool message answers.
    """

    role: Role
    content: Content = ""
    reasoning: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    name: str | None = None
    tool_call_id: str | None = None
