"""What ``llamaint doctor`` looks at."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata, util
from typing import Any, Literal

from llamaint.cli import console, probe
from llamaint.errors import EngineError

Status = Literal["ok", "info", "warn", "fail"]

_LOW_DISK_BYTES = 1_000_000_000
_LOW_MEMORY_BYTES = 1_000_000_000

# Extra -> the packages it brings; all must be there.
_EXTRAS = {
    "langchain": ("langchain-core", "langchain-text-splitters"),
    "llamaindex": ("llama-index-core",),
    "hub": ("huggingface_hub",),
    "server": ("fastapi", "uvicorn"),
    "video": ("av",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One finding. Only ``"fail"`` means that something is wrong."""

    name: str
    status: Status
    detail: str


def run_checks() -> Iterator[Check]:
    """All findings, as they are made."""
    yield _versions()
    native = _native()
    yield from native
    yield from _cache()
    yield _pip()
    yield from _extras()
    if native[0].status == "ok":
        yield from _self_tests()


def _versions() -> Check:
    from llamaint import __version__

    where = f"{platform.system()} {platform.machine()}"
    return Check(name="llamaint", status="ok", detail=f"{__version__}, Python {platform.python_version()}, {where}")


def _native() -> list[Check]:
    try:
        found = probe.run("native")
    except EngineError as error:
        return [Check(name="native module", status="fail", detail=str(error))]
    build = found["build"]
    commit = str(build.get("llama_cpp_commit", "unknown"))[:12]
    compiler = build.get("compiler", "unknown compiler")
    features = ", ".join(name for name in ("gpu_offload", "mmap", "mlock", "rpc") if build.get(name))
    checks = [
        Check(
            name="native module",
            status="ok",
            detail=f"llama.cpp {commit}, {compiler}, {features or 'no extras'}",
        ),
        Check(name="processor", status="info", detail=str(build.get("system_info", "")).strip() or "unknown"),
        Check(name="cores", status="info", detail=f"{found['usable_cores']} usable"),
    ]
    return checks + [_device(device) for device in found["devices"]]


def _device(device: dict[str, Any]) -> Check:
    free, total = int(device["memory_free"]), int(device["memory_total"])
    memory = f", {console.megabytes(free)} of {console.megabytes(total)} free" if total else ""
    low = 0 < free < _LOW_MEMORY_BYTES
    detail = f"{device['type']}, {device['description']}{memory}"
    return Check(name=f"device {device['name']}", status="warn" if low else "info", detail=detail)


def _cache() -> Iterator[Check]:
    from llamaint import hub
    from llamaint.hub.cache import is_offline

    folder = hub.cache_dir()
    existing = folder
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    free = shutil.disk_usage(existing).free
    writable = existing.is_dir() and os.access(existing, os.W_OK)
    if not writable:
        status: Status = "fail"
        detail = f"{folder} cannot be written; LLAMAINT_CACHE names another folder"
    else:
        status = "warn" if free < _LOW_DISK_BYTES else "ok"
        detail = f"{folder}, {console.megabytes(free)} free"
    yield Check(name="cache", status=status, detail=detail + (", offline" if is_offline() else ""))
    for alias, state in _cached_models():
        yield Check(name=f"model {alias}", status="fail" if state == "damaged" else "info", detail=state)


def _cached_models() -> Iterator[tuple[str, str]]:
    """Alias and "cached", "damaged" or "not cached" of each catalog model; takes the hash of those there."""
    from llamaint.hub.cache import cached_file, model_folder
    from llamaint.hub.catalog import CATALOG

    for alias, model in CATALOG.items():
        there = (model_folder(model) / model.file_name).exists()
        state = "cached" if cached_file(model, verify=True) else "damaged" if there else "not cached"
        yield alias, state


def _pip() -> Check:
    if util.find_spec("pip") is None:
        return Check(name="pip", status="warn", detail="missing; models with an alias cannot be fetched")
    return Check(name="pip", status="ok", detail=metadata.version("pip"))


def _extras() -> Iterator[Check]:
    for extra, packages in _EXTRAS.items():
        versions: list[str] = []
        missing: list[str] = []
        for package in packages:
            version = _version_of(package)
            if version is None:
                missing.append(package)
            else:
                versions.append(f"{package} {version}")
        if missing:
            detail = f"not installed (pip install 'llamaint[{extra}]'): {', '.join(missing)}"
        else:
            detail = ", ".join(versions)
        yield Check(name=f"extra {extra}", status="info", detail=detail)


def _version_of(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _self_tests() -> Iterator[Check]:
    states = dict(_cached_models())
    tests: tuple[tuple[str, str, Callable[[], str]], ...] = (
        ("chat", probe.CHAT_ALIAS, _try_chat),
        ("embedding", probe.EMBED_ALIAS, _try_embedding),
    )
    for name, alias, attempt in tests:
        if states[alias] != "cached":
            detail = f"skipped: {alias} is {states[alias]} (llamaint pull {alias})"
            yield Check(name=f"self-test {name}", status="info", detail=detail)
            continue
        try:
            yield Check(name=f"self-test {name}", status="ok", detail=attempt())
        except EngineError as error:
            yield Check(name=f"self-test {name}", status="fail", detail=f"{alias}: {error}")


def _try_chat() -> str:
    found = probe.run("chat")
    if found["n_tokens"] == 0:
        raise EngineError("the model generated nothing")
    return f"loaded in {found['load_s']:.2f} s, {found['decode_per_s']:.0f} tokens per second"


def _try_embedding() -> str:
    found = probe.run("embed")
    if not found["similar"] > found["different"] + 0.2:
        raise EngineError(
            f"similar texts score {found['similar']:.2f}, different ones {found['different']:.2f}",
            similar=found["similar"],
            different=found["different"],
        )
    return f"loaded in {found['load_s']:.2f} s, vectors of {found['n_embd']} numbers make sense"
