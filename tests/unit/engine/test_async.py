"""The same on event loops: any number of them, none ever blocked."""

from __future__ import annotations

import asyncio
import gc
import threading

import pytest

from llamaint import CancelledError, ClosedError, DecodeError
from llamaint.testing import Script

SLOW = Script(reply="word " * 1000, delay_s=0.01)


async def read_all(handle):
    text = ""
    while chunks := await handle.aread():
        text += "".join(chunk.text for chunk in chunks)
    return text


async def until(condition, timeout_s=5.0):
    async with asyncio.timeout(timeout_s) if hasattr(asyncio, "timeout") else _NoTimeout():
        while not condition():
            await asyncio.sleep(0.005)


class _NoTimeout:
    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        return None


async def test_reading_to_the_end_gives_the_whole_text(bench):
    assert await read_all(bench("one two three").submit()) == "one two three"


async def test_many_tasks_share_one_dispatcher_thread(bench):
    b = bench(Script(reply="a b c", delay_s=0.002), n_parallel=8)
    assert await asyncio.gather(*(read_all(b.submit()) for _ in range(30))) == ["a b c"] * 30
    assert sum(thread.name == "llamaint-dispatch" for thread in threading.enumerate()) == 1


async def test_cancelled_task_cancels_the_request_at_once(bench):
    b = bench(SLOW)
    task = asyncio.create_task(read_all(b.submit()))
    await until(lambda: b.engine.metrics()["n_generated"] > 2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until(lambda: b.engine.metrics()["n_cancelled"] == 1)


async def test_wait_for_that_times_out_frees_the_engine(bench):
    b = bench([SLOW, Script(reply="next")], n_parallel=1)
    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(read_all(b.submit()), 0.05)
    assert await asyncio.wait_for(read_all(b.submit()), 5) == "next"


async def test_failure_is_raised_in_the_task(bench):
    with pytest.raises(DecodeError):
        await read_all(bench(Script(reply="a b c", fail_at=1)).submit())


async def test_deadline_is_raised_in_the_task(bench):
    with pytest.raises(CancelledError, match="deadline"):
        await read_all(bench(SLOW).submit(deadline_s=0.05))


async def test_close_wakes_a_waiting_task_with_closed_error(bench):
    b = bench(Script(reply="never", prefill_s=60))
    task = asyncio.create_task(read_all(b.submit()))
    await asyncio.sleep(0.02)
    await asyncio.to_thread(b.guard.close)
    with pytest.raises(ClosedError):
        await asyncio.wait_for(task, 5)


def test_several_loops_in_several_threads_read_at_once(bench):
    b = bench(Script(reply="a b c d", delay_s=0.002), n_parallel=16)
    texts = []

    async def main():
        texts.extend(await asyncio.gather(*(read_all(b.submit()) for _ in range(5))))

    threads = [threading.Thread(target=lambda: asyncio.run(main())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert texts == ["a b c d"] * 20


def test_engine_serves_one_loop_after_another(bench):
    b = bench("one two")
    assert [asyncio.run(read_all(b.submit())) for _ in range(3)] == ["one two"] * 3


def test_loop_closed_under_a_waiting_task_cancels_its_request_and_harms_nobody(bench):
    b = bench([SLOW, Script(reply="next")])
    loop = asyncio.new_event_loop()
    handle = b.submit()
    coroutine = read_all(handle)
    task = loop.create_task(coroutine)
    loop.run_until_complete(asyncio.sleep(0.03))
    # Keep the loop from complaining about the task that it leaves behind.
    task._log_destroy_pending = False
    loop.close()
    assert asyncio.run(read_all(b.submit())) == "next"
    asyncio.run(until(lambda: b.engine.metrics()["n_cancelled"] == 1))
    coroutine.close()
    del task, handle
    gc.collect()


def test_handle_read_by_a_thread_and_then_by_a_loop_loses_nothing(bench):
    handle = bench(Script(reply="a b c d e", delay_s=0.01)).submit()
    first = "".join(chunk.text for chunk in handle.read())
    assert first + asyncio.run(read_all(handle)) == "a b c d e"
