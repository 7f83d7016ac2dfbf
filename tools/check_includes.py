"""Checks which folder of native/ includes which: bind may include engine, engine may include core, never upwards.

    python tools/check_includes.py [NATIVE]

pybind11 and Python.h belong to bind/ alone, and llama.cpp's staging header to core/compat_ext.cpp alone.
Prints one line per violation; the exit code is 1 if there is any.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

# Folder -> folders it may include.
FLOORS = {
    "core": ("core",),
    "engine": ("core", "engine"),
    "bind": ("core", "engine", "bind"),
    "tests": ("core", "engine", "tests"),
}
# Header (a prefix of its name) -> the one place that may include it.
RESERVED = {"pybind11/": "bind/", "Python.h": "bind/", "llama-ext.h": "core/compat_ext."}
_INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def resolve(native: Path, source: Path, header: str) -> str | None:
    """The folder of native/ that a quoted include means, None for a header of somebody else.

    Like the compiler: beside the including file first, then the include path (native/, core/, engine/).
    """
    for base in (source.parent, native, native / "core", native / "engine", native / "bind"):
        if (base / header).is_file():
            return (base / header).resolve().relative_to(native.resolve()).parts[0]
    return None


def violations(native: Path) -> Iterator[str]:
    """One line per include that goes upwards or reaches a reserved header from elsewhere."""
    for source in sorted(path for path in native.rglob("*") if path.suffix in {".h", ".cpp"}):
        place = source.relative_to(native).as_posix()
        folder = place.split("/")[0]
        if folder not in FLOORS:
            yield f"{place}: the folder {folder} has no floor; give it one in tools/check_includes.py"
            continue
        for quote, header in _INCLUDE.findall(source.read_text(encoding="utf-8")):
            for reserved, owner in RESERVED.items():
                if header.startswith(reserved) and not place.startswith(owner):
                    yield f"{place}: {header} may be included by {owner}* only"
            target = resolve(native, source, header) if quote == '"' else None
            if target is not None and target not in FLOORS[folder]:
                yield f"{place}: {header} is of {target}/, which {folder}/ must not know"


def main() -> int:
    """Run the command line."""
    native = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "native"
    found = list(violations(native))
    print("\n".join(found) or "includes: every folder looks only downwards")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
