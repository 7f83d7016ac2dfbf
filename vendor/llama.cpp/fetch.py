"""Puts a pinned source tree into place and prints its path; everything else goes to stderr.

    python vendor/llama.cpp/fetch.py [FOLDER]

FOLDER holds the pin, SOURCE.toml (default: the folder of this script). The source of record is a release in the
Python package index, downloaded by pip; its sha256 is checked wherever it came from. The tree appears at FOLDER/src
complete or not at all. Needs only the standard library and pip, because it runs inside isolated builds too.

Environment: LLAMAINT_CACHE names the cache folder; the pin may name a variable that points to a checkout instead.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_STAMP = ".llamaint-source"
_WORK = ".fetch-"
_TERMINATED = 128 + signal.SIGTERM


class FetchError(Exception):
    """The source cannot be had; the message says what to do."""


@dataclass(frozen=True)
class Pin:
    """SOURCE.toml; ``root`` ends with a slash, ``only`` and ``skip`` are prefixes below it."""

    name: str
    commit: str
    package: str
    version: str
    archive: str
    sha256: str
    root: str
    probe: str
    only: tuple[str, ...] = ("",)
    skip: tuple[str, ...] = ()
    override: str = ""

    @classmethod
    def read(cls, folder: Path) -> Pin:
        """The pin of ``folder``."""
        with (folder / "SOURCE.toml").open("rb") as file:
            fields = tomllib.load(file)
        lists = {key: tuple(fields.pop(key)) for key in ("only", "skip") if key in fields}
        return cls(**fields, **lists)

    def wants(self, name: str) -> bool:
        """Whether the archive member ``name`` belongs into the tree."""
        if not name.startswith(self.root):
            return False
        inner = name[len(self.root) :]
        return inner.startswith(self.only) and not inner.startswith(self.skip)


def say(text: str) -> None:
    """Print progress; stdout is for the path alone."""
    print(f"fetch: {text}", file=sys.stderr, flush=True)


def sha256_of(path: Path) -> str:
    """Hex digest of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def cache_folder() -> Path:
    """Where archives are kept: the same folder as `llamaint.hub`'s, which may not be importable yet."""
    chosen = os.environ.get("LLAMAINT_CACHE")
    if chosen:
        base = Path(chosen).expanduser()
    elif sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData/Local"), "llamaint/llamaint/Cache")
    elif sys.platform == "darwin":
        base = Path.home() / "Library/Caches/llamaint"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "llamaint")
    return base / "sources"


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock on a file that exists anyway, so that none is left behind; a killed holder frees it."""
    with path.open("r+b") as file:
        if sys.platform == "win32":
            import msvcrt

            file.seek(1 << 30)  # beyond the end: the text stays readable for others
            while True:
                with contextlib.suppress(OSError):
                    msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
                    break
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def download(pin: Pin, work: Path) -> Path:
    """Take the archive from the package index with pip.

    Only this package is refused as a wheel: pip asks its build backend for metadata, and with ``--no-binary :all:``
    it would first compile that backend's own tools, cmake among them, from source.
    """
    say(f"downloading {pin.package} {pin.version}, which carries {pin.name} at {pin.commit}")
    (work / "tmp").mkdir()
    requirement = work / "requirement.txt"
    requirement.write_text(f"{pin.package}=={pin.version} --hash=sha256:{pin.sha256}\n")
    command = [
        *(sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--no-deps", "--no-cache-dir"),
        *("--progress-bar", "off", "--no-binary", pin.package, "--require-hashes"),
        *("--requirement", str(requirement), "--dest", str(work)),
    ]
    environment = {**os.environ, "TMPDIR": str(work / "tmp"), "TEMP": str(work / "tmp"), "TMP": str(work / "tmp")}
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env=environment,
        start_new_session=True,
    ) as pip:
        try:
            output, _ = pip.communicate()
        except BaseException:
            # pip's children hold files in the work folder, which is removed next.
            if sys.platform == "win32":
                pip.kill()
            else:
                os.killpg(pip.pid, signal.SIGKILL)
            raise
    archive = work / pin.archive
    if pip.returncode != 0 or not archive.exists():
        problem = " / ".join(line.strip() for line in output.splitlines() if line.strip())[-600:]
        raise FetchError(
            f"pip could not download {pin.package} {pin.version} (exit code {pip.returncode}). "
            f"Without a network, put {pin.archive} (sha256 {pin.sha256}) into {cache_folder()}"
            + (f" or point {pin.override} to a checkout of {pin.name}" if pin.override else "")
            + f". pip said: {problem}"
        )
    return archive


def find_archive(pin: Pin, work: Path) -> Path:
    """The archive with the pinned hash, from the cache or the index; a download is kept in the cache."""
    cached = cache_folder() / pin.archive
    if cached.is_file():
        if sha256_of(cached) == pin.sha256:
            say(f"using {cached}")
            return cached
        say(f"{cached} is damaged: its sha256 is not {pin.sha256}; it will be replaced")
    archive = download(pin, work)
    found = sha256_of(archive)
    if found != pin.sha256:
        raise FetchError(f"{pin.archive} has sha256 {found}; the pin asks for {pin.sha256}. Nothing was unpacked.")
    partial = cached.with_name(f"{cached.name}.{os.getpid()}.partial")
    try:
        cached.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(archive, partial)
        partial.replace(cached)
    except OSError as error:
        say(f"the archive is not kept in the cache: {error}")
    finally:
        with contextlib.suppress(OSError):
            partial.unlink()
    return archive


def unpack(pin: Pin, archive: Path, into: Path) -> None:
    """Unpack what the pin wants from the archive's root."""
    n_files = 0
    with tarfile.open(archive) as tar:
        for member in tar:
            if not (member.isfile() and pin.wants(member.name)):
                continue
            inner = member.name[len(pin.root) :]
            if ".." in inner.split("/"):
                raise FetchError(f"{pin.archive} holds {member.name!r}, which points out of its folder.")
            target = into / inner
            target.parent.mkdir(parents=True, exist_ok=True)
            content = tar.extractfile(member)
            assert content is not None
            with content, target.open("wb") as file:
                shutil.copyfileobj(content, file)
            target.chmod(0o755 if member.mode & 0o100 else 0o644)
            n_files += 1
    if not (into / pin.probe).is_file():
        raise FetchError(
            f"{pin.archive} has {n_files} files below {pin.root} and {pin.probe} is not among them; "
            "is SOURCE.toml of this archive?"
        )
    say(f"unpacked {n_files} files")


def apply_patches(patches: list[Path], tree: Path) -> None:
    """Apply patches in the order of their names with git, which reads them alike on every platform."""
    # git must not take the tree for a part of the repository around it: it would skip ignored paths.
    environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(tree.parent)}
    for patch in patches:
        command = ["git", "apply", "--whitespace=nowarn", str(patch)]
        try:
            done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
        except FileNotFoundError as error:
            raise FetchError(f"git is needed to apply {patch.name} and is not installed.") from error
        if done.returncode != 0:
            raise FetchError(f"{patch.name} does not apply: {done.stderr.strip()}")
        say(f"applied {patch.name}")


def replace_tree(new: Path, old: Path, work: Path) -> None:
    """Move a finished tree to its place; an older one goes into the work folder, which is removed."""
    if old.exists():
        old.replace(work / "replaced")
    new.replace(old)


def fetch(folder: Path) -> Path:
    """The source tree of the pin in ``folder``, put into place first if it is not there yet."""
    pin = Pin.read(folder)
    if pin.override and (checkout := os.environ.get(pin.override)):
        if not Path(checkout, pin.probe).is_file():
            raise FetchError(f"{pin.override}={checkout} is not a checkout of {pin.name}: {pin.probe} is missing.")
        return Path(checkout).resolve()
    source = folder / "src"
    patches = sorted((folder / "patches").glob("*.patch"))
    stamp = "\n".join([pin.sha256, *(f"{patch.name} {sha256_of(patch)}" for patch in patches)])
    stamp = f"{stamp}\n{pin.root} {pin.only} {pin.skip}\n"

    def is_current() -> bool:
        return (source / _STAMP).is_file() and (source / _STAMP).read_text() == stamp

    if is_current():
        return source
    with locked(folder / "SOURCE.toml"):
        for leftover in folder.glob(f"{_WORK}*"):  # of a run that was killed outright
            shutil.rmtree(leftover, ignore_errors=True)
        if is_current():
            return source
        with tempfile.TemporaryDirectory(prefix=_WORK, dir=folder, ignore_cleanup_errors=True) as name:
            work = Path(name)
            tree = work / "src"
            unpack(pin, find_archive(pin, work), tree)
            apply_patches(patches, tree)
            (tree / _STAMP).write_text(stamp)
            replace_tree(tree, source, work)
    return source


def _stop(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(_TERMINATED)


def main() -> int:
    """Run the command line; 0 and a path on stdout, or 1 and one paragraph on stderr."""
    signal.signal(signal.SIGTERM, _stop)
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent).resolve()
    try:
        print(fetch(folder).as_posix())
    except (FetchError, OSError, EOFError, tarfile.TarError) as error:
        say(f"error: {error}")
        return 1
    except KeyboardInterrupt:
        say("error: interrupted; nothing was left behind")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
