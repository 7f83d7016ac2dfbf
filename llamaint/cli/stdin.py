"""Text that is piped into a command."""

from __future__ import annotations

import sys

import typer


def text_or_stdin(text: str | None, what: str) -> str:
    """The argument, or all of stdin when that is not a terminal.

    Raises:
        typer.BadParameter: neither was given.
    """
    if text is not None:
        return text
    if sys.stdin.isatty():
        raise typer.BadParameter(f"give a {what} or pipe one in", param_hint=what.upper())
    return sys.stdin.read()
