"""Writes one small GGUF file: metadata by key, seeded tensors by name."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Protocol

import gguf
import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]

# Rows of these are read one by one or feed kernels that have no quantised form.
_NEVER_QUANTISED = ("norm", "token_embd", "token_types", "position_embd", "ssm_conv1d", "ssm_a")


class Tokenizer(Protocol):
    """A vocabulary that can write itself into a file."""

    @property
    def n_vocab(self) -> int:
        """Number of tokens."""

    def write(self, out: gguf.GGUFWriter) -> None:
        """Add the ``tokenizer.*`` keys."""


class TinyWriter:
    """Collects the keys and tensors of one model and writes them at `close`.

    Shapes are given in ggml order, fastest dimension first (numpy's reversed). Values depend on the
    tensor's name and the seed alone, so adding a tensor leaves all others as they are.

    Args:
        path: file to write.
        arch: llama.cpp's name of the architecture; ``{arch}`` in keys is replaced by it.
        seed: draws other weights for the same shapes.
        weight_type: type of the matrices; everything else stays float32.
    """

    def __init__(
        self,
        path: Path,
        arch: str,
        *,
        seed: int,
        weight_type: gguf.GGMLQuantizationType = gguf.GGMLQuantizationType.F32,
    ) -> None:
        self.arch = arch
        self._seed = seed
        self._weight_type = weight_type
        self._out = gguf.GGUFWriter(path, arch)
        self._out.add_name(f"tiny-{arch}")

    # ---- metadata ---------------------------------------------------------------------------
    def _key(self, key: str) -> str:
        return key.replace("{arch}", self.arch)

    def u32(self, **keys: int) -> None:
        """Add ``{arch}.<key>`` integers; a double underscore in a key stands for a dot."""
        for key, value in keys.items():
            self._out.add_uint32(f"{self.arch}.{key.replace('__', '.')}", value)

    def f32(self, key: str, value: float) -> None:
        """Add one float key."""
        self._out.add_float32(self._key(key), value)

    def flag(self, key: str, value: bool) -> None:
        """Add one boolean key."""
        self._out.add_bool(self._key(key), value)

    def text(self, key: str, value: str) -> None:
        """Add one string key."""
        self._out.add_string(self._key(key), value)

    def array(self, key: str, values: list[int] | list[str] | list[float]) -> None:
        """Add one array key."""
        self._out.add_array(self._key(key), values)

    def tokenizer(self, vocab: Tokenizer) -> None:
        """Add the vocabulary and its size."""
        self.u32(vocab_size=vocab.n_vocab)
        vocab.write(self._out)

    # ---- tensors ----------------------------------------------------------------------------
    def rng(self, name: str) -> np.random.Generator:
        """The generator of the tensor called ``name``."""
        return np.random.default_rng((zlib.crc32(name.encode()) ^ (self._seed * 2654435761)) & 0xFFFFFFFF)

    def put(self, name: str, values: npt.NDArray[np.generic]) -> None:
        """Add an array as it is, quantised if it is a matrix and the file asks for it."""
        kind = self._weight_type
        block = gguf.GGML_QUANT_SIZES[kind][0]
        quantise = (
            kind != gguf.GGMLQuantizationType.F32
            and values.ndim >= 2
            and values.shape[-1] % block == 0
            and not any(part in name for part in _NEVER_QUANTISED)
        )
        if quantise:
            self._out.add_tensor(name, gguf.quants.quantize(values, kind), raw_dtype=kind)
        else:
            self._out.add_tensor(name, np.ascontiguousarray(values))

    def normal(self, name: str, *shape: int, std: float | None = None) -> None:
        """Add a tensor of N(0, std); std defaults to 1/sqrt(shape[0]), which keeps activations near 1."""
        scale = std if std is not None else shape[0] ** -0.5
        self.put(name, (scale * self.rng(name).standard_normal(shape[::-1])).astype(np.float32))

    def near_one(self, name: str, *shape: int) -> None:
        """Add a tensor of 1 + N(0, 0.1)."""
        self.put(name, (1 + 0.1 * self.rng(name).standard_normal(shape[::-1])).astype(np.float32))

    def rms_norm(self, name: str, n: int) -> None:
        """Add the weight of an RMS norm."""
        self.near_one(f"{name}.weight", n)

    def layer_norm(self, name: str, n: int) -> None:
        """Add the weight and bias of a layer norm."""
        self.near_one(f"{name}.weight", n)
        self.normal(f"{name}.bias", n, std=0.05)

    def linear(self, name: str, n_in: int, n_out: int, *, bias: bool = False) -> None:
        """Add a matrix ``[n_in, n_out]`` and, when asked, its bias."""
        self.normal(f"{name}.weight", n_in, n_out)
        if bias:
            self.normal(f"{name}.bias", n_out, std=0.05)

    def close(self) -> None:
        """Write the file."""
        self._out.write_header_to_file()
        self._out.write_kv_data_to_file()
        self._out.write_tensors_to_file()
        self._out.close()
