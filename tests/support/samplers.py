"""Sampling without an engine: rows made by hand, draws counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from llamaint import _native

Row = npt.NDArray[np.float32]

# A chain that does nothing: each test turns on what it is about.
NEUTRAL: dict[str, object] = {"temperature": 1.0, "top_k": 0, "top_p": 1.0, "min_p": 0.0}


def make_sampler(model: _native.Model, grammar: _native.Grammar | None = None, **settings: object) -> _native.Sampler:
    """A sampler with seed 1 and a neutral chain, except for ``settings``."""
    n_ctx = settings.pop("n_ctx", 4096)
    assert isinstance(n_ctx, int)
    params = _native.SamplingParams(**{"seed": 1, **NEUTRAL, **settings})
    return _native.Sampler(model, params, grammar, n_ctx)


def row_of(model: _native.Model, logits: Mapping[int, float], rest: float = -30.0) -> Row:
    """float32 [n_vocab]: the given logits, ``rest`` everywhere else."""
    row = np.full(model.info()["n_vocab"], rest, np.float32)
    for token, logit in logits.items():
        row[token] = logit
    return row


def draws(sampler: _native.Sampler, row: Row, n: int = 3000) -> Counter[int]:
    """How often each token is picked from the same row; nothing is accepted in between."""
    return Counter(sampler.sample(row)[0] for _ in range(n))


def softmax(row: Row) -> npt.NDArray[np.float64]:
    """Probabilities, float64."""
    exponent = np.exp(row.astype(np.float64) - row.max())
    return exponent / exponent.sum()


def assert_drawn_from(counts: Counter[int], expected: Mapping[int, float]) -> None:
    """Every count lies within 5 standard deviations of what the probabilities promise."""
    n = counts.total()
    assert set(counts) <= {token for token, p in expected.items() if p > 0}
    for token, p in expected.items():
        assert abs(counts[token] - n * p) <= 5 * (n * p * (1 - p)) ** 0.5 + 1, (token, counts[token] / n, p)
