from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from llamaint import __version__, hub
from llamaint.cli import models
from llamaint.errors import CapacityError, ModelLoadError, PromptTooLongError

ROOT = Path(__file__).parents[3]


def failing(error):
    def resolve(name, **settings):
        raise error

    return resolve


def test_library_error_is_one_line_on_stderr_and_exit_code_1(run, monkeypatch):
    monkeypatch.setattr(hub, "resolve", failing(ModelLoadError("the file\nis damaged")))
    result = run("pull", "x.gguf")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr == "error: the file is damaged\n"


@pytest.mark.parametrize(
    ("error", "hint"),
    [(PromptTooLongError("too long", n_prompt=9, n_ctx=8), "--ctx"), (CapacityError("no room"), "--ctx")],
)
def test_hint_follows_errors_that_a_flag_can_cure(run, monkeypatch, error, hint):
    monkeypatch.setattr(hub, "resolve", failing(error))
    assert hint in run("pull", "x").stderr.splitlines()[1]


@pytest.mark.parametrize(
    "arguments",
    [["nonsense"], ["chat", "--temperature", "hot"], ["chat", "--top-p", "2"], ["inspect"], ["complete", "--n", "1"]],
)
def test_wrong_usage_is_exit_code_2_and_explained_on_stderr(run, arguments):
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "Usage:" in result.stderr


def test_interrupt_is_exit_code_130(run, monkeypatch):
    monkeypatch.setattr(hub, "resolve", failing(KeyboardInterrupt()))
    assert run("pull", "x").exit_code == 130


def test_error_of_a_defect_keeps_its_traceback(run, monkeypatch):
    monkeypatch.setattr(hub, "resolve", failing(ZeroDivisionError()))
    with pytest.raises(ZeroDivisionError):
        run("pull", "x")


def test_version_is_the_packages(run):
    assert run("--version").stdout.strip() == __version__


@pytest.mark.parametrize(
    "command", [["chat"], ["complete"], ["embed"], ["inspect"], ["pull"], ["doctor"], ["demo", "rag"]]
)
def test_help_of_every_command_ends_with_examples_line_by_line(run, command):
    result = run(*command, "--help")
    assert result.exit_code == 0
    examples = result.stdout.partition("Examples:\n")[2].splitlines()
    assert examples
    assert all(command[0] in line for line in examples if line.strip())


def test_help_loads_nothing_heavy():
    script = (
        "import sys, json\n"
        "from llamaint.cli import main\n"
        "sys.argv = ['llamaint', '--help']\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    loaded = set(json.loads(done.stdout.splitlines()[-1]))
    heavy = {"numpy", "langchain_core", "llama_index", "huggingface_hub", "gguf", "pydantic", "rich", "filelock"}
    assert not loaded & heavy
    assert "llamaint._native" not in loaded


def test_verbose_shows_the_log_on_stderr(run, fakes, monkeypatch):
    real = models.open_llm

    def open_llm(name, settings):
        logging.getLogger("llamaint.native").info("a line of llama.cpp")
        return real(name, settings)

    monkeypatch.setattr(models, "open_llm", open_llm)
    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", [])
    monkeypatch.setattr(logging.getLogger("llamaint"), "level", logging.NOTSET)
    quiet = run("complete", "Hi")
    verbose = run("-v", "complete", "Hi")
    assert "a line of llama.cpp" not in quiet.stderr
    assert "a line of llama.cpp" in verbose.stderr
    assert verbose.stdout == quiet.stdout


@pytest.mark.parametrize("no_color", [None, "1"])
def test_error_is_red_on_a_terminal_unless_no_color_is_set(no_color):
    pty = pytest.importorskip("pty")
    env = {**os.environ, "TERM": "xterm", "LLAMAINT_OFFLINE": "1"}
    env.pop("NO_COLOR", None)
    if no_color:
        env["NO_COLOR"] = no_color
    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "llamaint.cli", "pull", "nothing.gguf"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=follower, env=env, check=False, cwd=ROOT)
    os.close(follower)
    shown = os.read(leader, 10_000)
    os.close(leader)
    assert done.returncode == 1
    assert b"there is no file" in shown
    assert (b"\x1b[31m" in shown) is (no_color is None)
