"""The runner of the documentation's examples."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.pages import blocks, run

_PAGE = """\
# Title

```python
x = 20
```

Text.

- item

  ```python
  x += 1
  if x:
      x *= 2
  ```

<!-- not run: needs a GPU -->
```python
raise SystemExit("left out")
```

```bash
llamaint --not-marked
```

<!-- run -->
```bash
llamaint() { test "$1" = demo; }
```

```text
plain
```
"""


def test_blocks_know_language_line_and_whether_they_run() -> None:
    assert [(block.language, block.line, block.runs) for block in blocks(_PAGE)] == [
        ("python", 4, True),
        ("python", 12, True),
        ("python", 19, False),
        ("bash", 23, False),
        ("bash", 28, False),
        ("text", 32, False),
    ]


def test_marked_bash_block_runs_if_it_begins_with_the_command() -> None:
    (block,) = blocks("<!-- run -->\n```bash\nllamaint doctor\n```\n")
    assert block.runs


def test_python_blocks_share_one_namespace(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    page.write_text(_PAGE + "\n```python\nprint('x is', x)\n```\n")
    assert run(page) == 3
    assert "x is 42" in capsys.readouterr().out


def test_failing_block_names_its_line_of_the_page(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(_PAGE + "\n```python\nx = 1\nassert x == 2\n```\n")
    with pytest.raises(AssertionError) as failure:
        run(page)
    assert failure.traceback[-1].lineno + 1 == page.read_text().split("\n").index("assert x == 2") + 1
