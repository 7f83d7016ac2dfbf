"""Objects shared by everybody in the process who asks for the same files and settings."""

from __future__ import annotations

import os
import threading
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable


class Closable(Protocol):
    """What a pool holds."""

    @property
    def closed(self) -> bool:
        """Whether the object can no longer be used."""
        ...


T = TypeVar("T", bound=Closable)


@dataclass(slots=True)
class _Entry(Generic[T]):
    object: weakref.ref[T]
    key: Hashable
    n_users: int = 0
    # Set between the last release and the end of `keep_alive_s`; holds the object meanwhile.
    timer: threading.Timer | None = None
    kept: T | None = None


class Pool(Generic[T]):
    """Counted, weak registry: an object lives while somebody holds it, is closed by the last release.

    Thread-safe. A forked child starts empty.
    """

    def __init__(self, close: Callable[[T], None]) -> None:
        self._close = close
        self._reset()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._reset)

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._entries: dict[Hashable, _Entry[T]] = {}
        self._opening: dict[Hashable, threading.Lock] = {}

    def acquire(self, key: Hashable, open_: Callable[[], T]) -> T:
        """The object for ``key``, opened if there is none; counts one more user.

        Callers with different keys do not wait for each other's loads.
        """
        with self._lock:
            opening = self._opening.setdefault(key, threading.Lock())
        with opening:
            found = self._find(key)
            if found is not None:
                return found
            opened = open_()
            with self._lock:
                self._entries[key] = _Entry(weakref.ref(opened), key, n_users=1)
            return opened

    def release(self, object_: T, keep_alive_s: float | None) -> None:
        """Count one user less; the last one closes the object, ``keep_alive_s`` later if given."""
        with self._lock:
            entry = self._entry_of(object_)
            if entry is None or entry.n_users == 0:
                return
            entry.n_users -= 1
            if entry.n_users > 0:
                return
            if keep_alive_s:
                entry.kept = object_
                entry.timer = threading.Timer(keep_alive_s, self._expire, (entry,))
                entry.timer.daemon = True
                entry.timer.start()
                return
            del self._entries[entry.key]
        self._close(object_)

    def users(self, object_: T) -> int:
        """How many users the object has."""
        with self._lock:
            entry = self._entry_of(object_)
            return entry.n_users if entry is not None else 0

    def _find(self, key: Hashable) -> T | None:
        with self._lock:
            entry = self._entries.get(key)
            found = entry.object() if entry is not None else None
            if entry is None or found is None or found.closed:
                return None
            if entry.timer is not None:
                entry.timer.cancel()
            entry.timer = entry.kept = None
            entry.n_users += 1
            return found

    def _entry_of(self, object_: T) -> _Entry[T] | None:
        return next((e for e in self._entries.values() if e.object() is object_), None)

    def _expire(self, entry: _Entry[T]) -> None:
        with self._lock:
            kept, entry.kept = entry.kept, None
            if kept is None or entry.n_users > 0:
                return
            entry.timer = None
            self._entries.pop(entry.key, None)
        self._close(kept)
