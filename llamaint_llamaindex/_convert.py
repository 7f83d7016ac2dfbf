"""LlamaIndex messages → `llamaint.types.Message`. Pure; never changes the caller's messages."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from llama_index.core.base.llms.types import (
    CachePoint,
    ChatMessage,
    MessageRole,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
)

from llamaint.errors import UnsupportedError
from llamaint.types import Message, Role, TextPart, ToolCall

if TYPE_CHECKING:
    from collections.abc import Sequence

_ROLES: dict[MessageRole, Role] = {
    MessageRole.SYSTEM: "system",
    MessageRole.DEVELOPER: "developer",
    MessageRole.USER: "user",
    MessageRole.ASSISTANT: "assistant",
    MessageRole.CHATBOT: "assistant",
    MessageRole.MODEL: "assistant",
    MessageRole.TOOL: "tool",
    MessageRole.FUNCTION: "tool",
}


def to_messages(messages: Sequence[ChatMessage]) -> list[Message]:
    """Convert a conversation, one message for one, reading ``blocks`` in their order.

    A `CachePoint` changes nothing: the engine keeps every prefix by itself.

    Raises:
        UnsupportedError: a block is not text; the message names its place.
    """
    return [_message(at, message) for at, message in enumerate(messages)]


def _message(at: int, message: ChatMessage) -> Message:
    texts: list[str] = []
    thoughts: list[str] = []
    calls: list[ToolCall] = []
    for number, block in enumerate(message.blocks):
        if isinstance(block, TextBlock):
            texts.append(block.text)
        elif isinstance(block, ThinkingBlock):
            thoughts.append(block.content or "")
        elif isinstance(block, ToolCallBlock):
            calls.append(_tool_call(block, f"call_{len(calls)}"))
        elif not isinstance(block, CachePoint):
            raise UnsupportedError(
                f"message {at}, block {number}: {type(block).__name__};"
                " this version of llamaint_llamaindex sends text only",
                message_index=at,
                block_index=number,
            )
    content = tuple(TextPart(text=text) for text in texts) if len(texts) > 1 else "".join(texts)
    return Message(
        role=_ROLES[message.role],
        content=content,
        reasoning="".join(thoughts) or None,
        tool_calls=tuple(calls),
        name=message.additional_kwargs.get("name"),
        tool_call_id=message.additional_kwargs.get("tool_call_id"),
    )


def _tool_call(block: ToolCallBlock, otherwise: str) -> ToolCall:
    arguments = block.tool_kwargs
    return ToolCall(
        id=block.tool_call_id or otherwise,
        name=block.tool_name,
        arguments=arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False),
    )
