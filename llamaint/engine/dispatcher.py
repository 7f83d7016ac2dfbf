"""One thread per engine that wakes event loops when their requests have news."""

from __future__ import annotations

import threading
import weakref
from typing import TYPE_CHECKING

from llamaint._log import LOGGER

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Iterable

    from llamaint.backend.protocols import ReadyEngine

_IDLE_S = 60.0


class Waiter:
    """Where one task of one event loop waits for news of one handle. Used on that loop only.

    ``abandon`` is called, on another thread, when the loop was closed under the waiting task.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, abandon: Callable[[], None]) -> None:
        self.loop = loop
        self.abandon = abandon
        self._news = False
        self._future: asyncio.Future[None] | None = None

    def wake(self) -> None:
        """There is something to take, or the engine has closed."""
        self._news = True
        if self._future is not None and not self._future.done():
            self._future.set_result(None)

    async def wait(self) -> None:
        """Return once `wake` was called after the last return."""
        if not self._news:
            self._future = self.loop.create_future()
            try:
                await self._future
            finally:
                self._future = None
        self._news = False


class Dispatcher:
    """Maps handle ids to waiters and wakes each loop once per batch of ids.

    The thread starts with the first waiter and ends when the engine closes. It holds the engine
    but neither the dispatcher nor any waiter, so that both can be dropped while it sleeps.
    """

    def __init__(self, engine: ReadyEngine) -> None:
        self._engine = engine
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._waiters: weakref.WeakValueDictionary[int, Waiter] = weakref.WeakValueDictionary()

    def register(self, handle_id: int, waiter: Waiter) -> None:
        """Wake ``waiter`` for this handle as long as somebody holds it."""
        self._waiters[handle_id] = waiter
        if self._thread is None:
            with self._lock:
                if self._thread is None:
                    thread = threading.Thread(
                        target=_dispatch,
                        args=(self._engine, self._waiters),
                        name="llamaint-dispatch",
                        daemon=True,
                    )
                    thread.start()
                    self._thread = thread

    def join(self) -> None:
        """Wait for the thread to end; the engine must be closed."""
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()


def _dispatch(engine: ReadyEngine, waiters: weakref.WeakValueDictionary[int, Waiter]) -> None:
    while True:
        try:
            ids = engine.wait_ready(_IDLE_S)
        except Exception:
            if not engine.closed:
                LOGGER.exception("waiting for the engine failed; it is closed")
                engine.close()
            _wake(list(waiters.values()))  # they find the error in their handles
            return
        _wake([waiter for id_ in ids if (waiter := waiters.get(id_)) is not None])


def _wake(waiters: Iterable[Waiter]) -> None:
    by_loop: dict[asyncio.AbstractEventLoop, list[Waiter]] = {}
    for waiter in waiters:
        by_loop.setdefault(waiter.loop, []).append(waiter)
    for loop, batch in by_loop.items():
        _wake_on(loop, batch)


def _wake_on(loop: asyncio.AbstractEventLoop, batch: list[Waiter]) -> None:
    try:
        loop.call_soon_threadsafe(_wake_batch, batch)
    except RuntimeError:  # the loop was closed; nobody will read these any more
        for waiter in batch:
            waiter.abandon()


def _wake_batch(batch: list[Waiter]) -> None:
    for waiter in batch:
        waiter.wake()
