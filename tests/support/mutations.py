"""Damaged copies of GGUF files: seeded, each with a line that says what was done to it."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import gguf
import numpy as np

_HEADER_COUNTS = {8: "tensor count", 16: "metadata count"}
_INTEGERS = (0, 1, 2, 3, 7, 100, 513, 2**15, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**64 - 1)
_FLOATS = (0.0, -1.0, 1e-30, 1e30, float("inf"), float("nan"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One number of the file's head."""

    name: str
    offset: int
    n_bytes: int
    is_float: bool = False


class Damaged(NamedTuple):
    """A damaged file and what was done to it."""

    what: str
    content: bytes


class Head:
    """Where the fields of one intact file stand."""

    def __init__(self, path: Path) -> None:
        reader = gguf.GGUFReader(path)
        self.content = path.read_bytes()
        self.data_offset = int(reader.data_offset)
        self.values: list[Place] = []
        self.types: list[Place] = []
        self.counts = [Place(name=name, offset=at, n_bytes=8) for at, name in _HEADER_COUNTS.items()]
        self.tensors: list[Place] = []
        for field in reader.fields.values():
            if not field.name.startswith("GGUF."):
                self._add_field(field)
        for tensor in reader.tensors:
            self._add_tensor(tensor)

    def _add_field(self, field: gguf.ReaderField) -> None:
        at = int(field.offset)
        for i, part in enumerate(field.parts):
            if i == 2:
                self.types.append(Place(name=f"type of {field.name}", offset=at, n_bytes=4))
            is_array = field.types[0] == gguf.GGUFValueType.ARRAY
            if is_array and i == 3:
                self.types.append(Place(name=f"element type of {field.name}", offset=at, n_bytes=4))
            if is_array and i == 4:
                self.counts.append(Place(name=f"count of {field.name}", offset=at, n_bytes=8))
            numeric = gguf.GGUFValueType.STRING not in field.types
            if numeric and i in field.data[:64]:
                is_float = field.types[-1] in (gguf.GGUFValueType.FLOAT32, gguf.GGUFValueType.FLOAT64)
                self.values.append(Place(name=field.name, offset=at, n_bytes=part.nbytes, is_float=is_float))
            at += part.nbytes

    def _add_tensor(self, tensor: gguf.ReaderTensor) -> None:
        at = int(tensor.field.offset)
        for part, what in zip(
            tensor.field.parts, ("name length", "name", "n_dims", "shape", "type", "offset"), strict=True
        ):
            if what in ("n_dims", "type"):
                self.tensors.append(Place(name=f"{what} of {tensor.name}", offset=at, n_bytes=4))
            elif what == "shape":
                for axis in range(len(part)):
                    self.tensors.append(Place(name=f"shape[{axis}] of {tensor.name}", offset=at + 8 * axis, n_bytes=8))
            elif what == "offset":
                self.tensors.append(Place(name=f"offset of {tensor.name}", offset=at, n_bytes=8))
            at += part.nbytes


def _write(content: bytes, place: Place, value: float) -> bytes:
    if place.is_float:
        packed = struct.pack("<f" if place.n_bytes == 4 else "<d", value)
    else:
        packed = (int(value) % 2 ** (8 * place.n_bytes)).to_bytes(place.n_bytes, "little")
    return content[: place.offset] + packed + content[place.offset + place.n_bytes :]


def _truncated(head: Head, rng: random.Random) -> Damaged:
    limit = rng.choice((24, head.data_offset, len(head.content)))
    size = rng.randrange(limit)
    return Damaged(f"cut to {size} bytes", head.content[:size])


def _flipped(head: Head, rng: random.Random) -> Damaged:
    changed = bytearray(head.content)
    places = [rng.randrange(head.data_offset) for _ in range(rng.choice((1, 1, 2, 8, 64)))]
    for at in places:
        changed[at] ^= 1 << rng.randrange(8)
    return Damaged(f"bits flipped at {places[:8]}", bytes(changed))


def _number(places: list[Place], rng: random.Random, head: Head) -> Damaged:
    place = rng.choice(places)
    value = rng.choice(_FLOATS if place.is_float else _INTEGERS)
    return Damaged(f"{place.name} = {value}", _write(head.content, place, value))


def _nudged(head: Head, rng: random.Random) -> Damaged:
    place = rng.choice([p for p in head.values + head.tensors if not p.is_float])
    raw = head.content[place.offset : place.offset + place.n_bytes]
    value = int.from_bytes(raw, "little") + rng.choice((-1, 1, 2))
    return Damaged(f"{place.name} = {value}", _write(head.content, place, value))


def _garbage_weights(head: Head, rng: random.Random) -> Damaged:
    noise = np.random.default_rng(rng.randrange(2**32)).bytes(len(head.content) - head.data_offset)
    return Damaged("weights are noise", head.content[: head.data_offset] + noise)


_KINDS: tuple[tuple[int, Callable[[Head, random.Random], Damaged]], ...] = (
    (2, _truncated),
    (3, _flipped),
    (6, lambda head, rng: _number(head.values, rng, head)),
    (1, lambda head, rng: _number(head.types, rng, head)),
    (2, lambda head, rng: _number(head.counts, rng, head)),
    (4, lambda head, rng: _number(head.tensors, rng, head)),
    (3, _nudged),
    (1, _garbage_weights),
)


def damaged_copies(path: Path, count: int, seed: int) -> Iterator[Damaged]:
    """``count`` damaged copies of the file; the same ones for the same seed."""
    head = Head(path)
    rng = random.Random(f"{path.stem}-{seed}")
    weights = [weight for weight, _ in _KINDS]
    makers = [make for _, make in _KINDS]
    for _ in range(count):
        yield rng.choices(makers, weights)[0](head, rng)
