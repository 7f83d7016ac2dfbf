"""Every request ends once: cancelled, late, closed, dropped; and leaves the engine to the others."""

from __future__ import annotations

import asyncio
import gc
import threading
import time

import pytest

from llamaint import CancelledError, CapacityError, ClosedError, Llama, TextDelta

GREEDY = {"temperature": 0.0}


def idle(llm, timeout_s=10.0):
    """Whether the engine comes to rest."""
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        metrics = llm.metrics()
        ended = sum(metrics[f"finished_{how}"] for how in ("stop", "length", "cancelled", "deadline", "error"))
        if ended == metrics["requests"]:
            return True
        time.sleep(0.01)
    return False


def works(llm):
    return llm.complete("abc", max_tokens=3, **GREEDY).text == "def"


def test_leaving_a_stream_cancels_its_request(cycle):
    before = cycle.metrics()["finished_cancelled"]
    for event in cycle.complete_stream("abc", **GREEDY):
        if isinstance(event, TextDelta):
            break
    gc.collect()
    assert idle(cycle)
    assert cycle.metrics()["finished_cancelled"] == before + 1
    assert works(cycle)


def test_cancelling_a_task_cancels_its_request(cycle):
    before = cycle.metrics()["finished_cancelled"]

    async def main():
        task = asyncio.create_task(cycle.acomplete("abc", **GREEDY))
        await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert idle(cycle)
    assert cycle.metrics()["finished_cancelled"] == before + 1
    assert works(cycle)


def test_leaving_an_async_stream_cancels_its_request(cycle):
    before = cycle.metrics()["finished_cancelled"]

    async def main():
        async for _ in cycle.acomplete_stream("abc", **GREEDY):
            break

    asyncio.run(main())
    assert idle(cycle)
    assert cycle.metrics()["finished_cancelled"] == before + 1


def test_timeout_raises_and_frees_the_slot(tiny):
    with pytest.raises(CancelledError, match=r"deadline of 0\.05 s"):
        tiny.complete("abc", timeout=0.05, ignore_eos=True)
    assert idle(tiny)


def test_timeout_also_ends_a_request_that_waits_for_a_slot(cycle_llama):
    with Llama(cycle_llama, n_ctx=4096, n_parallel=1, n_threads=1) as llm:
        busy = llm.complete_stream("abc", **GREEDY)
        next(busy)
        with pytest.raises(CancelledError):
            llm.complete("abc", timeout=0.05)
        busy.close()
        assert works(llm)


def test_queue_that_is_full_refuses_at_once(cycle_llama):
    with Llama(cycle_llama, n_ctx=4096, n_parallel=1, max_queue=1, n_threads=1) as llm:
        streams = [llm.complete_stream("abc", **GREEDY)]
        next(streams[0])
        streams.append(llm.complete_stream("abc", **GREEDY))
        with pytest.raises(CapacityError):
            llm.complete_stream("abc", **GREEDY)
        for stream in streams:
            stream.close()
        assert idle(llm)
        assert works(llm)


def test_close_while_busy_ends_every_reader_with_closed_error(cycle_llama):
    llm = Llama(cycle_llama, n_ctx=4096, n_threads=1)
    errors: list[Exception] = []

    def read(method):
        try:
            method()
        except ClosedError as error:
            errors.append(error)

    methods = [
        lambda: llm.complete("abc", **GREEDY),
        lambda: list(llm.complete_stream("abc", **GREEDY)),
        lambda: asyncio.run(llm.acomplete("abc", **GREEDY)),
    ] * 3
    threads = [threading.Thread(target=read, args=(method,)) for method in methods]
    for thread in threads:
        thread.start()
    while llm.metrics()["requests"] < len(methods):
        time.sleep(0.001)
    llm.close()
    for thread in threads:
        thread.join(30)
    assert len(errors) == len(methods)
    with pytest.raises(ClosedError):
        llm.complete("abc")


def test_requests_cancelled_at_random_leave_the_others_unharmed(cycle):
    expected = cycle.complete("abc", max_tokens=30, **GREEDY).text
    texts: list[str] = []

    def mixed(i):
        stream = cycle.complete_stream("abc", max_tokens=30, **GREEDY)
        seen = ""
        for n, event in enumerate(stream):
            if i % 3 == 0 and n == i % 5:
                stream.close()
                return
            seen += getattr(event, "text", "")
        texts.append(seen)

    threads = [threading.Thread(target=mixed, args=(i,)) for i in range(30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    # A stream that ends before its turn to be cancelled has told everything as well.
    assert len(texts) >= 20
    assert set(texts) == {expected}
    assert idle(cycle)


def test_no_thread_is_left_after_close(cycle_llama):
    with Llama(cycle_llama, n_ctx=512, n_threads=1):
        pass  # the log pump starts with the first model and stays
    before = set(threading.enumerate())
    with Llama(cycle_llama, n_ctx=512, n_threads=1) as llm:
        asyncio.run(llm.acomplete("abc", max_tokens=3))
        llm.complete("abc", max_tokens=3)
    assert set(threading.enumerate()) == before


def test_dropped_llama_closes_its_engine(cycle_llama):
    llm = Llama(cycle_llama, n_ctx=512, n_threads=1)
    engine = llm._guard.engine
    del llm
    gc.collect()
    assert engine.closed
