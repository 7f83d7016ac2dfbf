"""Comparing our tokens with a reference: equal, or apart only where llama.cpp itself is undecided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support.row_noise import RowNoise

_PROMPTS = Path(__file__).parents[1] / "parity" / "prompts.txt"


def prompts() -> list[str]:
    """The 50 prompts of 1 to 407 tokens (SmolLM2); some code, some beyond ASCII."""
    return _PROMPTS.read_text(encoding="utf-8").removesuffix("\n").split("\n=====\n")


@dataclass(frozen=True, kw_only=True)
class Parting:
    """Where two continuations of one prompt part.

    Attributes:
        position: generated tokens that are still the same.
        gap: difference of the log-probabilities of the two tokens that were picked.
        noise: largest change of a log-probability between two ways of llama.cpp itself to evaluate
            the same tokens (tests/parity/row_noise.cpp).
    """

    position: int
    gap: float
    noise: float

    @property
    def excused(self) -> bool:
        """Whether the two candidates are closer than the kernels' own difference can turn around."""
        return self.gap < 2 * self.noise

    def __str__(self) -> str:
        return f"token {self.position} (gap {self.gap:.4f}, noise {self.noise:.4f})"


def parting(noise_of: RowNoise, prompt: Sequence[int], ours: Sequence[int], reference: Sequence[int]) -> Parting | None:
    """None if both are the same; otherwise what llama.cpp thinks of the place where they part.

    Args:
        noise_of: with the model of both.
        prompt: token ids before both continuations.
        ours: generated token ids; the end-of-generation token excluded.
        reference: likewise.
    """
    if list(ours) == list(reference):
        return None
    pairs = enumerate(zip(ours, reference, strict=False))
    position = next((at for at, (one, two) in pairs if one != two), min(len(ours), len(reference)))
    noise, likely = noise_of.measure([*prompt, *reference[:position]])
    picked = [tokens[position] for tokens in (ours, reference) if len(tokens) > position]
    # A side that has ended picked an end-of-generation token: the best of the others.
    picked += sorted(likely.keys() - set(picked), key=likely.__getitem__, reverse=True)[: 2 - len(picked)]
    below_all = min(likely.values())  # what a token outside the likely ones has at most
    one, two = (likely.get(token, below_all) for token in picked)
    return Parting(position=position, gap=abs(one - two), noise=noise)
