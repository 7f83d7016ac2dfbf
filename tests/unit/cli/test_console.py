from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from llamaint.cli import console

REPORT = """
import time
from llamaint.cli import console
with console.progress() as report:
    for step in range(5):
        report("download tiny", step / 4)
        time.sleep(0.15)
console.write("result\\n")
"""


def test_progress_is_silent_when_stderr_is_no_terminal(capsys):
    with console.progress() as report:
        report("download", 0.5)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(("term", "drawn"), [("xterm", True), ("dumb", False)])
def test_progress_is_drawn_on_a_terminal_and_never_on_stdout(term, drawn):
    pty = pytest.importorskip("pty")
    leader, follower = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-c", REPORT],
        stdout=subprocess.PIPE,
        stderr=follower,
        env={**os.environ, "TERM": term},
        cwd=Path(__file__).parents[3],
        check=True,
    )
    os.write(follower, b".")  # so that there is something to read
    shown = os.read(leader, 100_000).decode(errors="replace")
    os.close(follower)
    os.close(leader)
    assert done.stdout == b"result\n"
    assert ("download tiny" in shown) is drawn
    assert bool(re.search(r"\d+%", shown)) is drawn


def test_table_in_a_pipe_is_aligned_plain_text(capsys):
    console.table(("name", "size"), [("a", "1"), ("longer", "")])
    assert capsys.readouterr().out == "name    size\na       1\nlonger\n"


@pytest.mark.parametrize(
    ("n_bytes", "text"), [(0, "0.0 kB"), (999_499, "999.5 kB"), (46_223_616, "46.2 MB"), (25.28e9, "25.28 GB")]
)
def test_sizes_are_in_decimal_units(n_bytes, text):
    assert console.megabytes(n_bytes) == text
