"""Reads a safetensors file: 8 bytes header length, a JSON header, then the tensors' bytes.

Format: https://huggingface.co/docs/safetensors (little-endian, row-major, no padding rules).
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import numpy as np

from llamaint.errors import ModelLoadError

if TYPE_CHECKING:
    import numpy.typing as npt

_MAX_HEADER_BYTES = 100_000_000  # the limit of the format's own reader

_WIDTHS = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4}


def read_safetensors(data: bytes) -> dict[str, npt.NDArray[np.float32]]:
    """Return every floating-point tensor of a safetensors file as float32.

    Integer tensors (position ids and the like) are left out.

    Raises:
        ModelLoadError: the header is damaged, a tensor lies outside the file or has an unknown dtype.
    """
    if len(data) < 8:
        raise ModelLoadError(f"safetensors: the file has {len(data)} bytes, too few for a header", n_bytes=len(data))
    n_header = int.from_bytes(data[:8], "little")
    if n_header > min(_MAX_HEADER_BYTES, len(data) - 8):
        raise ModelLoadError(
            f"safetensors: the header claims {n_header} bytes; the file has {len(data)}",
            n_header=n_header,
            n_bytes=len(data),
        )
    try:
        header = json.loads(data[8 : 8 + n_header])
    except ValueError as error:
        raise ModelLoadError(f"safetensors: the header is not JSON: {error}") from None
    if not isinstance(header, dict):
        raise ModelLoadError("safetensors: the header is not a JSON object")
    body = memoryview(data)[8 + n_header :]
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        tensor = _read_tensor(name, entry, body)
        if tensor is not None:
            tensors[name] = tensor
    return tensors


def _read_tensor(name: str, entry: object, body: memoryview) -> npt.NDArray[np.float32] | None:
    dtype, shape, start, end = _parse_entry(name, entry)
    n_bytes = math.prod(shape) * _WIDTHS[dtype]
    if not 0 <= start <= end <= len(body) or end - start != n_bytes:
        raise ModelLoadError(
            f"safetensors: {name!r} needs {n_bytes} bytes; the header gives it {start}..{end} of {len(body)}",
            n_bytes=n_bytes,
        )
    raw = body[start:end]
    if dtype.startswith("I"):
        return None
    if dtype == "BF16":  # the upper half of a float32
        values = (np.frombuffer(raw, "<u2").astype(np.uint32) << 16).view(np.float32)
    else:
        values = np.frombuffer(raw, f"<f{_WIDTHS[dtype]}").astype(np.float32, copy=False)
    return values.reshape(shape)


def _parse_entry(name: str, entry: object) -> tuple[str, tuple[int, ...], int, int]:
    """dtype, shape, first byte, end of one header entry."""
    malformed = ModelLoadError(f"safetensors: the header entry of {name!r} is malformed")
    if not isinstance(entry, dict):
        raise malformed
    try:
        shape = tuple(int(size) for size in entry["shape"])
        start, end = (int(offset) for offset in entry["data_offsets"])
        dtype = str(entry["dtype"])
    except (KeyError, TypeError, ValueError):
        raise malformed from None
    if min(shape, default=0) < 0:
        raise malformed
    if dtype not in _WIDTHS:
        raise ModelLoadError(f"safetensors: {name!r} has dtype {dtype!r}; known are {', '.join(_WIDTHS)}")
    return dtype, shape, start, end
