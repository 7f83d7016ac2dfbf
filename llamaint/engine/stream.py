"""Iterators over the events of one request, for threads and for event loops."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from types import TracebackType

    from typing_extensions import Self

    from llamaint.backend.protocols import Chunk
    from llamaint.engine.handle import RequestHandle

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Reader(Protocol[T_co]):
    """Turns chunks into events; plain computation, one thread at a time."""

    def feed(self, chunks: Sequence[Chunk]) -> Sequence[T_co]:
        """Events that the chunks complete, maybe none."""
        ...


class Stream(Generic[T]):
    """Events of a submitted request. Leaving it, by `close`, ``with`` or garbage, cancels it."""

    def __init__(self, handle: RequestHandle, reader: Reader[T]) -> None:
        self._handle = handle
        self._reader = reader
        self._pending: deque[T] = deque()

    def __iter__(self) -> Self:
        """A stream is its own iterator."""
        return self

    def __next__(self) -> T:
        """The next event. Raises what `RequestHandle.read` raises."""
        while not self._pending:
            try:
                chunks = self._handle.read()
                self._pending.extend(self._reader.feed(chunks))
            except BaseException:
                self._handle.cancel()
                raise
            if not chunks:
                raise StopIteration
        return self._pending.popleft()

    def close(self) -> None:
        """Cancel the request if it is still running; the stream is over. Idempotent."""
        self._pending.clear()
        self._handle.cancel()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class AsyncStream(Generic[T]):
    """The same for an event loop. The request is submitted by the first step.

    Leaving it, by `aclose`, ``async with``, a cancelled task or garbage, cancels the request.
    """

    def __init__(self, start: Callable[[], Awaitable[tuple[RequestHandle, Reader[T]]]]) -> None:
        self._start: Callable[[], Awaitable[tuple[RequestHandle, Reader[T]]]] | None = start
        self._handle: RequestHandle | None = None
        self._reader: Reader[T] | None = None
        self._pending: deque[T] = deque()

    def __aiter__(self) -> Self:
        """A stream is its own iterator."""
        return self

    async def __anext__(self) -> T:
        """The next event. Raises what `RequestHandle.aread` raises."""
        if self._start is not None:
            start, self._start = self._start, None
            self._handle, self._reader = await start()
        while not self._pending:
            if self._handle is None or self._reader is None:
                raise StopAsyncIteration
            try:
                chunks = await self._handle.aread()
                self._pending.extend(self._reader.feed(chunks))
            except BaseException:
                self._handle.cancel()
                raise
            if not chunks:
                raise StopAsyncIteration
        return self._pending.popleft()

    async def aclose(self) -> None:
        """Cancel the request if it is still running; the stream is over. Idempotent."""
        self._start = None
        self._pending.clear()
        if self._handle is not None:
            self._handle.cancel()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()
