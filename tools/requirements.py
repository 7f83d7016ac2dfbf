"""Prints what an extra of pyproject.toml asks for, one requirement per line, without building the project.

python tools/requirements.py dev > requirements.txt
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"


def requirements(project: dict[str, object], extra: str) -> Iterator[str]:
    """Requirements of an extra, with those of the extras it names in turn."""
    for requirement in project["optional-dependencies"][extra]:
        own = re.fullmatch(rf"{project['name']}\[([\w, -]+)\]", requirement)
        if own is None:
            yield requirement
            continue
        for name in own[1].split(","):
            yield from requirements(project, name.strip())


def main() -> None:
    """Run the command line."""
    content = tomllib.loads(_PYPROJECT.read_text(encoding="utf-8"))
    project = content["project"]
    lines = [*content["build-system"]["requires"], *project["dependencies"], *requirements(project, sys.argv[1])]
    print("\n".join(dict.fromkeys(lines)))


if __name__ == "__main__":
    main()
