"""What the runtime is sent for LangChain messages."""

from __future__ import annotations

import copy

import pytest
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)

from llamaint import Message, TextPart, ToolCall
from llamaint.errors import RequestError, UnsupportedError
from llamaint_langchain import LlamaintRequestError, LlamaintUnsupportedError
from llamaint_langchain._convert import to_messages


@pytest.mark.parametrize(
    ("message", "role"),
    [
        (SystemMessage("x"), "system"),
        (SystemMessage("x", additional_kwargs={"__openai_role__": "developer"}), "developer"),
        (HumanMessage("x"), "user"),
        (AIMessage("x"), "assistant"),
        (ToolMessage("x", tool_call_id="1"), "tool"),
        (ChatMessage("x", role="user"), "user"),
        (ChatMessage("x", role="developer"), "developer"),
    ],
)
def test_each_kind_of_message_has_its_role(message: BaseMessage, role: str) -> None:
    assert to_messages([message])[0].role == role


def test_text_parts_keep_their_order_and_borders() -> None:
    content = [{"type": "text", "text": "one"}, "two", {"type": "text", "text": " three"}]
    assert to_messages([HumanMessage(content)])[0].content == (
        TextPart(text="one"),
        TextPart(text="two"),
        TextPart(text=" three"),
    )


def test_single_text_part_is_plain_text() -> None:
    assert to_messages([HumanMessage([{"type": "text", "text": "one"}])])[0].content == "one"


def test_empty_content_is_empty_text() -> None:
    assert [m.content for m in to_messages([HumanMessage([]), AIMessage("")])] == ["", ""]


def test_name_is_kept() -> None:
    assert to_messages([HumanMessage("x", name="Ada")])[0].name == "Ada"


@pytest.mark.parametrize(
    "message",
    [
        AIMessage("answer", additional_kwargs={"reasoning_content": "thought"}),
        AIMessage([{"type": "reasoning", "reasoning": "thought"}, {"type": "text", "text": "answer"}]),
        AIMessage([{"type": "thinking", "thinking": "thought", "signature": "s"}, {"type": "text", "text": "answer"}]),
    ],
    ids=["additional_kwargs", "standard block", "Anthropic block"],
)
def test_reasoning_of_history_is_kept_apart_from_the_answer(message: AIMessage) -> None:
    assert to_messages([message]) == [Message(role="assistant", content="answer", reasoning="thought")]


@pytest.mark.parametrize("content", ["", [{"type": "tool_use", "id": "1", "name": "add", "input": {"a": 1}}]])
def test_tool_calls_of_history_are_sent_once(content: str | list[str | dict[str, object]]) -> None:
    call = AIMessage(content, tool_calls=[{"name": "add", "args": {"a": 1}, "id": "1"}])
    sent = to_messages([call, ToolMessage("2", tool_call_id="1", name="add")])
    assert sent == [
        Message(role="assistant", tool_calls=(ToolCall(id="1", name="add", arguments='{"a": 1}'),)),
        Message(role="tool", content="2", name="add", tool_call_id="1"),
    ]


def test_malformed_tool_call_of_history_keeps_its_text() -> None:
    bad = {"name": "add", "args": '{"a":', "id": "1", "error": "cut off", "type": "invalid_tool_call"}
    sent = to_messages([AIMessage("", invalid_tool_calls=[bad])])
    assert sent[0].tool_calls == (ToolCall(id="1", name="add", arguments='{"a":'),)


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image", "base64": "aGk=", "mime_type": "image/png"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
        {"type": "audio", "base64": "aGk=", "mime_type": "audio/wav"},
        {"type": "video", "url": "file.mp4"},
        {"type": "video_url", "video_url": {"url": "file.mp4"}},
        {"type": "file", "base64": "aGk=", "mime_type": "application/pdf"},
        {"type": "text-plain", "base64": "aGk=", "mime_type": "text/plain"},
        {"type": "invented"},
    ],
    ids=lambda block: block["type"],
)
def test_part_that_is_not_text_is_refused_with_its_place(block: dict[str, object]) -> None:
    messages = [SystemMessage("x"), HumanMessage([{"type": "text", "text": "look"}, block])]
    with pytest.raises(LlamaintUnsupportedError, match=r"^message 1, part 1: ") as caught:
        to_messages(messages)
    assert caught.value.numbers == {"message_index": 1, "part_index": 1}
    assert isinstance(caught.value, UnsupportedError)


@pytest.mark.parametrize(
    "message", [ChatMessage("x", role="narrator"), RemoveMessage(id="1"), FunctionMessage("x", name="f")]
)
def test_message_that_no_model_can_be_sent_is_refused_with_its_place(message: BaseMessage) -> None:
    with pytest.raises(LlamaintRequestError, match=r"^message 1: ") as caught:
        to_messages([HumanMessage("x"), message])
    assert isinstance(caught.value, RequestError)


def test_history_of_the_caller_is_not_changed() -> None:
    history = [
        HumanMessage([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]),
        AIMessage([{"type": "reasoning", "reasoning": "t"}, {"type": "text", "text": "c"}]),
    ]
    before = copy.deepcopy(history)
    to_messages(history)
    assert history == before
