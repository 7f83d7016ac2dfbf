"""Writes llamaint/_native.pyi from the built module: ``python tools/stubs.py [--check]``.

pybind11-stubgen reads the signatures; what those cannot say is in `REPLACEMENTS`. ``--check`` compares the
file with what would be written and exits with 1 if they differ.
"""

from __future__ import annotations

import argparse
import difflib
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STUB = ROOT / "llamaint" / "_native.pyi"

# Text of pybind11-stubgen -> what it should have been. Each must occur, or the binding has changed.
REPLACEMENTS: tuple[tuple[str, str], ...] = (
    ("code: typing.ClassVar[str] = 'engine'", "code: str"),
    ("numbers: typing.ClassVar[dict] = {}", "numbers: dict[str, float]"),
    ("**kwargs)", "**kwargs: typing.Any)"),
    ("-> dict:", "-> dict[str, typing.Any]:"),
    ("    grammar: Grammar\n", "    grammar: Grammar | None\n"),
    (
        "callables: collections.abc.Sequence)",
        "callables: collections.abc.Sequence[collections.abc.Callable[..., typing.Any]])",
    ),
    ("def logprobs(self) -> list:", "def logprobs(self) -> list[tuple[int, float, float, list[tuple[int, float]]]]:"),
    ("def error(self) -> typing.Any:", "def error(self) -> tuple[str, str, dict[str, float]] | None:"),
    ("def timings(self) -> typing.Any:", "def timings(self) -> dict[str, float] | None:"),
)


def generated() -> str:
    """The stub of the module that is built now. Raises SystemExit when the binding cannot be described."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [sys.executable, "-m", "pybind11_stubgen", "llamaint._native", "-o", folder, "--exit-code"],
            check=True,
            cwd=ROOT,
        )
        text = (Path(folder) / "llamaint" / "_native.pyi").read_text()
    for wrong, right in REPLACEMENTS:
        if wrong not in text:
            raise SystemExit(f"{wrong!r} is not in the generated stub; adapt tools/stubs.py")
        text = text.replace(wrong, right)
    formatted = subprocess.run(
        [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(STUB), "-"],
        input=text,
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    return formatted.stdout


def main() -> int:
    """Write the stub, or compare it. Returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    check = parser.parse_args().check
    new = generated()
    old = STUB.read_text() if STUB.exists() else ""
    if not check:
        STUB.write_text(new)
        return 0
    difference = difflib.unified_diff(old.splitlines(True), new.splitlines(True), "committed", "generated")
    sys.stdout.writelines(difference)
    return int(old != new)


if __name__ == "__main__":
    raise SystemExit(main())
