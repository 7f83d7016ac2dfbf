"""Runs many cases in one child process and starts a new one only when a case kills it."""

from __future__ import annotations

import contextlib
import select
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of one case.

    Attributes:
        answer: the worker's line, None when it died or was killed for taking too long.
        exit_code: of the worker that died; None while it lives. Negative: a signal.
        stderr: what the dead worker had written there, the last lines.
    """

    answer: str | None
    exit_code: int | None = None
    stderr: str = ""

    @property
    def died(self) -> bool:
        """The process ended instead of answering."""
        return self.answer is None


class LoadWorker:
    """One ``tests.support.load_worker`` at a time."""

    def __init__(self, log: Path, timeout_s: float = 60.0) -> None:
        self._log = log
        self._timeout_s = timeout_s
        self._process: subprocess.Popen[str] | None = None

    def run(self, path: Path) -> Outcome:
        """Have the worker open one file."""
        process = self._running()
        assert process.stdin is not None
        try:
            process.stdin.write(f"{path}\n")
            process.stdin.flush()
        except BrokenPipeError:
            return self._bury(process)
        answer = self._line(process)
        return self._bury(process) if answer is None else Outcome(answer=answer)

    def close(self) -> None:
        """End the worker; it must leave by itself."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            assert self._process.wait(30) == 0
            self._drop()

    def kill(self) -> None:
        """End the worker as a crash would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None:
            with self._log.open("w") as log:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", "tests.support.load_worker"],
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, bufsize=1,
                )  # fmt: skip
        return self._process

    def _line(self, process: subprocess.Popen[str]) -> str | None:
        assert process.stdout is not None
        ready, _, _ = select.select([process.stdout], [], [], self._timeout_s)
        line = process.stdout.readline() if ready else ""
        return line.rstrip("\n") if line else None

    def _bury(self, process: subprocess.Popen[str]) -> Outcome:
        try:
            code = process.wait(2)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            code = -signal.SIGALRM  # it did not die: it hung
        self._drop()
        return Outcome(answer=None, exit_code=code, stderr=self._log.read_text(errors="replace")[-2000:])

    def _drop(self) -> None:
        """Close the pipes of a process that has ended."""
        assert self._process is not None
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()
        self._process = None
