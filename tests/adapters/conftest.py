"""Checks that both adapters use."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from llamaint.testing import FakeLlama


@pytest.fixture
def until() -> Callable[[Callable[[], bool]], None]:
    """Wait for a condition of another thread; fails after five seconds."""

    def wait(condition: Callable[[], bool]) -> None:
        end = time.monotonic() + 5.0
        while not condition():
            assert time.monotonic() < end, "the condition did not come true within 5 s"
            time.sleep(0.005)

    return wait


@pytest.fixture
def idle(until: Callable[[Callable[[], bool]], None]) -> Callable[[FakeLlama], None]:
    """Wait until an engine has no request left."""

    def wait(llm: FakeLlama) -> None:
        until(lambda: llm.metrics()["n_running"] + llm.metrics()["n_waiting"] == 0)

    return wait


@pytest.fixture
def ticking() -> Callable[[], object]:
    """An async context whose value counts the ticks of the event loop while the block waits."""

    @asynccontextmanager
    async def context() -> AsyncIterator[list[int]]:
        ticks: list[int] = []

        async def tick() -> None:
            while True:
                ticks.append(len(ticks))
                await asyncio.sleep(0.001)

        task = asyncio.create_task(tick())
        try:
            yield ticks
        finally:
            task.cancel()

    return context
