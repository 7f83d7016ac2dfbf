"""Every program in examples/ runs with the command that its docstring shows."""

from __future__ import annotations

import ast
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
EXAMPLES = sorted((REPOSITORY / "examples").glob("*.py"))


def _shown_command(example: Path) -> list[str]:
    """The arguments of the docstring's line `python examples/NAME.py ...`."""
    docstring = ast.get_docstring(ast.parse(example.read_text(encoding="utf-8"))) or ""
    start = f"python examples/{example.name}"
    (line,) = (line.strip() for line in docstring.splitlines() if line.strip().startswith(start))
    return shlex.split(line)[1:]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_example_runs_as_its_docstring_says(example: Path) -> None:
    done = subprocess.run(
        [sys.executable, *_shown_command(example)],
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout.strip()
