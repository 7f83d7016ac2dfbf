"""Who closes an engine: nobody else's garbage, the interpreter's end, never a forked child."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import textwrap
import threading

import pytest

from llamaint.engine.guard import EngineGuard


class Engine:
    def __init__(self):
        self.closed = False
        self.n_closes = 0

    def wait_ready(self, timeout_s):
        raise AssertionError("nobody watches")

    def close(self):
        self.closed = True
        self.n_closes += 1


def test_dropping_the_guard_closes_the_engine_once():
    engine = Engine()
    guard = EngineGuard(engine, "it")
    guard.close()
    del guard
    gc.collect()
    assert engine.n_closes == 1


def test_guard_that_is_never_closed_closes_when_collected():
    engine = Engine()
    EngineGuard(engine, "it")
    gc.collect()
    assert engine.closed


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error::ResourceWarning", "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_interpreter_exit_with_running_requests_is_clean():
    done = run(
        """
        import asyncio, contextlib, threading
        from llamaint import ClosedError
        from llamaint.testing import FakeLlama, Script
        llm = FakeLlama(Script(reply="word " * 1000, delay_s=0.01))
        stream = llm.complete_stream("x")
        next(stream)
        def read():
            with contextlib.suppress(ClosedError):
                list(llm.complete_stream("y"))
        threading.Thread(target=read, daemon=True).start()
        async def main():
            async for _ in llm.acomplete_stream("z"):
                break
        asyncio.run(main())
        """
    )
    assert (done.returncode, done.stderr) == (0, "")


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="fork is a thing of POSIX")


@needs_fork
def test_forked_child_raises_forked_error_and_leaves_the_parent_running():
    done = run(
        """
        import os, sys, warnings
        warnings.simplefilter("ignore", DeprecationWarning)
        from llamaint import ForkedError
        from llamaint.testing import FakeLlama, Script
        llm = FakeLlama(Script(reply="a b c d e f", delay_s=0.02))
        stream = llm.complete_stream("x")
        next(stream)
        pid = os.fork()
        if pid == 0:
            caught = 0
            for use in (lambda: llm.complete("x"), lambda: next(stream), lambda: llm.info,
                        lambda: llm.tokenize("x"), lambda: llm.count_tokens("x"), lambda: llm.metrics()):
                try:
                    use()
                except ForkedError as error:
                    caught += 1
            assert llm.closed
            llm.close()
            del llm, stream
            sys.exit(caught)
        _, status = os.waitpid(pid, 0)
        assert os.waitstatus_to_exitcode(status) == 6, status
        assert "".join(e.text for e in stream if hasattr(e, "text")) == " b c d e f"
        assert llm.complete("x").text == "a b c d e f"
        llm.close()
        """
    )
    assert (done.returncode, done.stderr) == (0, "")


@needs_fork
def test_forked_child_can_load_its_own():
    done = run(
        """
        import os, pickle, sys, warnings
        warnings.simplefilter("ignore", DeprecationWarning)
        from llamaint.testing import FakeLlama
        llm = FakeLlama("hello")
        pid = os.fork()
        if pid == 0:
            own = pickle.loads(pickle.dumps(llm))
            sys.exit(0 if own.complete("x").text == "hello" else 1)
        _, status = os.waitpid(pid, 0)
        assert os.waitstatus_to_exitcode(status) == 0, status
        """
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_no_thread_is_left_after_close():
    before = set(threading.enumerate())
    from llamaint.testing import FakeLlama

    with FakeLlama("x") as llm:
        llm.complete("y")
    assert set(threading.enumerate()) == before
