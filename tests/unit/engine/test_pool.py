"""Shared objects: counted, weak, kept alive for a while."""

from __future__ import annotations

import gc
import threading
import time

import pytest

from llamaint.engine.pool import Pool


class Thing:
    def __init__(self):
        self.closed = False


@pytest.fixture
def pool():
    def close(thing):
        thing.closed = True

    return Pool(close)


def test_same_key_gives_the_same_object_and_opens_once(pool):
    opened = []

    def open_():
        opened.append(Thing())
        return opened[-1]

    assert pool.acquire("a", open_) is pool.acquire("a", open_)
    assert len(opened) == 1
    assert pool.users(opened[0]) == 2


def test_different_keys_give_different_objects(pool):
    assert pool.acquire("a", Thing) is not pool.acquire("b", Thing)


def test_last_release_closes(pool):
    thing = pool.acquire("a", Thing)
    pool.acquire("a", Thing)
    pool.release(thing, None)
    assert not thing.closed
    pool.release(thing, None)
    assert thing.closed
    pool.release(thing, None)
    assert pool.acquire("a", Thing) is not thing


def test_object_closed_by_other_means_is_replaced(pool):
    thing = pool.acquire("a", Thing)
    thing.closed = True
    assert pool.acquire("a", Thing) is not thing


def test_object_nobody_holds_is_forgotten(pool):
    first = id(pool.acquire("a", Thing))
    gc.collect()
    second = pool.acquire("a", Thing)
    assert pool.users(second) == 1
    assert first is not None


def test_keep_alive_gives_the_same_object_back(pool):
    thing = pool.acquire("a", Thing)
    pool.release(thing, 60)
    assert not thing.closed
    assert pool.acquire("a", Thing) is thing
    assert pool.users(thing) == 1
    pool.release(thing, None)
    assert thing.closed


def test_keep_alive_closes_when_its_time_is_over(pool):
    thing = pool.acquire("a", Thing)
    pool.release(thing, 0.02)
    deadline = time.monotonic() + 5
    while not thing.closed and time.monotonic() < deadline:
        time.sleep(0.005)
    assert thing.closed


def test_timer_of_an_earlier_release_does_not_close_a_new_user(pool):
    thing = pool.acquire("a", Thing)
    pool.release(thing, 0.03)
    pool.acquire("a", Thing)
    time.sleep(0.08)
    assert not thing.closed


def test_failed_open_leaves_nothing_behind(pool):
    def fail():
        raise OSError("no such file")

    with pytest.raises(OSError, match="no such file"):
        pool.acquire("a", fail)
    assert pool.users(pool.acquire("a", Thing)) == 1


def test_threads_that_ask_at_once_open_once_and_other_keys_do_not_wait(pool):
    gate = threading.Event()
    opened = []

    def slow():
        gate.wait(5)
        opened.append(Thing())
        return opened[-1]

    got = []
    threads = [threading.Thread(target=lambda: got.append(pool.acquire("slow", slow))) for _ in range(4)]
    for thread in threads:
        thread.start()
    assert isinstance(pool.acquire("other", Thing), Thing)
    gate.set()
    for thread in threads:
        thread.join(5)
    assert len(opened) == 1
    assert got == opened * 4
