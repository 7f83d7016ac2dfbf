"""Names to files: the one function that everything which loads a model goes through."""

from __future__ import annotations

import difflib
import os
from pathlib import Path

from llamaint.errors import ModelNotFoundError
from llamaint.hub.aliases import resolve_alias
from llamaint.hub.cache import is_offline
from llamaint.hub.catalog import CATALOG
from llamaint.hub.huggingface import PREFIX, resolve_repo
from llamaint.hub.local import resolve_path
from llamaint.hub.progress import Progress, silent


def resolve(name: str | os.PathLike[str], *, progress: Progress | None = None, offline: bool = False) -> Path:
    """Returns the local GGUF file that ``name`` means, downloading it if it must.

    Args:
        name: one of

            - a path: a file, or a folder that holds one model (a split model counts as one);
            - an alias (`list_models`); it wins over a file of the same name, which ``./NAME`` reaches;
            - ``hf:owner/repo[:file, pattern or quantisation][@revision]``.

            A ``PathLike`` is always a path.
        progress: called with (what is done, fraction 0..1) from the calling thread. An exception
            it raises stops the download.
        offline: use only what is on this machine; ``LLAMAINT_OFFLINE=1`` does the same.

    Raises:
        ModelNotFoundError: nothing has that name, or it cannot be fetched.
        ModelLoadError: what was fetched is not what was expected.
        CapacityError: the disk is full.
        ConfigError: the cache folder cannot be written.
        UnsupportedError: pip or huggingface_hub is needed and missing.
    """
    progress = progress or silent
    offline = offline or is_offline()
    if not isinstance(name, str):
        return resolve_path(Path(name))
    if name in CATALOG:
        return resolve_alias(name, progress=progress, offline=offline)
    if name.startswith(PREFIX):
        return resolve_repo(name, progress=progress, offline=offline)
    path = Path(name).expanduser()
    if name and path.exists():
        return resolve_path(path)
    raise ModelNotFoundError(_unknown(name))


def _unknown(name: str) -> str:
    if name.endswith(".gguf") or "/" in name or os.sep in name:
        return f"there is no file {name!r}"
    close = difflib.get_close_matches(name.lower(), CATALOG, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    return f"{name!r} is neither a file nor an alias; aliases are {', '.join(CATALOG)}{hint}"
