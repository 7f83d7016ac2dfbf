"""The caller's end of one generation request: read it, await it, cancel it."""

from __future__ import annotations

import asyncio
import os
import weakref
from typing import TYPE_CHECKING

from llamaint.backend.errors import error_of
from llamaint.engine.dispatcher import Waiter
from llamaint.errors import CancelledError, EngineError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from llamaint.backend.protocols import Chunk, Engine, Handle
    from llamaint.backend.requests import EngineRequest
    from llamaint.engine.guard import EngineGuard
    from llamaint.errors import LlamaintError

# Python handles signals between native waits, so Ctrl-C acts within this time.
WAIT_SLICE_S = 0.1


class RequestHandle:
    """A submitted request. It ends once: with its last chunk, or with one error.

    One consumer at a time. Dropping the handle before its end cancels the request.
    """

    def __init__(self, guard: EngineGuard[Engine], request: EngineRequest) -> None:
        """Submit ``request``. Raises what `Engine.submit` raises."""
        self._guard = guard  # keeps the engine open while somebody reads
        self._deadline_s = request.deadline_s
        self._native: Handle = guard.engine.submit(request)
        self._error: LlamaintError | None = None
        self._ended = False
        self._waiter: Waiter | None = None
        self._finalizer = weakref.finalize(self, _cancel, self._native, os.getpid())
        self._finalizer.atexit = False

    @property
    def ended(self) -> bool:
        """Nothing more will be read."""
        return self._ended

    def read(self) -> Sequence[Chunk]:
        """Wait for chunks; nothing once the request has ended.

        Raises:
            CancelledError: the request was cancelled elsewhere, or its deadline passed.
            LlamaintError: the engine ended the request with an error.
        """
        while not self._over():
            self._guard.check_process()
            chunks = self._native.wait(WAIT_SLICE_S)
            if chunks:
                return self._accept(chunks)
        return ()

    async def aread(self) -> Sequence[Chunk]:
        """`read` without blocking the event loop; cancelling the task cancels the request."""
        try:
            while not self._over():
                self._guard.check_process()
                waiter = self._watch()
                chunks = self._native.take()
                if chunks:
                    return self._accept(chunks)
                if not self._native.done:
                    await waiter.wait()
        except asyncio.CancelledError:
            self.cancel()
            raise
        return ()

    def cancel(self) -> None:
        """Stop the request and end the handle. Idempotent, never blocks."""
        self._ended = True
        self._waiter = None
        self._finalizer()

    def _over(self) -> bool:
        if self._error is not None:
            error, self._error = self._error, None
            self.cancel()
            raise error
        if not self._ended and self._native.done:
            self._ended = True
            self._waiter = None
            self._finalizer.detach()
        return self._ended

    def _watch(self) -> Waiter:
        loop = asyncio.get_running_loop()
        if self._waiter is None or self._waiter.loop is not loop:
            self._waiter = Waiter(loop, self._native.cancel)
            self._guard.dispatcher.register(self._native.id, self._waiter)
            self._native.watch()
        return self._waiter

    def _accept(self, chunks: Sequence[Chunk]) -> Sequence[Chunk]:
        """Keeps what came before the first failure; the failure is raised by the next read."""
        good = []
        for chunk in chunks:
            self._error = self._failure(chunk)
            if self._error is None or chunk.text or chunk.tokens:
                good.append(chunk)
            if self._error is not None:
                break
        if self._error is not None and not good:
            self._over()
        return good

    def _failure(self, chunk: Chunk) -> LlamaintError | None:
        if chunk.finish in (None, "stop", "length"):
            return None
        if chunk.error is not None:
            return error_of(*chunk.error)
        if chunk.finish == "deadline":
            seconds = self._deadline_s or 0.0
            return CancelledError(f"the deadline of {seconds:g} s passed", timeout_s=seconds)
        if chunk.finish == "cancelled":
            return CancelledError("the request was cancelled")
        return EngineError(f"the request ended with {chunk.finish!r} and no reason")


def _cancel(native: Handle, pid: int) -> None:
    if os.getpid() == pid:  # the locks of a forked child may be held by threads it does not have
        native.cancel()
