"""Everything llama.cpp says ends in one ring; nothing reaches stdout or stderr."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from llamaint import _native


def load(path: Path) -> _native.Model:
    return _native.Model.load(str(path), _native.ModelParams())


@pytest.fixture(autouse=True)
def _empty_log() -> None:
    _native.drain_log(0)


def test_a_load_is_told_line_by_line(tiny_llama: Path) -> None:
    load(tiny_llama)
    lines = _native.drain_log(0)
    assert any("llama_model_loader" in text for _, text in lines)
    assert {level for level, _ in lines} <= {logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR}
    assert not any("\n" in text for _, text in lines)


def test_continued_lines_are_one_line(tiny_llama: Path) -> None:
    load(tiny_llama)
    dots = [text for _, text in _native.drain_log(0) if set(text) == {"."}]
    assert len(dots) <= 1


def test_an_error_is_logged_and_stands_in_the_exception(tiny_llama: Path) -> None:
    with pytest.raises(_native.NativeError, match="wrong number of tensors"):
        _native.Model.load(str(tiny_llama), _native.ModelParams(kv_overrides={"llama.block_count": 3}))
    assert any("wrong number" in text for level, text in _native.drain_log(0) if level == logging.ERROR)


def test_warnings_that_say_nothing_are_debug_lines(tiny_llama: Path) -> None:
    model = load(tiny_llama)
    _native.Engine(model, _native.EngineParams(context=_native.ContextParams(n_ctx=256))).close()
    lines = _native.drain_log(0)
    assert not [text for level, text in lines if "full capacity" in text and level >= logging.WARNING]


def test_what_llama_cpp_prints_past_its_loggers_is_a_warning(
    tiny_llama: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    load(tiny_llama).grammar_from_json_schema('{"type": "string", "pattern": "no anchor"}')
    lines = _native.drain_log(0)
    assert any(level == logging.WARNING and "no anchor" in text for level, text in lines)
    assert capfd.readouterr() == ("", "")


def test_drain_waits_for_the_first_line_without_the_gil(tiny_llama: Path) -> None:
    taken: list[list[tuple[int, str]]] = []
    waiter = threading.Thread(target=lambda: taken.append(_native.drain_log(30)))
    waiter.start()
    load(tiny_llama)
    waiter.join(30)
    assert taken[0]


def test_drain_gives_up_after_its_timeout() -> None:
    start = time.monotonic()
    assert _native.drain_log(0.05) == []
    assert time.monotonic() - start >= 0.04


def test_wake_ends_a_waiting_drain() -> None:
    taken: list[list[tuple[int, str]]] = []
    waiter = threading.Thread(target=lambda: taken.append(_native.drain_log(60)))
    waiter.start()
    _native.wake_log()
    waiter.join(30)
    assert taken == [[]]


def test_a_full_ring_drops_the_oldest_lines_and_counts_them(tiny_llama: Path) -> None:
    before = _native.log_dropped()
    model = load(tiny_llama)
    while _native.log_dropped() == before:
        load(tiny_llama)
    lines = _native.drain_log(0)
    assert len(lines) == 8192
    assert model.info()["n_layer"] == 4


def test_a_session_writes_nothing_to_stdout_or_stderr(tiny_llama: Path) -> None:
    code = f"""
from llamaint import _native
model = _native.Model.load({str(tiny_llama)!r}, _native.ModelParams())
engine = _native.Engine(model, _native.EngineParams(context=_native.ContextParams(n_ctx=256)))
handle = engine.submit(_native.GenerationRequest(prompt=[1, 2, 3], max_tokens=3))
while not handle.done:
    handle.wait(1.0)
engine.close()
for bad in ("root ::= (", "no root"):
    try:
        model.grammar_from_gbnf(bad)
    except _native.NativeError:
        pass
try:
    _native.ChatTemplates(model, "{{% if %}}")
except _native.NativeError:
    pass
try:
    _native.Model.load("/nonexistent", _native.ModelParams())
except _native.NativeError:
    pass
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_logging_goes_on_in_a_forked_child(tiny_llama: Path) -> None:
    code = f"""
import os
from llamaint import _native
params = _native.ModelParams(vocab_only=True)
_native.Model.load({str(tiny_llama)!r}, params)
pid = os.fork()
if pid == 0:
    _native.Model.load({str(tiny_llama)!r}, params)
    os._exit(0 if _native.drain_log(1) else 1)
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
