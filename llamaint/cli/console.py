"""Where the command line writes: results to stdout, everything else to stderr.

rich is imported when something is drawn with it; results that go into a pipe never need it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

# Bytes a model may generate that would move the cursor or change the terminal's state.
_CONTROL = {code: None for code in [*range(0x20), *range(0x7F, 0xA0)] if chr(code) not in "\n\t"}


def write(text: str) -> None:
    """Writes a piece of a result at once; on a terminal without control characters."""
    sys.stdout.write(text.translate(_CONTROL) if sys.stdout.isatty() else text)
    sys.stdout.flush()


def note(text: str) -> None:
    """Tells the user something beside the result."""
    print(text, file=sys.stderr)


def thought(text: str) -> None:
    """Shows a piece of a model's reasoning, dimmed, on a terminal only: it is not part of the answer."""
    if sys.stderr.isatty():
        from rich.text import Text

        stderr().print(Text(text.translate(_CONTROL), style="dim"), end="")


def styled(text: str, style: str) -> None:
    """A note in a style of rich; plain when stderr is not a terminal or NO_COLOR is set."""
    from rich.text import Text

    stderr().print(Text(text, style=style))


def stderr() -> Console:
    """A console on the current stderr."""
    from rich.console import Console

    return Console(stderr=True, soft_wrap=True, highlight=False)


def table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Writes a table to stdout: drawn on a terminal, aligned plain columns otherwise."""
    if sys.stdout.isatty():
        from rich import box
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        drawn = Table(*headers, box=box.SIMPLE_HEAD, pad_edge=False)
        for row in rows:
            drawn.add_row(*(Text(cell.translate(_CONTROL)) for cell in row))
        Console().print(drawn)
        return
    lines = [[*headers], *([*row] for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(headers))]
    for line in lines:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        print("  ".join(cells).rstrip())


def facts(rows: Sequence[tuple[str, str]]) -> None:
    """Writes name and value pairs to stdout, one a line."""
    width = max((len(name) for name, _ in rows), default=0)
    for name, value in rows:
        write(f"{name.ljust(width)}  {value}\n")


def megabytes(n_bytes: float) -> str:
    """A size for people, decimal units."""
    if n_bytes >= 1e9:
        return f"{n_bytes / 1e9:.2f} GB"
    if n_bytes >= 1e6:
        return f"{n_bytes / 1e6:.1f} MB"
    return f"{n_bytes / 1e3:.1f} kB"


@contextmanager
def progress() -> Iterator[Callable[[str, float], None]]:
    """A progress callback that draws on stderr if that is a terminal, and otherwise does nothing."""
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield lambda what, fraction: None
        return
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    look = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*look, console=stderr(), transient=True) as bars:
        tasks: dict[str, object] = {}

        def report(what: str, fraction: float) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=1.0)
            bars.update(tasks[what], completed=fraction)  # type: ignore[arg-type]

        yield report
