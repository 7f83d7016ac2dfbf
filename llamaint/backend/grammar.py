"""What a compiled grammar looks like to the rest of the package."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Grammar(Protocol):
    """A grammar compiled for one model's vocabulary."""

    @property
    def gbnf(self) -> str:
        """The grammar in llama.cpp's GBNF notation."""
        ...

    def after(self, tokens: Sequence[int]) -> Grammar:
        """The same grammar once it has read ``tokens``. Raises GrammarError if it cannot."""
        ...
