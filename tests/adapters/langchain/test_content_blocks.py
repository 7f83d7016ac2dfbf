"""Standard content blocks of our messages, whole and streamed."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.language_models.chat_models import generate_from_stream
from langchain_core.messages import AIMessage, AIMessageChunk

from llamaint.testing import FakeLlama
from llamaint.types import Finish, ReasoningDelta, TextDelta, ToolArgsDelta, ToolCallEnd, ToolCallStart
from llamaint_langchain import ChatLlamaint
from llamaint_langchain._reply import chunk

EVENTS = [
    ReasoningDelta(text="Hm."),
    TextDelta(text="Let me "),
    TextDelta(text="see."),
    ToolCallStart(id="a", name="look", call=0),
    ToolArgsDelta(text='{"at": ', call=0),
    ToolArgsDelta(text='"sky"}', call=0),
    ToolCallEnd(call=0),
    ToolCallStart(id="b", name="wait", call=1),
    ToolCallEnd(call=1),
    Finish(reason="tool_calls"),
]


class Scripted(ChatLlamaint):
    """Streams scripted events, tool calls among them."""

    def _stream(self, *args: Any, **kwargs: Any) -> Any:
        return (chunk(event, model="m", with_usage=True) for event in EVENTS)


def stream(**fields: Any) -> AIMessageChunk:
    chunks = list(Scripted(model="m", **fields).stream("x"))
    full = chunks[0]
    for piece in chunks[1:]:
        full = full + piece
    return full


def kinds(message: AIMessage) -> list[str]:
    return [block["type"] for block in message.content_blocks]


@pytest.mark.parametrize("version", ["v0", "v1"])
def test_calls_after_text_are_all_there_when_the_stream_was_merged(version: str) -> None:
    full = stream(output_version=version)
    assert kinds(full) == ["reasoning", "text", "tool_call", "tool_call"]
    assert [(call["id"], call["name"], call["args"]) for call in full.tool_calls] == [
        ("a", "look", {"at": "sky"}),
        ("b", "wait", {}),
    ]


def test_chunks_of_calls_stay_chunks_until_the_last() -> None:
    call = chunk(EVENTS[4], model="m", with_usage=True).message
    assert call.content_blocks == [
        {"type": "tool_call_chunk", "id": None, "name": None, "args": '{"at": ', "index": "lc_tc_0"}
    ]


def test_no_chunk_has_text_and_calls() -> None:
    for piece in Scripted(model="m").stream("x"):
        assert not (piece.content and piece.tool_call_chunks)


def test_finish_reason_of_calls_is_kept() -> None:
    assert stream().response_metadata["finish_reason"] == "tool_calls"


def test_events_of_the_third_version_end_with_all_blocks() -> None:
    events = Scripted(model="m").stream_events("x", version="v3")
    list(events)
    assert kinds(events.output) == ["reasoning", "text", "tool_call", "tool_call"]


@pytest.mark.parametrize("version", ["v0", "v1"])
def test_reasoning_and_text_are_one_block_each(version: str) -> None:
    chat = ChatLlamaint(llm=FakeLlama("<think>Hm, well.</think>It is 42."), output_version=version)
    want = [
        {"type": "reasoning", "reasoning": "Hm, well."},
        {"type": "text", "text": "It is 42."},
    ]
    full = generate_from_stream(chat._stream(chat._convert_input("x").to_messages())).generations[0].message
    for message in (chat.invoke("x"), full):
        found = [{k: v for k, v in block.items() if k != "index"} for block in message.content_blocks]
        assert found == want


def test_answer_of_the_first_version_can_be_sent_back() -> None:
    llm = FakeLlama("<think>Hm.</think>It is 42.")
    chat = ChatLlamaint(llm=llm, output_version="v1")
    answer = chat.invoke("x")
    chat.invoke(["x", answer, "Sure?"])
    assert "It is 42." in llm.prompts[-1]
