"""Every example of README.md and docs/ runs, and every link to a file of the repository leads somewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.pages import blocks

REPOSITORY = Path(__file__).parents[2]
PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]
LINKED = [*PAGES, *sorted((REPOSITORY / "docs" / "dev").glob("*.md")), REPOSITORY / "CONTRIBUTING.md"]


def _name(page: Path) -> str:
    return page.relative_to(REPOSITORY).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_examples_of_a_page_run_from_top_to_bottom(page: Path, tmp_path: Path) -> None:
    if not any(block.runs for block in blocks(page.read_text(encoding="utf-8"))):
        return
    environment = {
        **os.environ,
        "PYTHONPATH": str(REPOSITORY),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
    }
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.pages", str(page)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}"


@pytest.mark.parametrize("page", LINKED, ids=_name)
def test_links_of_a_page_lead_to_files(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?://|#)([^)#\s]+)", page.read_text(encoding="utf-8"))
    missing = [target for target in targets if not (page.parent / target).exists()]
    assert missing == []
