"""Chunks of a completion to events."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from llamaint.reply.logprobs import logprobs_of
from llamaint.reply.usage import UsageCounter, timings_of
from llamaint.types import Finish, TextDelta

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from llamaint.backend.protocols import Chunk
    from llamaint.types import FinishReason

FINISHED = ("stop", "length")


class CompletionReader:
    """Text of each choice as it comes, then one `Finish` per choice."""

    def __init__(self, *, n_prompt: int, piece: Callable[[int], bytes] | None = None, echo: str = "") -> None:
        """Read one request.

        Args:
            n_prompt: tokens of the prompt.
            piece: bytes of a token; given when log-probabilities were asked for.
            echo: text that every choice begins with.
        """
        self._counter = UsageCounter(n_prompt)
        self._piece = piece
        self._echo = echo
        self._begun: set[int] = set()

    def feed(self, chunks: Sequence[Chunk]) -> list[TextDelta | Finish]:
        """Events of the chunks, in order."""
        events: list[TextDelta | Finish] = []
        for chunk in chunks:
            self._counter.add(chunk)
            text = chunk.text
            if chunk.choice not in self._begun:
                self._begun.add(chunk.choice)
                text = self._echo + text
            if text or chunk.tokens:
                events.append(
                    TextDelta(
                        text=text,
                        index=chunk.choice,
                        tokens=tuple(chunk.tokens),
                        logprobs=logprobs_of(chunk, self._piece) if self._piece else None,
                    )
                )
            if chunk.finish in FINISHED:
                events.append(
                    Finish(
                        reason=cast("FinishReason", chunk.finish),
                        index=chunk.choice,
                        stop_text=chunk.stop_text or None,
                        usage=self._counter.usage,
                        timings=timings_of(chunk),
                    )
                )
        return events
