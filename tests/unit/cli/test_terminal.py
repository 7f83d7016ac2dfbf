"""What a person at a terminal gets: a real pseudo-terminal, fakes behind it."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pty = pytest.importorskip("pty")

SCRIPT = """
import sys
import llamaint
from llamaint.testing import FakeLlama, Script
llamaint.Llama = lambda name, **settings: FakeLlama([Script({script}), "second"], **settings)
sys.argv = ["llamaint", *{arguments!r}]
from llamaint.cli import main
main()
"""
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")


class Terminal:
    """A process on a pseudo-terminal."""

    def __init__(self, script: str, arguments: list[str], env: dict[str, str]) -> None:
        self._leader, follower = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT.format(script=script, arguments=arguments)],
            stdin=follower,
            stdout=follower,
            stderr=follower,
            env=env,
            cwd=Path(__file__).parents[3],
            start_new_session=True,
        )
        os.close(follower)
        self.raw = ""

    def wait_for(self, text: str) -> None:
        deadline = time.monotonic() + 60
        while text not in self.shown:
            assert time.monotonic() < deadline, self.shown
            self._read()

    def type(self, line: str) -> None:
        os.write(self._leader, f"{line}\n".encode())

    def interrupt(self) -> None:
        os.kill(self.process.pid, signal.SIGINT)

    def finish(self) -> int:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            ready, _, _ = select.select([self._leader], [], [], 1.0)
            if ready and not self._read():
                break
        return self.process.wait(30)

    @property
    def shown(self) -> str:
        return _ESCAPES.sub("", self.raw)

    def _read(self) -> bool:
        try:
            data = os.read(self._leader, 4096)
        except OSError:  # the other side is closed
            return False
        self.raw += data.decode(errors="replace")
        return bool(data)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._leader)


@pytest.fixture
def terminal(tmp_path):
    opened = []

    def start(script: str, *arguments: str) -> Terminal:
        env = {**os.environ, "TERM": "xterm", "LLAMAINT_CACHE": str(tmp_path), "COLUMNS": "100"}
        env.pop("NO_COLOR", None)
        opened.append(Terminal(script, list(arguments), env))
        return opened[-1]

    yield start
    for one in opened:
        one.close()


def test_conversation_at_the_prompt(terminal):
    chat = terminal("reply='first answer'", "chat")
    chat.wait_for("> ")
    chat.type("Hi")
    chat.wait_for("first answer")
    chat.type("And?")
    chat.wait_for("second")
    chat.type("/quit")
    assert chat.finish() == 0


def test_interrupt_stops_the_answer_and_the_conversation_goes_on(terminal):
    chat = terminal("reply='la ' * 1000, delay_s=0.05", "chat")
    chat.wait_for("> ")
    chat.type("Sing")
    chat.wait_for("la la")
    chat.interrupt()
    chat.wait_for("(stopped)")
    chat.type("Go on")
    chat.wait_for("second")
    chat.type("/quit")
    assert chat.finish() == 0


def test_interrupt_at_the_prompt_leaves_with_130(terminal):
    chat = terminal("reply='hello'", "chat")
    chat.wait_for("> ")
    time.sleep(1.0)  # the prompt is drawn a moment before the terminal is read
    chat.interrupt()
    assert chat.finish() == 130


def test_interrupt_of_a_single_answer_exits_with_130(terminal):
    chat = terminal("reply='la ' * 1000, delay_s=0.05", "chat", "--once", "Sing")
    chat.wait_for("la la")
    chat.interrupt()
    assert chat.finish() == 130


def test_control_characters_of_a_model_do_not_reach_the_terminal(terminal):
    chat = terminal("reply='safe\\x1b]0;title\\x07 text'", "chat", "--once", "Hi")
    assert chat.finish() == 0
    assert "safe]0;title text" in chat.raw


def test_help_of_an_alias_table_is_drawn_for_a_terminal(terminal):
    listing = terminal("reply=''", "pull")
    assert listing.finish() == 0
    assert "smollm2-135m" in listing.shown
    assert "\u2500" in listing.shown
