"""How the hub says what it is doing."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, float], None]
"""Called with (what, fraction 0..1) in the calling thread; an exception it raises stops the work."""


def silent(what: str, fraction: float) -> None:
    """The progress callback of those who did not give one."""
