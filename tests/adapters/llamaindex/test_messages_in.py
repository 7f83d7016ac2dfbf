"""What the runtime is sent for LlamaIndex messages."""

from __future__ import annotations

import pytest
from llama_index.core.base.llms.types import (
    AudioBlock,
    CachePoint,
    ChatMessage,
    ContentBlock,
    DocumentBlock,
    ImageBlock,
    MessageRole,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    VideoBlock,
)

from llamaint import Message, TextPart, ToolCall
from llamaint.errors import UnsupportedError
from llamaint_llamaindex._convert import to_messages


@pytest.mark.parametrize(
    ("role", "sent"),
    [
        (MessageRole.SYSTEM, "system"),
        (MessageRole.DEVELOPER, "developer"),
        (MessageRole.USER, "user"),
        (MessageRole.ASSISTANT, "assistant"),
        (MessageRole.CHATBOT, "assistant"),
        (MessageRole.MODEL, "assistant"),
        (MessageRole.TOOL, "tool"),
        (MessageRole.FUNCTION, "tool"),
    ],
)
def test_each_role_has_its_own(role: MessageRole, sent: str) -> None:
    assert to_messages([ChatMessage(role=role, content="x")])[0].role == sent


def test_every_role_of_llamaindex_is_known() -> None:
    for role in MessageRole:
        to_messages([ChatMessage(role=role, content="x")])


def test_text_blocks_keep_their_order_and_borders() -> None:
    message = ChatMessage(role="user", blocks=[TextBlock(text="one"), TextBlock(text=" two")])
    assert to_messages([message])[0].content == (TextPart(text="one"), TextPart(text=" two"))


def test_message_without_blocks_is_empty_text() -> None:
    assert to_messages([ChatMessage(role="user")])[0].content == ""


def test_thoughts_and_calls_of_history_are_kept_apart() -> None:
    blocks: list[ContentBlock] = [
        ThinkingBlock(content="Hm."),
        TextBlock(text="Let me see."),
        ToolCallBlock(tool_call_id="a", tool_name="look", tool_kwargs={"at": "sky"}),
        ToolCallBlock(tool_name="wait", tool_kwargs="{"),
    ]
    history = [
        ChatMessage(role="assistant", blocks=blocks),
        ChatMessage(role="tool", content="blue", additional_kwargs={"tool_call_id": "a", "name": "look"}),
    ]
    assert to_messages(history) == [
        Message(
            role="assistant",
            content="Let me see.",
            reasoning="Hm.",
            tool_calls=(
                ToolCall(id="a", name="look", arguments='{"at": "sky"}'),
                ToolCall(id="call_1", name="wait", arguments="{"),
            ),
        ),
        Message(role="tool", content="blue", tool_call_id="a", name="look"),
    ]


def test_cache_point_changes_nothing() -> None:
    blocks = [TextBlock(text="x"), CachePoint(cache_control={"type": "ephemeral"})]
    assert to_messages([ChatMessage(role="user", blocks=blocks)]) == [Message(role="user", content="x")]


@pytest.mark.parametrize(
    "block",
    [
        ImageBlock(image=b"aGk="),
        AudioBlock(audio=b"aGk=", format="wav"),
        VideoBlock(video=b"aGk="),
        DocumentBlock(data=b"aGk="),
    ],
    ids=lambda block: type(block).__name__,
)
def test_block_that_is_not_text_is_refused_with_its_place(block: ContentBlock) -> None:
    messages = [ChatMessage(role="system", content="x"), ChatMessage(role="user", blocks=[TextBlock(text="x"), block])]
    with pytest.raises(UnsupportedError, match=rf"^message 1, block 1: {type(block).__name__}; ") as caught:
        to_messages(messages)
    assert caught.value.numbers == {"message_index": 1, "block_index": 1}
