"""The folder where fetched models live, and how a damaged file is noticed.

```
<cache>/models/<alias>.lock                held while a model is fetched or removed
<cache>/models/<alias>/<edition>/          the GGUF, files kept beside it, and manifest.json
<cache>/models/<alias>/.staging-*/         a fetch under way, or what is left of one that was killed
```
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import filelock
import platformdirs

if TYPE_CHECKING:
    from llamaint.hub.catalog import CatalogModel
    from llamaint.hub.progress import Progress

_MANIFEST = "manifest.json"
_STAGING = ".staging-"


def cache_dir() -> Path:
    """The folder of everything llamaint fetches: ``LLAMAINT_CACHE``, or the platform's cache folder."""
    chosen = os.environ.get("LLAMAINT_CACHE")
    return Path(chosen).expanduser() if chosen else platformdirs.user_cache_path("llamaint")


def is_offline() -> bool:
    """Whether ``LLAMAINT_OFFLINE`` forbids the network."""
    return os.environ.get("LLAMAINT_OFFLINE", "").strip().lower() not in ("", "0", "false", "no")


def model_folder(model: CatalogModel) -> Path:
    """Where the files of one catalog model lie, present or not."""
    return cache_dir() / "models" / model.alias / model.edition


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What the finished file looked like, written last: without it a file does not count.

    Attributes:
        mtime_ns: modification time; while it and the size agree the hash is not taken again.
    """

    size_bytes: int
    mtime_ns: int
    sha256: str


def write_manifest(folder: Path, file: Path, sha256: str) -> None:
    """Records ``file`` beside it, atomically."""
    stat = file.stat()
    manifest = Manifest(size_bytes=stat.st_size, mtime_ns=stat.st_mtime_ns, sha256=sha256)
    partial = folder / f".{_MANIFEST}.{os.getpid()}"
    partial.write_text(json.dumps(asdict(manifest), indent=2) + "\n", encoding="utf-8")
    partial.replace(folder / _MANIFEST)


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest, or None when it is missing or damaged."""
    try:
        return Manifest(**json.loads((folder / _MANIFEST).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def cached_file(model: CatalogModel, *, verify: bool = False) -> Path | None:
    """The model's GGUF if it is there and undamaged.

    The hash is taken when the file's time differs from the manifest's, or ``verify`` asks for it.
    """
    folder = model_folder(model)
    file = folder / model.file_name
    manifest = read_manifest(folder)
    if manifest is None or not file.is_file():
        return None
    stat = file.stat()
    if stat.st_size != manifest.size_bytes:
        return None
    if verify or stat.st_mtime_ns != manifest.mtime_ns:
        if sha256_of(file) != manifest.sha256:
            return None
        with contextlib.suppress(OSError):  # a read-only cache is still a good cache
            write_manifest(folder, file, manifest.sha256)
    return file


def sha256_of(file: Path) -> str:
    """Lower-case hex SHA-256 of a file."""
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


@contextlib.contextmanager
def locked(alias: str, progress: Progress) -> Iterator[None]:
    """Holds the alias's lock across processes; says so when it has to wait."""
    folder = cache_dir() / "models"
    folder.mkdir(parents=True, exist_ok=True)
    lock = filelock.FileLock(folder / f"{alias}.lock")
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout:
        while True:
            progress(f"waiting for another process that fetches {alias}", 0.0)
            try:
                lock.acquire(timeout=0.5)
                break
            except filelock.Timeout:
                continue
    try:
        yield
    finally:
        lock.release()


@contextlib.contextmanager
def staging(model: CatalogModel) -> Iterator[Path]:
    """A private folder on the cache's file system, gone afterwards; the alias's lock must be held.

    What a killed process left behind is removed first.
    """
    parent = model_folder(model).parent
    parent.mkdir(parents=True, exist_ok=True)
    for left_over in parent.glob(f"{_STAGING}*"):
        shutil.rmtree(left_over, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=_STAGING, dir=parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def install(model: CatalogModel, staged: Path, beside: list[Path], sha256: str) -> Path:
    """Moves finished files from the staging folder to their place; the lock must be held.

    The manifest goes last, so a crash between the moves leaves a model that is fetched again.
    """
    folder = model_folder(model)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _MANIFEST).unlink(missing_ok=True)
    for file in beside:
        file.replace(folder / file.name)
    target = folder / model.file_name
    staged.replace(target)
    write_manifest(folder, target, sha256)
    for other in folder.parent.iterdir():
        if other.is_dir() and other != folder and not other.name.startswith(_STAGING):
            shutil.rmtree(other, ignore_errors=True)  # editions of earlier releases
    return target


def remove(alias: str) -> int:
    """Deletes everything kept for an alias; returns the bytes it took. The lock must be held."""
    folder = cache_dir() / "models" / alias
    if not folder.is_dir():
        return 0
    size_bytes = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    shutil.rmtree(folder)
    return size_bytes
