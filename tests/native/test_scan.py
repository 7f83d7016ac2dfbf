"""scan_gguf: what stands in a model file, without loading it."""

from __future__ import annotations

import shutil
import struct
from pathlib import Path

import gguf
import numpy as np
import pytest

from llamaint import _native
from tests.support import tiny_models


def refused(path: Path) -> _native.NativeError:
    with pytest.raises(_native.NativeError) as caught:
        _native.scan_gguf(str(path))
    return caught.value


def write(path: Path, *, split: tuple[int, int] | None = None, **keys: object) -> Path:
    """A small file of architecture "llama" with one tensor."""
    out = gguf.GGUFWriter(path, "llama")
    out.add_uint32("llama.block_count", 1)
    for key, value in keys.items():
        name = key.replace("__", ".")
        out.add_array(name, value) if isinstance(value, list) else out.add_float32(name, value)  # type: ignore[arg-type]
    part = 0
    if split is not None:
        part, count = split
        out.add_uint16("split.no", part)
        out.add_uint16("split.count", count)
        out.add_int32("split.tensors.count", count)
    out.add_tensor(f"t{part}.weight", np.ones((4, 32), np.float32))
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()
    return path


def test_the_scan_of_a_file_agrees_with_its_load(tiny_llama: Path) -> None:
    scan = _native.scan_gguf(str(tiny_llama))
    assert scan["arch"] == "llama"
    assert scan["metadata"]["llama.block_count"] == 4
    assert scan["n_tensors"] == 39
    assert sum(scan["tensor_types"].values()) == 39
    assert scan["file_bytes"] == tiny_llama.stat().st_size
    assert scan["tensor_bytes"] < scan["file_bytes"]


def test_long_arrays_are_counted_and_short_ones_listed(tmp_path: Path) -> None:
    path = write(tmp_path / "a.gguf", llama__attention__head_count=[2])
    assert _native.scan_gguf(str(path))["metadata"]["llama.attention.head_count"] == [2]
    tokens = _native.scan_gguf(str(tiny_models.llama()))["metadata"]["tokenizer.ggml.tokens"]
    assert tokens == "<384 values>"


def test_all_parts_of_a_split_model_are_scanned(tmp_path: Path) -> None:
    for part in range(3):
        write(tmp_path / f"m-{part + 1:05d}-of-00003.gguf", split=(part, 3))
    assert _native.scan_gguf(str(tmp_path / "m-00001-of-00003.gguf"))["n_tensors"] == 3


def test_a_missing_part_is_not_found(tmp_path: Path) -> None:
    path = write(tmp_path / "m-00001-of-00002.gguf", split=(0, 2))
    error = refused(path)
    assert error.code == "model_not_found"
    assert "m-00002-of-00002.gguf" in str(error)


def test_only_the_first_part_can_be_opened(tmp_path: Path) -> None:
    write(tmp_path / "m-00001-of-00002.gguf", split=(0, 2))
    assert "first part" in str(refused(write(tmp_path / "m-00002-of-00002.gguf", split=(1, 2))))


def test_a_first_part_under_another_name_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "m-00001-of-00002.gguf", split=(0, 2))
    other = tmp_path / "renamed.gguf"
    shutil.copy(path, other)
    assert "is not named" in str(refused(other))


@pytest.mark.parametrize(
    "keys",
    [
        {"llama__attention__layer_norm_rms_epsilon": float("nan")},
        {"llama__attention__layer_norm_rms_epsilon": -1.0},
        {"llama__rope__dimension_sections": [0, 0, 0, 0]},
        {"llama__rope__dimension_sections": [-1, 2, 0, 0]},
        {"llama__attention__head_count": [-1]},
    ],
    ids=str,
)
def test_numbers_that_abort_ggml_are_refused_by_name(tmp_path: Path, keys: dict[str, object]) -> None:
    error = refused(write(tmp_path / "a.gguf", **keys))
    assert error.code == "model_load"
    assert next(iter(keys)).replace("__", ".") in str(error)


@pytest.mark.parametrize("version", [1, 4, 3 << 24])
def test_other_versions_and_byte_orders_are_unsupported(tiny_llama: Path, tmp_path: Path, version: int) -> None:
    path = tmp_path / "v.gguf"
    path.write_bytes(b"GGUF" + struct.pack("<I", version) + tiny_llama.read_bytes()[8:])
    assert refused(path).code == "unsupported"


@pytest.mark.parametrize("offset", [8, 16])
def test_counts_beyond_the_file_are_refused(tiny_llama: Path, tmp_path: Path, offset: int) -> None:
    content = bytearray(tiny_llama.read_bytes())
    content[offset : offset + 8] = struct.pack("<Q", 2**60)
    path = tmp_path / "counts.gguf"
    path.write_bytes(content)
    assert str(2**60) in str(refused(path))
