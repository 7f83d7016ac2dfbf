"""The caller's end of one embedding request."""

from __future__ import annotations

import asyncio
import os
import weakref
from typing import TYPE_CHECKING

from llamaint.engine.dispatcher import Waiter
from llamaint.engine.handle import WAIT_SLICE_S

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt

    from llamaint.backend.protocols import EmbedEngine, EmbedHandle
    from llamaint.engine.guard import EngineGuard

    Vectors = npt.NDArray[np.float32] | Sequence[npt.NDArray[np.float32]]


class EmbedRequestHandle:
    """Submitted texts. Dropping the handle before `result` returns cancels the request."""

    def __init__(self, guard: EngineGuard[EmbedEngine], texts: Sequence[Sequence[int]]) -> None:
        """Submit token ids. Raises what `EmbedEngine.submit` raises."""
        self._guard = guard
        self._native: EmbedHandle = guard.engine.submit(texts)
        self._finalizer = weakref.finalize(self, _cancel, self._native, os.getpid())
        self._finalizer.atexit = False

    def result(self) -> Vectors:
        """Wait for the vectors, as `EmbedHandle.result` describes them. Raises EngineError."""
        try:
            while True:
                self._guard.check_process()
                if self._native.wait(WAIT_SLICE_S):
                    return self._native.result()
        finally:
            self.cancel()

    async def aresult(self) -> Vectors:
        """`result` without blocking the event loop; cancelling the task cancels the request."""
        waiter = Waiter(asyncio.get_running_loop(), self._native.cancel)
        self._guard.dispatcher.register(self._native.id, waiter)
        self._native.watch()
        try:
            while not self._native.wait(0):
                self._guard.check_process()
                await waiter.wait()
            return self._native.result()
        finally:
            self.cancel()

    def cancel(self) -> None:
        """Stop the request if it is still running. Idempotent, never blocks."""
        self._finalizer()


def _cancel(native: EmbedHandle, pid: int) -> None:
    if os.getpid() == pid:
        native.cancel()
