"""Streams: whatever way they are left, the request is cancelled."""

from __future__ import annotations

import asyncio
import gc
import time

import pytest

from llamaint import DecodeError
from llamaint.engine.stream import AsyncStream, Stream
from llamaint.testing import Script

SLOW = Script(reply="word " * 1000, delay_s=0.01)


class Texts:
    """Events that are plain texts."""

    def feed(self, chunks):
        return [chunk.text for chunk in chunks if chunk.text]


class Broken:
    def feed(self, chunks):
        raise ValueError("a bug in the reader")


def stream(b, reader=None):
    return Stream(b.submit(), reader or Texts())


def astream(b, reader=None):
    async def start():
        return b.submit(), reader or Texts()

    return AsyncStream(start)


def cancelled(b, n=1):
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        if b.engine.metrics()["n_cancelled"] == n:
            return True
        time.sleep(0.005)
    return False


def test_stream_yields_every_event_in_order(bench):
    assert list(stream(bench("one two three"))) == ["one", " two", " three"]


def test_break_and_drop_cancels(bench):
    b = bench(SLOW)
    for _ in stream(b):
        break
    gc.collect()
    assert cancelled(b)


def test_close_cancels_and_ends_the_iteration(bench):
    b = bench(SLOW)
    s = stream(b)
    next(s)
    s.close()
    s.close()
    assert list(s) == []
    assert cancelled(b)


def test_with_block_cancels_on_the_way_out(bench):
    b = bench(SLOW)
    with stream(b) as s:
        next(s)
    assert cancelled(b)


def test_stream_that_is_never_read_cancels_when_dropped(bench):
    b = bench(SLOW)
    stream(b)
    gc.collect()
    assert cancelled(b)


def test_exception_in_the_reader_cancels(bench):
    b = bench(SLOW)
    with pytest.raises(ValueError, match="a bug in the reader"):
        next(stream(b, Broken()))
    assert cancelled(b)


def test_error_ends_the_stream(bench):
    s = stream(bench(Script(reply="a b", fail_at=1)))
    assert next(s) == "a"
    with pytest.raises(DecodeError):
        next(s)
    assert list(s) == []


async def test_async_stream_yields_every_event_in_order(bench):
    assert [text async for text in astream(bench("one two three"))] == ["one", " two", " three"]


async def test_async_break_cancels_without_waiting_for_the_loop(bench):
    b = bench(SLOW)
    async for _ in astream(b):
        break
    gc.collect()
    # No await in between: the engine hears of it although the loop did not run.
    assert cancelled(b)


async def test_aclose_cancels_and_ends_the_iteration(bench):
    b = bench(SLOW)
    s = astream(b)
    await s.__anext__()
    await s.aclose()
    assert [text async for text in s] == []
    assert cancelled(b)


async def test_async_stream_never_started_submits_nothing(bench):
    b = bench(SLOW)
    s = astream(b)
    await s.aclose()
    assert [text async for text in s] == []
    assert b.engine.metrics()["n_requests"] == 0


async def test_cancelled_consumer_task_cancels_the_request(bench):
    b = bench(SLOW)

    async def consume():
        async for _ in astream(b):
            pass

    task = asyncio.create_task(consume())
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(cancelled, b)


async def test_async_error_ends_the_stream(bench):
    s = astream(bench(Script(reply="a b", fail_at=1)))
    assert await s.__anext__() == "a"
    with pytest.raises(DecodeError):
        await s.__anext__()
    assert [text async for text in s] == []
