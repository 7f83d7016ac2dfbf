"""Loaded tiny models, shared by the tests of a module."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from llamaint import Llama


@pytest.fixture(scope="module")
def cycle(cycle_llama: Path) -> Iterator[Llama]:
    """Continues the alphabet from a to p, one letter per token, for ever."""
    with Llama(str(cycle_llama), n_ctx=4096, n_threads=1) as llm:
        yield llm


@pytest.fixture(scope="module")
def tiny(tiny_llama: Path) -> Iterator[Llama]:
    """Random weights: says anything, and ends when it likes."""
    with Llama(str(tiny_llama), n_ctx=2048, n_threads=1) as llm:
        yield llm


@pytest.fixture
def run_python() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs a program in a fresh interpreter; its arguments arrive as ``sys.argv[1:]``."""

    def run(code: str, *arguments: object, timeout: float = 120) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=timeout,
        )

    return run
