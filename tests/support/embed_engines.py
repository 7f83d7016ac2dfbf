"""Opening native embedding engines, and comparing vectors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from llamaint import _native

# Cached keys and values are rounded to F16 otherwise, and flash attention rounds them in any case.
EXACT = {"type_k": "f32", "type_v": "f32", "flash_attn": "off"}


def open_engine(
    path: Path, *, pooling: str = "auto", pack_tokens: int = 0, n_threads: int = 1, **context: object
) -> tuple[_native.Model, _native.EmbedEngine]:
    """A model and an engine on it; ``context`` are fields of ``_native.ContextParams``."""
    model = _native.Model.load(str(path), _native.ModelParams())
    params = _native.EmbedParams(
        context=_native.ContextParams(n_threads=n_threads, **context), pooling=pooling, pack_tokens=pack_tokens
    )
    return model, _native.EmbedEngine(model, params)


def random_texts(n_vocab: int, lengths: Sequence[int], *, seed: int = 0) -> list[list[int]]:
    """Token ids of any kind; the same for the same arguments."""
    rng = np.random.default_rng(seed)
    return [rng.integers(1, n_vocab, size=length).tolist() for length in lengths]


def cosines(one: npt.NDArray[np.float32], two: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    """Cosine of each row of one array with the same row of the other."""
    a, b = one.astype(np.float64), two.astype(np.float64)
    return (a * b).sum(-1) / np.linalg.norm(a, axis=-1) / np.linalg.norm(b, axis=-1)
