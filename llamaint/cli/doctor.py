"""``llamaint doctor``: is everything in order?"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import Annotated

import typer

from llamaint.cli import console
from llamaint.cli.checks import run_checks

_MARKS = {"ok": ("ok", "green"), "info": ("  ", ""), "warn": ("! ", "yellow"), "fail": ("X ", "bold red")}

EXAMPLES = """\
llamaint doctor
llamaint doctor --json | python -m json.tool
"""


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False) -> None:
    """Check the installation: native module, devices, cache, models, extras; try the cached models.

    The exit code is 1 when something is wrong.
    """
    checks = []
    for check in run_checks():
        checks.append(check)
        if not as_json:
            _show(check.name, check.detail, *_MARKS[check.status])
    wrong = [check.name for check in checks if check.status == "fail"]
    if as_json:
        console.write(json.dumps({"ok": not wrong, "checks": [asdict(check) for check in checks]}, indent=2) + "\n")
    elif wrong:
        console.styled(f"wrong: {', '.join(wrong)}", "red")
    if wrong:
        raise typer.Exit(1)


def _show(name: str, detail: str, mark: str, style: str) -> None:
    line = f"{mark} {name:<20} {detail}"
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.text import Text

        Console(soft_wrap=True, highlight=False).print(Text.assemble((mark, style), line[len(mark) :]))
    else:
        print(line, flush=True)
