"""Finds and runs the code blocks of a Markdown page; also a program: `python -m tests.support.pages PAGE`.

Python blocks run from top to bottom in one namespace. A bash block runs if it begins with `llamaint ` and the line
above it is `<!-- run -->`. A Python block is left out only below `<!-- not run: REASON -->`.
"""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

_BLOCK = re.compile(
    r"(?:^<!-- (?P<note>[^\n]*?) -->\n\n?)?^(?P<indent> *)```(?P<language>\w+)[^\n]*\n(?P<text>.*?)^ *```",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """One fenced block; ``line`` is that of its first line of code, from 1."""

    language: str
    text: str
    line: int
    note: str

    @property
    def runs(self) -> bool:
        """Whether the page promises that it works."""
        if self.language == "python":
            return not self.note.startswith("not run: ")
        return self.language == "bash" and self.note == "run" and self.text.startswith("llamaint ")


def blocks(page: str) -> list[Block]:
    """All fenced blocks with a language, in order."""
    found = []
    for match in _BLOCK.finditer(page):
        indent = match["indent"]
        text = "".join(line.removeprefix(indent) for line in match["text"].splitlines(keepends=True))
        line = page.count("\n", 0, match.start("text")) + 1
        found.append(Block(language=match["language"], text=text, line=line, note=match["note"] or ""))
    return found


def run(page: Path) -> int:
    """Run the blocks of a page in this process; the number of blocks that ran."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    chosen = [block for block in blocks(page.read_text(encoding="utf-8")) if block.runs]
    for block in chosen:
        print(f"--- {page.name}:{block.line}", flush=True)
        if block.language == "python":
            # Blank lines in front make tracebacks name the page's own lines.
            exec(compile("\n" * (block.line - 1) + block.text, str(page), "exec"), namespace)
        else:
            subprocess.run(["bash", "-euc", block.text], check=True)
    return len(chosen)


if __name__ == "__main__":
    print(f"{run(Path(sys.argv[1]))} blocks ran")
