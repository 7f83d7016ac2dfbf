"""What a fake engine answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

# A word with the space before it, a run of other signs, or a run of white space.
_PIECE = re.compile(r"\s?\w+|\s?[^\w\s]+|\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """One scripted answer.

    Attributes:
        reply: the text; cut into words, each of which is one token.
        pieces: the tokens of the reply themselves, instead of ``reply``; bytes may cut characters.
        fail_at: the step (token number, from 0) at which the request fails.
        error: code of that failure, e.g. ``"decode"``, ``"capacity"``, ``"numeric"``.
        delay_s: time per token.
        prefill_s: time before the first token.
        logprob: log-probability that each token reports.
    """

    reply: str = ""
    pieces: Sequence[str | bytes] | None = None
    fail_at: int | None = None
    error: str = "decode"
    delay_s: float = 0.0
    prefill_s: float = 0.0
    logprob: float = -0.1

    def tokens(self) -> list[bytes]:
        """Bytes of each token of the answer."""
        pieces = split(self.reply) if self.pieces is None else self.pieces
        return [piece.encode() if isinstance(piece, str) else piece for piece in pieces]


ScriptLike = str | Script | Sequence["str | Script"] | Callable[[str], "str | Script"]


def split(text: str) -> list[str]:
    """Words and signs that joined give the text again."""
    return _PIECE.findall(text)


class Playbook:
    """Chooses the script of each request. Called with a lock held by the engine."""

    def __init__(self, scripts: ScriptLike) -> None:
        self._scripts = scripts
        self._n_played = 0

    def next(self, prompt: str) -> Script:
        """The script for a prompt; the last one of a sequence repeats."""
        chosen: str | Script
        if isinstance(self._scripts, (str, Script)):
            chosen = self._scripts
        elif callable(self._scripts):
            chosen = self._scripts(prompt)
        else:
            chosen = self._scripts[min(self._n_played, len(self._scripts) - 1)]
            self._n_played += 1
        return Script(reply=chosen) if isinstance(chosen, str) else chosen
