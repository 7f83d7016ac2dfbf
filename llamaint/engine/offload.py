"""Runs preparation that takes long beside the event loop."""

from __future__ import annotations

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

# Tokenising this many characters takes about a millisecond; a thread hop a tenth.
INLINE_CHARS = 1024

_executor: ThreadPoolExecutor | None = None


async def run(prepare: Callable[[], T], n_chars: int) -> T:
    """Call ``prepare`` here if its input is short, else on a thread of our own.

    The loop's default executor is left to the application: it may be full of blocked calls.
    """
    return prepare() if n_chars <= INLINE_CHARS else await in_thread(prepare)


async def in_thread(prepare: Callable[[], T]) -> T:
    """Call ``prepare`` on a thread of our own."""
    global _executor
    if _executor is None:
        _executor = ThreadPoolExecutor(max_workers=2, thread_name_prefix="llamaint-prepare")
    return await asyncio.get_running_loop().run_in_executor(_executor, prepare)


def _forget_executor() -> None:
    global _executor
    _executor = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_executor)
