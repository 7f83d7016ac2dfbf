"""The embedding engine: every job ends once, whatever happens around it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

from llamaint import _native
from tests.support import tiny_models
from tests.support.embed_engines import open_engine, random_texts

Opener = Callable[[], tuple[_native.Model, _native.EmbedEngine]]


# One of each kind of worker: two that evaluate whole texts, one that cuts them into chunks.
@pytest.fixture(params=["encoder", "causal"])
def open_one(request: pytest.FixtureRequest) -> Opener:
    if request.param == "encoder":
        return lambda: open_engine(tiny_models.bert_mean(), n_threads=2)
    return lambda: open_engine(tiny_models.llama(), n_ctx=128, n_threads=1)


def long_job(model: _native.Model, engine: _native.EmbedEngine) -> _native.EmbedHandle:
    """Takes many seconds."""
    return engine.submit(random_texts(model.info()["n_vocab"], [120] * 5000))


def code_of(handle: _native.EmbedHandle) -> str:
    with pytest.raises(_native.NativeError) as caught:
        handle.result()
    return caught.value.code


def test_close_while_busy_ends_every_job_with_closed(open_one: Opener) -> None:
    model, engine = open_one()
    handles = [long_job(model, engine) for _ in range(3)]
    while engine.metrics()["decodes"] == 0:
        time.sleep(0.001)
    engine.close()
    assert engine.closed
    assert [code_of(handle) for handle in handles] == ["closed"] * 3


def test_close_twice_and_from_several_threads_is_harmless(open_one: Opener) -> None:
    model, engine = open_one()
    long_job(model, engine)
    threads = [threading.Thread(target=engine.close) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    engine.close()


def test_a_closed_engine_refuses_texts(open_one: Opener) -> None:
    _, engine = open_one()
    engine.close()
    with pytest.raises(_native.NativeError) as caught:
        engine.submit([[1, 2, 3]])
    assert caught.value.code == "closed"


def test_dropping_a_busy_engine_ends_its_jobs(open_one: Opener) -> None:
    model, engine = open_one()
    handle = long_job(model, engine)
    del engine
    assert code_of(handle) == "closed"


def test_cancel_ends_the_job_at_once_and_leaves_the_others(open_one: Opener) -> None:
    model, engine = open_one()
    texts = random_texts(model.info()["n_vocab"], [30, 8, 99])
    expected = engine.submit(texts).result()
    victim = long_job(model, engine)
    other = engine.submit(texts)
    victim.cancel()
    assert victim.wait(0)
    assert code_of(victim) == "cancelled"
    np.testing.assert_allclose(other.result(), expected, atol=2e-3)
    victim.cancel()
    engine.close()


def test_a_cancelled_job_frees_the_engine_for_the_next(open_one: Opener) -> None:
    model, engine = open_one()
    long_job(model, engine).cancel()
    engine.submit(random_texts(model.info()["n_vocab"], [5])).result()
    assert engine.metrics()["texts"] < 5000
    engine.close()


def test_cancel_after_the_end_keeps_the_result(open_one: Opener) -> None:
    model, engine = open_one()
    handle = engine.submit(random_texts(model.info()["n_vocab"], [5]))
    first = handle.result()
    handle.cancel()
    np.testing.assert_array_equal(handle.result(), first)


def test_cancel_gives_up_a_decode_in_progress() -> None:
    """One text whose evaluation takes long: nobody else needs it, so the decode itself is left."""
    model, engine = open_engine(tiny_models.llama(), pooling="mean", n_ctx=4096, n_ubatch=2048)
    handle = engine.submit(random_texts(model.info()["n_vocab"], [4096]))
    while not engine.metrics()["grown_contexts"]:  # the text has left the queue
        time.sleep(0.0005)
    handle.cancel()
    engine.submit([[1, 2, 3]]).result()
    assert engine.metrics()["aborted_decodes"] == 1
    engine.close()


def test_watched_jobs_come_out_of_wait_ready(open_one: Opener) -> None:
    model, engine = open_one()
    handles = [engine.submit(random_texts(model.info()["n_vocab"], [n + 1])) for n in range(5)]
    for handle in handles:
        handle.watch()
    seen: set[int] = set()
    while len(seen) < 5:
        ids = engine.wait_ready(10.0)
        assert ids
        seen |= set(ids)
    assert seen == {handle.id for handle in handles}
    assert engine.wait_ready(0.0) == []


def test_watching_an_ended_job_announces_it(open_one: Opener) -> None:
    _, engine = open_one()
    handle = engine.submit([[1]])
    handle.result()
    handle.watch()
    assert engine.wait_ready(10.0) == [handle.id]


def test_wait_ready_raises_once_the_engine_is_closed_and_drained(open_one: Opener) -> None:
    model, engine = open_one()
    handle = long_job(model, engine)
    handle.watch()
    engine.close()
    assert engine.wait_ready(10.0) == [handle.id]
    with pytest.raises(_native.NativeError) as caught:
        engine.wait_ready(10.0)
    assert caught.value.code == "closed"


def test_waiting_lets_other_python_threads_run(open_one: Opener) -> None:
    model, engine = open_one()
    handle = long_job(model, engine)
    n_ticks = 0
    stop = threading.Event()

    def tick() -> None:
        nonlocal n_ticks
        while not stop.is_set():
            n_ticks += 1
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    handle.wait(0.5)
    stop.set()
    thread.join()
    engine.close()
    assert n_ticks >= 10


def test_32_threads_at_once_get_their_own_vectors(open_one: Opener) -> None:
    model, engine = open_one()
    n_vocab = model.info()["n_vocab"]
    jobs = [random_texts(n_vocab, [1 + (n * 7 + k) % 90 for k in range(6)], seed=n) for n in range(32)]
    expected = [engine.submit(texts).result() for texts in jobs]
    got: list[np.ndarray | None] = [None] * len(jobs)
    start = threading.Barrier(len(jobs))

    def work(n: int) -> None:
        start.wait()
        got[n] = engine.submit(jobs[n]).result()

    threads = [threading.Thread(target=work, args=(n,)) for n in range(len(jobs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for n in range(len(jobs)):
        np.testing.assert_allclose(got[n], expected[n], atol=5e-3)
    assert engine.metrics()["failed_decodes"] == 0
    engine.close()


def test_random_cancels_leave_no_trace_in_other_results(open_one: Opener) -> None:
    rng = np.random.default_rng(5)
    model, engine = open_one()
    n_vocab = model.info()["n_vocab"]
    texts = random_texts(n_vocab, [3, 50, 120, 17])
    expected = engine.submit(texts).result()
    kept = []
    for n in range(60):
        handle = engine.submit(random_texts(n_vocab, [40, 100], seed=n))
        if n % 4 == 0:
            kept.append(engine.submit(texts))
        time.sleep(float(rng.uniform(0, 0.003)))
        handle.cancel()
    for handle in kept:
        np.testing.assert_allclose(handle.result(), expected, atol=5e-3)
    engine.close()
