"""Keeps written models between test runs, keyed by the source that writes them."""

from __future__ import annotations

import functools
import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

_REPOSITORY = Path(__file__).parents[3]


@functools.cache
def directory() -> Path:
    """Where the files of this version of the generator live.

    ``LLAMAINT_TEST_CACHE`` names another parent than the checkout's ``.cache``.
    """
    digest = hashlib.sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    parent = Path(os.environ.get("LLAMAINT_TEST_CACHE", _REPOSITORY / ".cache"))
    path = parent / "tiny-models" / digest.hexdigest()[:16]
    path.mkdir(parents=True, exist_ok=True)
    return path


def written(name: str, write: Callable[[Path], None]) -> Path:
    """The file ``name``.gguf, written first if it is missing; safe with several test processes."""
    path = directory() / f"{name}.gguf"
    if not path.exists():
        handle, partial = tempfile.mkstemp(dir=path.parent, suffix=".partial")
        os.close(handle)
        write(Path(partial))
        Path(partial).replace(path)
    return path
