from __future__ import annotations

import gc
import threading

import pytest

from llamaint.backend.model_cache import ModelCache


class Model:
    pass


def test_model_is_shared_while_somebody_holds_it_and_loaded_again_after():
    cache, loads = ModelCache(), []

    def load():
        loads.append(1)
        return Model()

    one = cache.get("a", load)
    assert cache.get("a", load) is one
    assert cache.get("b", load) is not one
    del one
    gc.collect()
    cache.get("a", load)
    assert len(loads) == 3


def test_failed_load_is_tried_again():
    cache = ModelCache()

    def fail():
        raise OSError("damaged")

    with pytest.raises(OSError, match="damaged"):
        cache.get("a", fail)
    assert isinstance(cache.get("a", Model), Model)


def test_threads_that_ask_at_once_load_once():
    cache, loads, gate, got = ModelCache(), [], threading.Event(), []

    def load():
        gate.wait(5)
        loads.append(1)
        return Model()

    threads = [threading.Thread(target=lambda: got.append(cache.get("a", load))) for _ in range(5)]
    for thread in threads:
        thread.start()
    gate.set()
    for thread in threads:
        thread.join(5)
    assert len(loads) == 1
    assert len(set(map(id, got))) == 1
