"""Owns one engine: refuses use after close or fork, and closes it at the latest at exit."""

from __future__ import annotations

import ctypes
import os
import weakref
from typing import TYPE_CHECKING, Generic, TypeVar

from llamaint.engine.dispatcher import Dispatcher
from llamaint.errors import ClosedError, ForkedError

if TYPE_CHECKING:
    from llamaint.backend.protocols import ReadyEngine

E = TypeVar("E", bound="ReadyEngine")

_live: weakref.WeakSet[EngineGuard[ReadyEngine]] = weakref.WeakSet()


class EngineGuard(Generic[E]):
    """An engine, its dispatcher, and the process they belong to.

    Dropping the last reference closes the engine; so does the end of the interpreter.
    """

    def __init__(self, engine: E, name: str) -> None:
        self.name = name
        self._engine = engine
        self._pid = os.getpid()
        self._dispatcher = Dispatcher(engine)
        self._finalizer = weakref.finalize(self, _close, engine, self._dispatcher, self._pid)
        _live.add(self)  # type: ignore[arg-type]

    @property
    def engine(self) -> E:
        """The engine, if it may be used here. Raises ForkedError, ClosedError."""
        self.check_process()
        if self._engine.closed:
            raise ClosedError(f"{self.name} was closed")
        return self._engine

    @property
    def dispatcher(self) -> Dispatcher:
        """Wakes event loops when a watched handle has news."""
        return self._dispatcher

    @property
    def closed(self) -> bool:
        """Whether the engine can no longer be used in this process."""
        return self._pid != os.getpid() or self._engine.closed

    def check_process(self) -> None:
        """Raises ForkedError in a forked child, where the engine's threads do not exist."""
        if self._pid != os.getpid():
            raise ForkedError(
                f"{self.name} was loaded in process {self._pid}, before this process was forked"
                " from it; load it again here",
                pid=self._pid,
            )

    def close(self) -> None:
        """End running requests with ClosedError and free the engine. Idempotent."""
        self._finalizer()

    def abandon(self) -> None:
        """In a forked child: never let native destructors run, they would wait for lost threads."""
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._engine))
        self._finalizer.detach()


def _close(engine: ReadyEngine, dispatcher: Dispatcher, pid: int) -> None:
    if os.getpid() == pid:
        engine.close()
        dispatcher.join()


def _after_fork_in_child() -> None:
    for guard in list(_live):
        guard.abandon()
    _live.clear()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_after_fork_in_child)
