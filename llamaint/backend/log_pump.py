"""Drains the native log into `logging`, on a daemon thread that starts with the first model."""

from __future__ import annotations

import atexit
import os
import threading
from typing import TYPE_CHECKING

from llamaint._log import NATIVE_LOGGER

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_WAIT_S = 60.0


class LogPump:
    """Moves lines from a native ring buffer to ``logging.getLogger("llamaint.native")``."""

    def __init__(self, drain: Callable[[float], Sequence[tuple[int, str]]], wake: Callable[[], None]) -> None:
        """Move what ``drain`` returns; ``wake`` ends a ``drain`` that waits."""
        self._drain = drain
        self._wake = wake
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._pid = 0
        self._stopping = False

    def start(self) -> None:
        """Start, unless it runs in this process already."""
        with self._lock:
            if self._pid == os.getpid():
                return
            self._pid = os.getpid()
            self._thread = threading.Thread(target=self._run, name="llamaint-log", daemon=True)
            self._thread.start()
            atexit.register(self.stop)

    def stop(self) -> None:
        """Move what is left and end the thread."""
        if self._thread is None or self._pid != os.getpid():
            return
        self._stopping = True
        self._wake()
        self._thread.join()
        self._thread = None

    def _run(self) -> None:
        while not self._stopping:
            self._move(_WAIT_S)
        self._move(0.0)

    def _move(self, timeout_s: float) -> None:
        for level, line in self._drain(timeout_s):
            NATIVE_LOGGER.log(level, "%s", line)
