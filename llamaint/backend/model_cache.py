"""One loaded model per file and settings, for as long as anybody holds it."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

M = TypeVar("M")


class ModelCache(Generic[M]):
    """Weak and thread-safe: a chat engine and an embedding engine of one file share its weights.

    A forked child starts empty.
    """

    def __init__(self) -> None:
        self._reset()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._reset)

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._loading: dict[Hashable, threading.Lock] = {}
        self._models: weakref.WeakValueDictionary[Hashable, M] = weakref.WeakValueDictionary()

    def get(self, key: Hashable, load: Callable[[], M]) -> M:
        """The model for ``key``, loaded if nobody holds it; one thread loads, others wait for it."""
        with self._lock:
            loading = self._loading.setdefault(key, threading.Lock())
        with loading:
            model = self._models.get(key)
            if model is None:
                model = self._models[key] = load()
            return model
