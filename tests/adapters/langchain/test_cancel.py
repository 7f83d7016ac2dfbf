"""Leaving a stream and cancelling a task free the engine; the event loop never waits."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from llamaint.testing import FakeLlama, Script
from llamaint_langchain import ChatLlamaint, Llamaint

SLOW = Script(reply="word " * 2000, delay_s=0.01)


def test_break_out_of_a_stream_cancels_the_request(idle: Callable[[FakeLlama], None]) -> None:
    llm = FakeLlama(SLOW)
    for _ in ChatLlamaint(llm=llm).stream("x"):
        break
    idle(llm)
    assert llm.metrics()["n_cancelled"] == 1


async def test_break_out_of_an_async_stream_cancels_the_request(idle: Callable[[FakeLlama], None]) -> None:
    llm = FakeLlama(SLOW)
    async for _ in ChatLlamaint(llm=llm).astream("x"):
        break
    await asyncio.sleep(0)
    await asyncio.to_thread(idle, llm)
    assert llm.metrics()["n_cancelled"] == 1


@pytest.mark.parametrize("adapter", [ChatLlamaint, Llamaint])
async def test_cancelled_task_cancels_the_request(adapter: type[Any], idle: Callable[[FakeLlama], None]) -> None:
    llm = FakeLlama(SLOW)
    task = asyncio.create_task(adapter(llm=llm).ainvoke("x"))
    while not llm.requests:
        await asyncio.sleep(0.001)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.to_thread(idle, llm)
    assert llm.metrics()["n_cancelled"] == 1


async def test_asyncio_timeout_cancels_the_request(idle: Callable[[FakeLlama], None]) -> None:
    llm = FakeLlama(SLOW)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await ChatLlamaint(llm=llm).ainvoke("x")
    await asyncio.to_thread(idle, llm)


async def test_event_loop_runs_on_while_answers_come(ticking: Callable[[], Any]) -> None:
    chat = ChatLlamaint(llm=FakeLlama(Script(reply="a b c d e", delay_s=0.02), n_parallel=8))
    async with ticking() as ticks:
        await asyncio.gather(*(chat.ainvoke("x") for _ in range(8)))
    assert len(ticks) > 20


async def test_no_thread_is_used_for_tokens() -> None:
    chat = ChatLlamaint(llm=FakeLlama(Script(reply="a b c d e", delay_s=0.005)))
    await chat.ainvoke("warm up")
    before = set(threading.enumerate())
    async for _ in chat.astream("x"):
        assert set(threading.enumerate()) <= before


async def test_first_use_loads_beside_the_event_loop(
    monkeypatch: pytest.MonkeyPatch, ticking: Callable[[], Any]
) -> None:
    loading_in: list[threading.Thread] = []
    may_end = threading.Event()

    def slow_load(model: str) -> FakeLlama:
        loading_in.append(threading.current_thread())
        assert may_end.wait(5)
        return FakeLlama("loaded")

    monkeypatch.setattr("llamaint.shared_llama", slow_load)
    task = asyncio.create_task(ChatLlamaint(model="m").ainvoke("x"))
    async with ticking() as ticks:
        while len(ticks) < 10:
            await asyncio.sleep(0.001)
    may_end.set()
    assert (await task).content == "loaded"
    assert loading_in == [thread for thread in loading_in if thread is not threading.main_thread()]
