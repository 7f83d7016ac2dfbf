"""Completion."""

from __future__ import annotations

from typing import Any

import pytest

from llamaint.testing import FakeLlama, Script
from llamaint_langchain import Llamaint, LlamaintUnsupportedError


async def test_every_way_to_ask_gives_the_same_text() -> None:
    llm = Llamaint(llm=FakeLlama("It is 42."))
    assert llm.invoke("x") == "It is 42."
    assert "".join(llm.stream("x")) == "It is 42."
    assert await llm.ainvoke("x") == "It is 42."
    assert "".join([piece async for piece in llm.astream("x")]) == "It is 42."
    assert llm.batch(["x", "y"]) == ["It is 42."] * 2
    assert await llm.abatch(["x", "y"]) == ["It is 42."] * 2


def test_prompt_is_sent_without_a_template() -> None:
    llm = FakeLlama("x")
    Llamaint(llm=llm).invoke("The capital of France is")
    assert "<|" not in llm.prompts[0]


def test_result_carries_reason_logprobs_and_usage() -> None:
    llm = FakeLlama(Script(reply="one two three", logprob=-0.5))
    result = Llamaint(llm=llm, max_tokens=2, logprobs=True).generate(["x", "y"])
    info: Any = result.generations[1][0].generation_info
    assert info["finish_reason"] == "length"
    assert [entry["logprob"] for entry in info["logprobs"]["content"]] == [-0.5, -0.5]
    assert result.llm_output is not None
    assert result.llm_output["token_usage"]["completion_tokens"] == 4


def test_last_chunk_carries_reason_and_usage() -> None:
    *rest, last = Llamaint(llm=FakeLlama("one two"))._stream("x")
    assert [chunk.generation_info for chunk in rest] == [None, None]
    assert last.generation_info is not None
    assert last.generation_info["finish_reason"] == "stop"
    assert last.generation_info["token_usage"]["completion_tokens"] == 2


def test_n_answers_come_from_one_request() -> None:
    llm = FakeLlama(["one", "two"])
    generations = Llamaint(llm=llm, n=2).generate(["x"]).generations[0]
    assert [generation.text for generation in generations] == ["one", "two"]
    with pytest.raises(LlamaintUnsupportedError, match="2 answers"):
        list(Llamaint(llm=llm, n=2).stream("x"))


def test_stop_and_echo_act() -> None:
    llm = Llamaint(llm=FakeLlama("two three four"))
    assert llm.invoke("one ", stop=["four"], echo=True) == "one two three "


def test_unknown_keyword_is_refused() -> None:
    with pytest.raises(TypeError, match="'tempature'"):
        Llamaint(llm=FakeLlama("x")).invoke("x", tempature=1.0)
    with pytest.raises(TypeError, match="'chat_template_kwargs'"):
        Llamaint(llm=FakeLlama("x")).invoke("x", chat_template_kwargs={})
