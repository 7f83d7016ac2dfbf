"""Batches fill the engine."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.prompts import ChatPromptTemplate

from llamaint.testing import FakeLlama, Script
from llamaint_langchain import ChatLlamaint, Llamaint

N = 24


class Gate:
    """Counts how many requests are under way at once; each waits until ``n`` are, or gives up."""

    def __init__(self, n: int) -> None:
        self.most = 0
        self._n = n
        self._now = 0
        self._changed = threading.Condition()

    def __call__(self, tokens: Any, row: Any) -> None: ...

    def enter(self) -> None:
        with self._changed:
            self._now += 1
            self.most = max(self.most, self._now)
            self._changed.notify_all()
            self._changed.wait_for(lambda: self.most >= self._n, 5)
            self._now -= 1


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Gate:
    gate = Gate(N)
    chat, complete = FakeLlama.chat, FakeLlama.complete

    def gated_chat(self: FakeLlama, *args: Any, **options: Any) -> Any:
        gate.enter()
        return chat(self, *args, **options)

    def gated_complete(self: FakeLlama, *args: Any, **options: Any) -> Any:
        gate.enter()
        return complete(self, *args, **options)

    monkeypatch.setattr(FakeLlama, "chat", gated_chat)
    monkeypatch.setattr(FakeLlama, "complete", gated_complete)
    return gate


def echo() -> FakeLlama:
    """Answers with the last line of the prompt that the user wrote."""
    return FakeLlama(lambda prompt: prompt.replace("<|assistant|>", "").split()[-1], n_parallel=N // 2)


WORDS = [f"word{n}" for n in range(N)]


def test_batch_has_a_request_under_way_for_every_place_and_one_waiting(gate: Gate) -> None:
    answers = ChatLlamaint(llm=echo()).batch(WORDS)
    assert [answer.content for answer in answers] == WORDS
    assert gate.most == N


def test_batch_as_completed_gives_every_answer_with_its_index(gate: Gate) -> None:
    answers = dict(ChatLlamaint(llm=echo()).batch_as_completed(WORDS))
    assert [answers[n].content for n in range(N)] == WORDS
    assert gate.most == N


def test_generate_sends_all_prompts_before_waiting(gate: Gate) -> None:
    result = ChatLlamaint(llm=echo()).generate([[HumanMessage(word)] for word in WORDS])
    assert [generations[0].text for generations in result.generations] == WORDS
    assert gate.most == N
    assert result.run is not None
    assert len({run.run_id for run in result.run}) == N


def test_batch_of_a_chain_fills_the_engine_too(gate: Gate) -> None:
    chain = ChatPromptTemplate.from_template("{word}") | ChatLlamaint(llm=echo())
    assert [answer.content for answer in chain.batch([{"word": word} for word in WORDS])] == WORDS
    assert gate.most == N


def test_batch_of_completions_is_under_way_together(gate: Gate) -> None:
    assert Llamaint(llm=echo()).batch(WORDS) == WORDS
    assert gate.most == N


def test_max_concurrency_of_a_config_wins(gate: Gate) -> None:
    gate._n = 3
    ChatLlamaint(llm=echo()).batch(WORDS, config={"max_concurrency": 3})
    assert gate.most == 3


def test_usage_of_generate_adds_up() -> None:
    llm = FakeLlama("one two")
    result = ChatLlamaint(llm=llm).generate([[HumanMessage("x")]] * 3)
    assert result.llm_output is not None
    assert result.llm_output["token_usage"]["completion_tokens"] == 6
    assert result.llm_output["model_name"] == "fake"


def test_batch_can_return_the_error_of_one_input() -> None:
    llm = FakeLlama(lambda prompt: Script(fail_at=0) if "bad" in prompt else "good")
    good, bad = ChatLlamaint(llm=llm).batch(["fine", "bad"], return_exceptions=True)
    assert good.content == "good"
    assert isinstance(bad, Exception)


def test_generate_raises_the_first_error_after_all_have_ended() -> None:
    llm = FakeLlama(lambda prompt: Script(fail_at=0) if "bad" in prompt else "good")
    with pytest.raises(RuntimeError, match="step 0"):
        ChatLlamaint(llm=llm).generate([[HumanMessage("bad")], [HumanMessage("fine")]])
    assert len(llm.requests) == 2
    assert llm.metrics()["n_running"] == 0


async def test_abatch_never_overflows_the_queue() -> None:
    llm = FakeLlama(Script(reply="x", delay_s=0.001), n_parallel=2, max_queue=4)
    answers = await ChatLlamaint(llm=llm).abatch(["x"] * 40)
    assert len(answers) == 40


async def test_abatch_as_completed_gives_every_answer_with_its_index() -> None:
    chat = ChatLlamaint(llm=echo())
    answers = {index: answer async for index, answer in chat.abatch_as_completed(WORDS)}
    assert [answers[n].content for n in range(N)] == WORDS


async def test_plain_tasks_share_the_engine() -> None:
    llm = FakeLlama(Script(reply="a b c", delay_s=0.01), n_parallel=16)
    chat = ChatLlamaint(llm=llm)
    tasks = [asyncio.create_task(chat.ainvoke("x")) for _ in range(16)]
    while len(llm.requests) < 16:
        await asyncio.sleep(0.001)
    assert not any(task.done() for task in tasks)
    await asyncio.gather(*tasks)


def test_batch_of_nothing_is_nothing() -> None:
    assert ChatLlamaint(llm=FakeLlama("x")).batch([]) == []
