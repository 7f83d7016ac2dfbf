"""LangChain messages → `llamaint.types.Message`. Pure; never changes the caller's messages."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from llamaint.types import Message, Role, TextPart, ToolCall
from llamaint_langchain._errors import LlamaintRequestError, LlamaintUnsupportedError

if TYPE_CHECKING:
    from collections.abc import Sequence

_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "developer",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "tool": "tool",
}


def to_messages(messages: Sequence[BaseMessage]) -> list[Message]:
    """Convert a conversation, one message for one.

    Raises:
        LlamaintUnsupportedError: a part is not text; the message names its place.
        LlamaintRequestError: a message kind that no model can be sent.
    """
    return [_message(at, message) for at, message in enumerate(messages)]


def _message(at: int, message: BaseMessage) -> Message:
    texts, reasoning = _parts(at, message)
    content = texts[0] if len(texts) == 1 else tuple(TextPart(text=text) for text in texts)
    if isinstance(message, AIMessage):
        return Message(
            role="assistant",
            content=content or "",
            reasoning=reasoning,
            tool_calls=_tool_calls(message),
            name=message.name,
        )
    return Message(
        role=_role(at, message),
        content=content or "",
        name=message.name,
        tool_call_id=message.tool_call_id if isinstance(message, ToolMessage) else None,
    )


def _role(at: int, message: BaseMessage) -> Role:
    if isinstance(message, HumanMessage):
        return "user"
    if isinstance(message, SystemMessage):
        developer = message.additional_kwargs.get("__openai_role__") == "developer"
        return "developer" if developer else "system"
    if isinstance(message, ToolMessage):
        return "tool"
    if isinstance(message, ChatMessage) and message.role in _ROLES:
        return _ROLES[message.role]
    what = f"role {message.role!r}" if isinstance(message, ChatMessage) else message.type
    raise LlamaintRequestError(f"message {at}: a {what} message cannot be sent to a model", message_index=at)


def _parts(at: int, message: BaseMessage) -> tuple[list[str], str | None]:
    """Texts in order, and the reasoning of an assistant message."""
    reasoning = message.additional_kwargs.get("reasoning_content")
    if isinstance(message.content, str):
        return [message.content], reasoning
    texts: list[str] = []
    thoughts: list[str] = []
    for part, block in enumerate(message.content_blocks):
        kind, value = _unwrap(block)
        if kind == "text":
            texts.append(value["text"])
        elif kind in ("reasoning", "thinking"):
            thoughts.append(value.get("reasoning") or value.get("thinking") or "")
        elif kind in ("tool_call", "tool_call_chunk", "tool_use", "input_json_delta"):
            continue  # these stand in message.tool_calls, already parsed
        else:
            raise _refused(at, part, kind)
    return texts, "".join(thoughts) or reasoning


def _unwrap(block: Any) -> tuple[str, dict[str, Any]]:
    """The kind and body of a standard block, or of a provider's own inside ``non_standard``."""
    if block["type"] == "non_standard":
        value = block["value"]
        return str(value.get("type", "untyped")), value
    return block["type"], block


def _refused(at: int, part: int, kind: str) -> LlamaintUnsupportedError:
    return LlamaintUnsupportedError(
        f"message {at}, part {part}: {kind!r} content; this version of llamaint_langchain sends text only",
        message_index=at,
        part_index=part,
    )


def _tool_calls(message: AIMessage) -> tuple[ToolCall, ...]:
    calls = [
        ToolCall(
            id=call["id"] or f"call_{number}",
            name=call["name"],
            arguments=json.dumps(call["args"], ensure_ascii=False),
        )
        for number, call in enumerate(message.tool_calls)
    ]
    calls += [
        ToolCall(
            id=bad["id"] or f"call_{len(calls) + number}",
            name=bad["name"] or "",
            arguments=bad["args"] or "",
        )
        for number, bad in enumerate(message.invalid_tool_calls)
    ]
    return tuple(calls)
