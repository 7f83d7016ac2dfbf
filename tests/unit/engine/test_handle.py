"""Reading, cancelling and failing, in a thread."""

from __future__ import annotations

import gc
import threading
import time

import pytest

from llamaint import CancelledError, CapacityError, ClosedError, DecodeError, EngineError, NumericError
from llamaint.testing import Script

SLOW = Script(reply="word " * 1000, delay_s=0.01)


def read_all(handle):
    while handle.read():
        pass


def wait_until(condition, timeout_s=5.0):
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.005)


def test_reading_to_the_end_gives_the_whole_text_once(bench, text_of):
    handle = bench("one two three").submit()
    assert text_of(handle) == "one two three"
    assert handle.ended
    assert handle.read() == ()


def test_cancel_ends_the_handle_and_the_request(bench):
    b = bench(SLOW)
    handle = b.submit()
    assert handle.read()
    handle.cancel()
    assert handle.read() == ()
    wait_until(lambda: b.engine.metrics()["n_cancelled"] == 1)
    assert b.engine.metrics()["n_running"] == 0


def test_cancel_before_the_first_token_frees_the_slot(bench, text_of):
    b = bench([Script(reply="x", prefill_s=60), Script(reply="next")], n_parallel=1)
    b.submit().cancel()
    assert text_of(b.submit()) == "next"


def test_dropped_handle_cancels_its_request(bench):
    b = bench(SLOW)
    handle = b.submit()
    handle.read()
    del handle
    gc.collect()
    wait_until(lambda: b.engine.metrics()["n_cancelled"] == 1)


def test_finished_handle_cancels_nothing_when_dropped(bench, text_of):
    b = bench("one")
    handle = b.submit()
    text_of(handle)
    del handle
    gc.collect()
    text_of(b.submit())
    assert b.engine.metrics()["n_cancelled"] == 0


@pytest.mark.parametrize(("code", "error"), [("decode", DecodeError), ("numeric", NumericError), ("odd", EngineError)])
def test_failure_comes_after_the_text_before_it_and_ends_the_handle(bench, code, error):
    handle = bench(Script(reply="one two three", fail_at=2, error=code)).submit()
    seen = []

    def read():
        while chunks := handle.read():
            seen.extend(chunk.text for chunk in chunks)

    with pytest.raises(error) as caught:
        read()
    assert seen == ["one", " two"]
    assert caught.value.numbers == {"step": 2}
    assert handle.read() == ()


def test_failure_of_one_choice_cancels_the_others(bench):
    b = bench([Script(fail_at=0), SLOW])
    handle = b.submit(n=2)
    with pytest.raises(DecodeError):
        read_all(handle)
    wait_until(lambda: b.engine.metrics()["n_running"] == 0)


def test_deadline_raises_with_its_seconds(bench):
    handle = bench(SLOW).submit(deadline_s=0.05)
    with pytest.raises(CancelledError, match=r"the deadline of 0.05 s passed") as caught:
        read_all(handle)
    assert caught.value.numbers == {"timeout_s": 0.05}


def test_deadline_counts_while_the_request_waits(bench):
    b = bench(SLOW, n_parallel=1)
    first = b.submit()
    second = b.submit(deadline_s=0.05)
    with pytest.raises(CancelledError):
        second.read()
    assert first.read()


def test_queue_that_is_full_refuses_with_the_limit(bench):
    b = bench(SLOW, n_parallel=1, max_queue=1)
    running = b.submit()
    running.read()
    waiting = b.submit()
    with pytest.raises(CapacityError) as caught:
        b.submit()
    assert caught.value.numbers == {"max_queue": 1}
    waiting.cancel()
    running.cancel()


def test_close_ends_a_reader_in_another_thread_with_closed_error(bench):
    b = bench(SLOW)
    handle = b.submit()
    caught = []

    def read():
        try:
            while handle.read():
                pass
        except ClosedError as error:
            caught.append(error)

    thread = threading.Thread(target=read)
    thread.start()
    wait_until(lambda: b.engine.metrics()["n_generated"] > 0)
    b.guard.close()
    thread.join(5)
    assert len(caught) == 1


def test_submit_after_close_raises_closed_error(bench):
    b = bench()
    b.guard.close()
    b.guard.close()
    with pytest.raises(ClosedError, match="bench was closed"):
        b.submit()


def test_many_threads_read_their_own_answers(bench, text_of):
    b = bench(lambda prompt: f"answer to{prompt}", n_parallel=3)
    model = b.engine._model
    prompts = [f" question {i}" for i in range(40)]
    handles = [b.submit(prompt=model.tokenize(prompt, False, False)) for prompt in prompts]
    texts = [""] * len(handles)

    def read(i):
        texts[i] = text_of(handles[i])

    threads = [threading.Thread(target=read, args=(i,)) for i in range(len(handles))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert texts == [f"answer to{prompt}" for prompt in prompts]
