"""A path of this machine: a GGUF file, or a folder that holds one model."""

from __future__ import annotations

from pathlib import Path

from llamaint.errors import ModelNotFoundError
from llamaint.hub.splits import group_parts, is_model, missing_parts


def resolve_path(path: Path) -> Path:
    """Returns the file itself, or the one model of a folder (the first part of a split one).

    Raises:
        ModelNotFoundError: nothing is there; or the folder holds no model, several, or a split
            model with parts missing.
    """
    if path.is_file():
        return path
    if not path.is_dir():
        raise ModelNotFoundError(f"there is no file {str(path)!r}")
    names = sorted(entry.name for entry in path.iterdir() if entry.is_file())
    groups = group_parts(name for name in names if is_model(name))
    if not groups:
        raise ModelNotFoundError(f"the folder {str(path)!r} holds no GGUF model", n_models=0)
    if len(groups) > 1:
        raise ModelNotFoundError(
            f"the folder {str(path)!r} holds {len(groups)} models; name one of them: " + ", ".join(groups),
            n_models=len(groups),
        )
    ((first, parts),) = groups.items()
    missing = missing_parts(parts, names)
    if missing:
        raise ModelNotFoundError(
            f"{len(missing)} of {len(parts)} parts of the model in {str(path)!r} are missing: " + ", ".join(missing),
            n_parts=len(parts),
            n_missing=len(missing),
        )
    return path / first
