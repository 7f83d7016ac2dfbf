"""Waiting and asking again while the engine's queue is full. No other failure is retried."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Iterator
from contextlib import aclosing, closing
from functools import partial
from typing import Protocol, TypeVar

from llamaint.errors import CapacityError

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Events(Protocol[T_co]):
    """A stream of the runtime, submitted when it is made. Closing it cancels the request."""

    def __iter__(self) -> Iterator[T_co]: ...

    def close(self) -> None: ...


class AsyncEvents(Protocol[T_co]):
    """The same for an event loop, submitted by its first step."""

    def __aiter__(self) -> AsyncIterator[T_co]: ...

    async def __anext__(self) -> T_co: ...

    async def aclose(self) -> None: ...


def delay_s(attempt: int) -> float:
    """Seconds to wait after a failed attempt: 0.05, 0.1, 0.2, ... 2."""
    return float(min(0.05 * 2**attempt, 2.0))


def call(start: Callable[[], T], max_retries: int) -> T:
    """The result of ``start()``."""
    for attempt in range(max_retries):
        try:
            return start()
        except CapacityError:  # noqa: PERF203 - waiting dwarfs it
            time.sleep(delay_s(attempt))
    return start()


async def acall(start: Callable[[], Awaitable[T]], max_retries: int) -> T:
    """The result of ``await start()``."""
    for attempt in range(max_retries):
        try:
            return await start()
        except CapacityError:  # noqa: PERF203 - waiting dwarfs it
            await asyncio.sleep(delay_s(attempt))
    return await start()


def stream(start: Callable[[], Events[T]], max_retries: int) -> Generator[T, None, None]:
    """The events of ``start()``. Nothing is repeated once the request was taken."""
    with closing(call(start, max_retries)) as events:
        yield from events


async def astream(start: Callable[[], AsyncEvents[T]], max_retries: int) -> AsyncGenerator[T, None]:
    """The async twin of `stream`."""
    first, events = await acall(partial(_begin, start), max_retries)
    async with aclosing(events):
        yield first
        async for event in events:
            yield event


async def _begin(start: Callable[[], AsyncEvents[T]]) -> tuple[T, AsyncEvents[T]]:
    events = start()
    return await anext(events), events
