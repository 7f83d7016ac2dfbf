"""Token bytes to text that can be shown, as the native engine does it."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class TextOutput:
    """Holds back half characters and whatever may still become a stop string."""

    def __init__(self, stops: Sequence[str]) -> None:
        self._stops = stops
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._held = ""
        self.stop_text: str | None = None

    def push(self, piece: bytes, *, final: bool = False) -> str:
        """Text that became certain; nothing more after a stop string was found."""
        if self.stop_text is not None:
            return ""
        self._held += self._decoder.decode(piece, final)
        found = [(at, stop) for stop in self._stops if (at := self._held.find(stop)) >= 0]
        partial = min(
            (len(self._held) - n for stop in self._stops if (n := self._overlap(stop))),
            default=len(self._held),
        )
        if found and (final or min(found)[0] <= partial):
            at, self.stop_text = min(found)
            return self._held[:at]
        certain = len(self._held) if final else partial
        text, self._held = self._held[:certain], self._held[certain:]
        return text

    def _overlap(self, stop: str) -> int:
        longest = min(len(stop) - 1, len(self._held))
        return next((n for n in range(longest, 0, -1) if self._held.endswith(stop[:n])), 0)
