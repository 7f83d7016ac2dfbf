"""Scaling of embedding vectors, stable for very large, very small and zero vectors."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from llamaint.errors import RequestError

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.float32]

# llama.cpp's scale for vectors to be stored as int16 (common_embd_normalize).
MAX_ABS_SCALE = 32760.0

NONE = -1.0
MAX_ABS = 0.0


def check_normalize(normalize: float | bool) -> float:
    """The norm's number: -1 none, 0 largest magnitude, p >= 1 the p-norm (``math.inf`` too).

    ``False`` is none and ``True`` is 2.

    Raises:
        TypeError: not a number.
        RequestError: another number.
    """
    if isinstance(normalize, (bool, np.bool_)):
        return 2.0 if normalize else NONE
    if not isinstance(normalize, (int, float, np.integer, np.floating)):
        raise TypeError(f"normalize must be a number or a bool, not {type(normalize).__name__}")
    p = float(normalize)
    if p in (NONE, MAX_ABS) or p >= 1:
        return p
    raise RequestError(f"normalize must be -1 (none), 0 (largest magnitude) or a p-norm with p >= 1; it is {normalize}")


def normalize_rows(rows: Array, p: float) -> Array:
    """Scale each row of float32 ``[n, dim]`` by the norm ``p`` of `check_normalize`.

    Computed in float64 on rows divided by their largest magnitude, so that neither squares of 1e38
    overflow nor squares of 1e-38 vanish. Rows of zeros stay zeros.
    """
    if p == NONE:
        return rows
    values = rows.astype(np.float64)
    largest = np.abs(values).max(axis=-1, keepdims=True, initial=0.0)
    values /= np.where(largest > 0, largest, 1.0)
    if p == MAX_ABS:
        values *= MAX_ABS_SCALE
    elif p != math.inf:
        norms = np.linalg.norm(values, ord=p, axis=-1, keepdims=True)
        values /= np.where(norms > 0, norms, 1.0)
    return values.astype(np.float32)
