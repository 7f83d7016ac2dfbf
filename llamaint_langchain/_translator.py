"""Content blocks of our messages, registered with LangChain under the provider ``"llamaint"``.

LangChain numbers the blocks of a v1 stream 0, 1, ... by type, while tool-call chunks keep their own
0, 1, ...; blocks of equal index are merged, and calls that follow text disappear from
``content_blocks``. Here the index of a tool-call block is a string, which cannot collide.
"""

from __future__ import annotations

from typing import Any, cast

from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.messages import content as blocks
from langchain_core.messages.block_translators import register_translator

from llamaint_langchain._metadata import PROVIDER


def translate_content(message: AIMessage) -> list[blocks.ContentBlock]:
    """Reasoning, text, then calls, of a whole message."""
    return _reasoning_and_text(message) + _calls(message)


def translate_content_chunk(message: AIMessageChunk) -> list[blocks.ContentBlock]:
    """The same of a chunk; calls stay chunks until the last one was merged in."""
    if message.chunk_position == "last":
        return translate_content(message)
    calls: list[blocks.ContentBlock] = []
    for chunk in message.tool_call_chunks:
        block = blocks.ToolCallChunk(type="tool_call_chunk", id=chunk["id"], name=chunk["name"], args=chunk["args"])
        if chunk["index"] is not None:
            block["index"] = f"lc_tc_{chunk['index']}"
        calls.append(block)
    return _reasoning_and_text(message) + calls


def _reasoning_and_text(message: AIMessage) -> list[blocks.ContentBlock]:
    found: list[blocks.ContentBlock] = []
    reasoning = message.additional_kwargs.get("reasoning_content")
    if reasoning:
        found.append(blocks.ReasoningContentBlock(type="reasoning", reasoning=reasoning))
    if isinstance(message.content, str):
        if message.content:
            found.append(blocks.TextContentBlock(type="text", text=message.content))
        return found
    # The user rewrote the content as blocks: they already are the standard ones.
    return found + cast("list[blocks.ContentBlock]", [_as_block(item) for item in message.content])


def _as_block(item: str | dict[str, Any]) -> dict[str, Any]:
    return {"type": "text", "text": item} if isinstance(item, str) else item


def _calls(message: AIMessage) -> list[blocks.ContentBlock]:
    found: list[blocks.ContentBlock] = [
        blocks.ToolCall(type="tool_call", id=call["id"], name=call["name"], args=call["args"])
        for call in message.tool_calls
    ]
    found += [
        blocks.InvalidToolCall(
            type="invalid_tool_call",
            id=bad["id"],
            name=bad["name"],
            args=bad["args"],
            error=bad["error"],
        )
        for bad in message.invalid_tool_calls
    ]
    return found


def register() -> None:
    """Called when the package is imported; calling it again changes nothing."""
    register_translator(PROVIDER, translate_content, translate_content_chunk)
