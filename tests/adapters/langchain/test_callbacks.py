"""Callbacks and event streams: every token once, usage counted once."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler, UsageMetadataCallbackHandler
from langchain_core.messages import HumanMessage
from langchain_core.tracers._streaming import _StreamingCallbackHandler

from llamaint.testing import FakeLlama, Script
from llamaint_langchain import ChatLlamaint, Llamaint


class Recorder(BaseCallbackHandler):
    def __init__(self) -> None:
        self.events: list[str] = []
        self.tokens: list[str] = []

    def on_chat_model_start(self, *args: Any, **kwargs: Any) -> None:
        self.events.append("start")

    def on_llm_start(self, *args: Any, **kwargs: Any) -> None:
        self.events.append("start")

    def on_llm_new_token(self, token: Any, **kwargs: Any) -> None:
        self.tokens.append(token)

    def on_llm_end(self, *args: Any, **kwargs: Any) -> None:
        self.events.append("end")

    def on_llm_error(self, error: BaseException, **kwargs: Any) -> None:
        self.events.append(type(error).__name__)


def test_invoke_starts_and_ends_once_without_token_events() -> None:
    seen = Recorder()
    ChatLlamaint(llm=FakeLlama("one two")).invoke("x", config={"callbacks": [seen]})
    assert (seen.events, seen.tokens) == (["start", "end"], [])


async def test_each_token_is_announced_once() -> None:
    chat = ChatLlamaint(llm=FakeLlama("one two"))
    for asynchronous in (False, True):
        seen = Recorder()
        if asynchronous:
            [chunk async for chunk in chat.astream("x", config={"callbacks": [seen]})]
        else:
            list(chat.stream("x", config={"callbacks": [seen]}))
        assert (seen.events, seen.tokens) == (["start", "end"], ["one", " two", ""])


def test_streaming_true_announces_tokens_of_invoke() -> None:
    seen = Recorder()
    answer = ChatLlamaint(llm=FakeLlama("one two"), streaming=True).invoke("x", config={"callbacks": [seen]})
    assert answer.content == "one two"
    assert seen.tokens == ["one", " two", ""]


def test_streaming_false_never_streams() -> None:
    chat = ChatLlamaint(llm=FakeLlama("one two"), streaming=False)
    assert [chunk.content for chunk in chat.stream("x")] == ["one two"]


def test_events_of_the_third_version_announce_no_tokens_of_the_first() -> None:
    seen = Recorder()
    stream = ChatLlamaint(llm=FakeLlama("one two")).stream_events("x", config={"callbacks": [seen]}, version="v3")
    assert len(list(stream)) > 0
    assert seen.tokens == []


async def test_events_of_the_second_version_stream_each_token_once() -> None:
    counts: Counter[str] = Counter()
    async for event in ChatLlamaint(llm=FakeLlama("one two")).astream_events("x", version="v2"):
        counts[event["event"]] += 1
    assert counts == {"on_chat_model_start": 1, "on_chat_model_stream": 3, "on_chat_model_end": 1}


def test_generate_announces_every_prompt_once() -> None:
    seen = Recorder()
    ChatLlamaint(llm=FakeLlama("x")).generate([[HumanMessage(text)] for text in "xyz"], callbacks=[seen])
    assert Counter(seen.events) == {"start": 3, "end": 3}


def test_failure_is_announced() -> None:
    seen = Recorder()
    chat = ChatLlamaint(llm=FakeLlama(Script(fail_at=0)))
    for ask in (chat.invoke, lambda *args, **kwargs: list(chat.stream(*args, **kwargs))):
        seen.events.clear()
        with pytest.raises(RuntimeError, match="step 0"):
            ask("x", config={"callbacks": [seen]})
        assert seen.events == ["start", "LlamaintDecodeError"]


async def test_usage_callback_counts_every_request_once() -> None:
    llm = FakeLlama("one two")
    chat = ChatLlamaint(llm=llm)
    usage = UsageMetadataCallbackHandler()
    config: Any = {"callbacks": [usage]}
    chat.invoke("x", config=config)
    list(chat.stream("x", config=config))
    await chat.ainvoke("x", config=config)
    [chunk async for chunk in chat.astream("x", config=config)]
    chat.batch(["x", "x"], config=config)
    assert usage.usage_metadata["fake"]["output_tokens"] == 6 * 2


def test_completion_announces_each_token_once() -> None:
    seen = Recorder()
    assert list(Llamaint(llm=FakeLlama("one two")).stream("x", config={"callbacks": [seen]})) == ["one", " two", ""]
    assert (seen.events, seen.tokens) == (["start", "end"], ["one", " two", ""])


def test_streaming_handler_turns_invoke_into_a_stream_with_the_same_answer() -> None:
    class Streaming(Recorder, _StreamingCallbackHandler):
        def tap_output_iter(self, run_id: Any, output: Any) -> Any:
            return output

        def tap_output_aiter(self, run_id: Any, output: Any) -> Any:
            return output

    llm = FakeLlama("one two")
    chat = ChatLlamaint(llm=llm)
    plain = chat.invoke("x")
    seen = Streaming()
    streamed = chat.invoke("x", config={"callbacks": [seen]})
    assert streamed.content == plain.content
    assert seen.tokens == ["one", " two", ""]
    assert llm.requests[-1].stream
