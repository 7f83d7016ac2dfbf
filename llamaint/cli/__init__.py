"""The ``llamaint`` command. Nothing heavy is imported before a command needs it."""

from __future__ import annotations

import contextlib
import sys


def main() -> None:
    """Entry point of the console script."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError):  # not every replacement of a stream can do this
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    from llamaint.cli.app import app

    app()
