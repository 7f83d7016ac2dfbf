"""Log-probabilities with the bytes of their tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llamaint.types import TokenLogprob

if TYPE_CHECKING:
    from collections.abc import Callable

    from llamaint.backend.protocols import Chunk


def logprobs_of(chunk: Chunk, piece: Callable[[int], bytes]) -> tuple[TokenLogprob, ...]:
    """One entry per token of the chunk; ``piece`` gives a token's bytes."""
    return tuple(
        TokenLogprob(
            token=token,
            bytes=piece(token),
            logprob=raw,
            sampled_logprob=sampled,
            top=tuple((other, piece(other), logprob) for other, logprob in top),
        )
        for token, raw, sampled, top in chunk.logprobs
    )
