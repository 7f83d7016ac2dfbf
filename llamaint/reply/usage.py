"""Token counts and timings of one request, from what the engine measured."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from llamaint.types import Timings, Usage

if TYPE_CHECKING:
    from llamaint.backend.protocols import Chunk

_TIMING_NAMES = tuple(field.name for field in fields(Timings))


class UsageCounter:
    """Adds up the choices of one request."""

    def __init__(self, n_prompt: int) -> None:
        self._n_prompt = n_prompt
        self._n_generated = 0
        self._n_cached = 0

    def add(self, chunk: Chunk) -> None:
        """Count one chunk."""
        self._n_generated += len(chunk.tokens)
        if chunk.timings is not None:
            self._n_cached = max(self._n_cached, int(chunk.timings.get("n_cached", 0)))

    @property
    def usage(self) -> Usage:
        """What was counted so far. The prompt counts once, however many choices share it."""
        return Usage(
            prompt_tokens=self._n_prompt,
            completion_tokens=self._n_generated,
            cached_tokens=self._n_cached,
        )


def timings_of(chunk: Chunk) -> Timings:
    """Timings of a finished choice; zeros when the engine takes none."""
    measured = chunk.timings or {}
    return Timings(**{name: float(measured.get(name, 0.0)) for name in _TIMING_NAMES})
