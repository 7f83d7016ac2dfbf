"""Chunks to events, and events to results."""

from __future__ import annotations

import itertools

import pytest

from llamaint import (
    Finish,
    ReasoningDelta,
    TextDelta,
    ToolArgsDelta,
    ToolCall,
    ToolCallEnd,
    ToolCallStart,
    Usage,
)
from llamaint.reply.chat import ChatReader
from llamaint.reply.completion import CompletionReader
from llamaint.reply.fold import fold_chat, fold_completion
from llamaint.testing.fake_handle import FakeChunk
from llamaint.testing.fake_model import FakeDelta, FakeParser


def chunk(text="", tokens=(), choice=0, **rest):
    return FakeChunk(choice, text=text, tokens=list(tokens), **rest)


class ScriptedParser:
    """Returns one prepared delta per feed."""

    def __init__(self, *deltas):
        self._deltas = iter(deltas)
        self.fed = []

    def feed(self, text, final):
        self.fed.append((text, final))
        return next(self._deltas)


def read(reader, *chunks):
    return [event for c in chunks for event in reader.feed([c])]


def test_completion_events_follow_the_chunks():
    reader = CompletionReader(n_prompt=3)
    events = read(
        reader,
        chunk("He", [1]),
        chunk("", [2]),
        chunk("llo", [3], finish="stop", stop_text="!", timings={"ttft_s": 0.5, "n_cached": 2}),
    )
    assert events[:3] == [
        TextDelta(text="He", tokens=(1,)),
        TextDelta(text="", tokens=(2,)),
        TextDelta(text="llo", tokens=(3,)),
    ]
    finish = events[3]
    assert (finish.reason, finish.stop_text, finish.timings.ttft_s) == ("stop", "!", 0.5)
    assert finish.usage == Usage(prompt_tokens=3, completion_tokens=3, cached_tokens=2)


def test_failing_finish_makes_no_finish_event():
    # The handle raises for it; the text before it still arrives.
    assert read(CompletionReader(n_prompt=1), chunk("a", [1], finish="error")) == [TextDelta(text="a", tokens=(1,))]


def test_echo_begins_every_choice_once():
    reader = CompletionReader(n_prompt=1, echo="Q: ")
    events = read(reader, chunk("a", [1]), chunk("b", [2], choice=1), chunk("c", [3]))
    assert [(e.index, e.text) for e in events] == [(0, "Q: a"), (1, "Q: b"), (0, "c")]


def test_logprobs_get_the_bytes_of_their_tokens():
    reader = CompletionReader(n_prompt=1, piece=lambda token: bytes([token]))
    (event,) = read(reader, chunk("a", [97], logprobs=[(97, -0.5, -0.1, [(97, -0.5), (98, -2.0)])]))
    (entry,) = event.logprobs
    assert (entry.bytes, entry.logprob, entry.sampled_logprob) == (b"a", -0.5, -0.1)
    assert entry.top == ((97, b"a", -0.5), (98, b"b", -2.0))


def test_chat_reader_splits_reasoning_from_content_and_keeps_every_token():
    reader = ChatReader(n_prompt=2, make_parser=FakeParser)
    events = read(
        reader,
        chunk("<think>", [1]),
        chunk("hm</th", [2]),
        chunk("ink>so", [3]),
        chunk("", [4], finish="length"),
    )
    assert [e.text for e in events if isinstance(e, ReasoningDelta)] == ["hm"]
    result = fold_chat(events, "m")
    assert (result.message.reasoning, result.message.content) == ("hm", "so")
    assert result.choices[0].tokens == (1, 2, 3, 4)
    assert result.finish_reason == "length"


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_result_does_not_depend_on_how_the_text_was_cut(size):
    text = "<think>some thought</think>an answer with <think> in it"
    pieces = ["".join(p) for p in itertools.zip_longest(*[iter(text)] * size, fillvalue="")]
    reader = ChatReader(n_prompt=1, make_parser=FakeParser)
    events = read(reader, *(chunk(p) for p in pieces), chunk(finish="stop"))
    message = fold_chat(events, "m").message
    assert (message.reasoning, message.content) == ("some thought", "an answer with <think> in it")


def test_tool_calls_start_grow_and_end():
    parser = ScriptedParser(
        FakeDelta(content="Let me look. "),
        FakeDelta(tool_calls=[(0, "c0", "look", '{"a"')]),
        FakeDelta(tool_calls=[(0, "", "", ": 1}"), (1, "c1", "see", "{}")]),
        FakeDelta(),
    )
    reader = ChatReader(n_prompt=1, make_parser=lambda: parser)
    events = read(reader, chunk("a"), chunk("b"), chunk("c"), chunk("d", finish="stop"))
    assert events[:-1] == [
        TextDelta(text="Let me look. "),
        ToolCallStart(id="c0", name="look", call=0),
        ToolArgsDelta(text='{"a"', call=0),
        ToolArgsDelta(text=": 1}", call=0),
        ToolCallEnd(call=0),
        ToolCallStart(id="c1", name="see", call=1),
        ToolArgsDelta(text="{}", call=1),
        ToolCallEnd(call=1),
    ]
    assert events[-1].reason == "tool_calls"
    assert fold_chat(events, "m").message.tool_calls == (
        ToolCall(id="c0", name="look", arguments='{"a": 1}'),
        ToolCall(id="c1", name="see", arguments="{}"),
    )


def test_fold_orders_choices_and_takes_usage_of_the_last_finish():
    usage = Usage(prompt_tokens=1, completion_tokens=2)
    result = fold_completion(
        [
            TextDelta(text="b", index=1, tokens=(2,)),
            TextDelta(text="a", index=0, tokens=(1,)),
            Finish(reason="stop", index=1),
            Finish(reason="length", index=0, usage=usage),
        ],
        "m",
    )
    assert [(c.index, c.text, c.finish_reason) for c in result.choices] == [(0, "a", "length"), (1, "b", "stop")]
    assert result.usage == usage
    assert result.choices[0].message is None
