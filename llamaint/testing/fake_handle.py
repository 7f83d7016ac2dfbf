"""The meeting point of one fake request, with the native handle's manners."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from llamaint.errors import ClosedError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

Logprob = tuple[int, float, float, "Sequence[tuple[int, float]]"]


@dataclass(slots=True)
class FakeChunk:
    """What one choice produced since the last take."""

    choice: int
    text: str = ""
    tokens: list[int] = field(default_factory=list)
    logprobs: list[Logprob] = field(default_factory=list)
    finish: str | None = None
    stop_text: str | None = None
    error: tuple[str, str, Mapping[str, float]] | None = None
    timings: Mapping[str, float] | None = None


class Notifier:
    """Ids of watched handles with news, for one waiting thread."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._ready: set[int] = set()
        self._closed = False

    def add(self, id_: int) -> None:
        """Announce a handle."""
        with self._changed:
            self._ready.add(id_)
            self._changed.notify()

    def wait(self, timeout_s: float) -> list[int]:
        """Ids announced since the last call. Raises ClosedError after `close` once drained."""
        with self._changed:
            self._changed.wait_for(lambda: self._ready or self._closed, timeout_s)
            ids = sorted(self._ready)
            self._ready.clear()
            if not ids and self._closed:
                raise ClosedError("the engine was closed")
            return ids

    def close(self) -> None:
        """Let the waiting thread go."""
        with self._changed:
            self._closed = True
            self._changed.notify()


class FakeHandle:
    """The engine pushes chunks, one consumer takes them; every token is a chunk of its own."""

    def __init__(
        self,
        id_: int,
        n_choices: int,
        notifier: Notifier,
        on_cancel: Callable[[], None],
        *,
        stream: bool,
    ) -> None:
        self.id = id_
        self.cancelled = False
        self._changed = threading.Condition()
        self._chunks: list[FakeChunk] = []
        self._n_open = n_choices
        self._notifier = notifier
        self._on_cancel = on_cancel
        self._stream = stream
        self._watched = False
        self._ready = False  # something to take has been announced

    @property
    def done(self) -> bool:
        """Every choice has finished and every chunk was taken."""
        with self._changed:
            return self._n_open == 0 and not self._chunks

    def push(self, chunk: FakeChunk) -> None:
        """Engine side: add news."""
        with self._changed:
            self._chunks.append(chunk)
            if chunk.finish is not None:
                self._n_open -= 1
            self._announce()

    def take(self) -> Sequence[FakeChunk]:
        """What there is, at once."""
        with self._changed:
            return self._take()

    def wait(self, timeout_s: float) -> Sequence[FakeChunk]:
        """What there is, waiting for it at most this long."""
        with self._changed:
            self._changed.wait_for(self._deliverable, timeout_s)
            return self._take()

    def cancel(self) -> None:
        """Ask the engine to end the request."""
        self.cancelled = True
        self._on_cancel()

    def watch(self) -> None:
        """Announce news to the notifier from now on."""
        with self._changed:
            self._watched = True
            self._ready = False
            self._announce()

    def _deliverable(self) -> bool:
        return bool(self._chunks) and (self._stream or self._n_open == 0)

    def _announce(self) -> None:
        if not self._deliverable():
            return
        self._changed.notify()
        if self._watched and not self._ready:
            self._ready = True
            self._notifier.add(self.id)

    def _take(self) -> list[FakeChunk]:
        if not self._deliverable():
            return []
        chunks, self._chunks = self._chunks, []
        self._ready = False
        return chunks
