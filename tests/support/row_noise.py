"""Asks tests/parity/row_noise.cpp how undecided llama.cpp itself is about a next token."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from tests.support.llama_server import binary


class RowNoise:
    """One process per model, started at the first question; a context manager that ends it."""

    def __init__(self, model: Path, *, n_ctx: int) -> None:
        self._command = [str(binary("llamaint_row_noise")), str(model), str(n_ctx)]
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> RowNoise:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            self._process.communicate(timeout=30)

    def measure(self, tokens: Sequence[int]) -> tuple[float, dict[int, float]]:
        """The largest change of a log-probability between one row at a time and all rows at once, and the
        log-probabilities of the 40 likeliest next tokens (one row at a time)."""
        if self._process is None:
            self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(*tokens, file=self._process.stdin, flush=True)
        noise, *pairs = self._process.stdout.readline().split()
        return float(noise), {int(token): float(value) for token, value in (pair.split(":") for pair in pairs)}
