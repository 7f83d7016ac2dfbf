"""What makes two requests for a shared object the same request."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from llamaint.types.freeze import freeze

if TYPE_CHECKING:
    from llamaint.types import ContextParams, EmbeddingParams, ModelParams

    Params = ModelParams | ContextParams | EmbeddingParams


def sharing_key(path: Path, settings: Mapping[str, Any], *defaults: Params) -> Hashable:
    """Equal for equal files and settings, defaults filled in; a replaced file is another one."""
    stat = path.stat()
    filled: dict[str, Any] = {
        field.name: getattr(params, field.name) for params in defaults for field in fields(params)
    }
    filled |= {"chat_template": None, **settings}
    filled.pop("progress", None)
    return (os.path.realpath(path), stat.st_mtime_ns, stat.st_size, freeze(filled))
