"""The command as users start it, on tiny models with the real engine."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from llamaint import LlamaEmbedding

pytestmark = pytest.mark.native

ROOT = Path(__file__).parents[2]


def llamaint(*arguments, text=None, **env):
    return subprocess.run(
        [sys.executable, "-m", "llamaint.cli", *map(str, arguments)],
        input=text,
        stdin=subprocess.DEVNULL if text is None else None,
        capture_output=True,
        text=True,
        env={**os.environ, **env},
        cwd=ROOT,
        timeout=120,
        check=False,
    )


def test_completion_is_what_the_model_says(cycle_llama):
    done = llamaint("complete", "-m", cycle_llama, "--temperature", 0, "-n", 4, "abc")
    assert (done.returncode, done.stdout, done.stderr) == (0, "defg\n", "")


def test_completion_of_a_piped_prompt_stops_at_a_string(cycle_llama):
    done = llamaint("complete", "-m", cycle_llama, "--temperature", 0, "--stop", "g", text="abc")
    assert done.stdout == "def\n"


def test_json_completion_counts_tokens(cycle_llama):
    done = llamaint("complete", "-m", cycle_llama, "--temperature", 0, "-n", 4, "--json", "abc")
    result = json.loads(done.stdout)
    assert result["choices"][0]["text"] == "defg"
    assert result["usage"]["completion_tokens"] == 4


def test_chat_goes_through_the_models_template(tiny_llama):
    done = llamaint("chat", "-m", tiny_llama, "--temperature", 0, "-n", 8, "--stats", "--once", "Hi")
    assert done.returncode == 0, done.stderr
    assert "8 written" in done.stderr


def test_same_seed_gives_the_same_answer(tiny_llama):
    answers = {
        llamaint("chat", "-m", tiny_llama, "--temperature", 1, "--seed", 7, "-n", 16, "--once", "Hi").stdout
        for _ in range(2)
    }
    assert len(answers) == 1


def test_prompt_that_does_not_fit_says_by_how_much(cycle_llama):
    done = llamaint("complete", "-m", cycle_llama, "--ctx", 256, "a" * 1000)
    assert done.returncode == 1
    assert "1000" in done.stderr
    assert "256" in done.stderr
    assert "--ctx" in done.stderr


def test_embedding_file_equals_the_python_interface(tiny_bert, tmp_path):
    lines = ["one", "", "two words"]
    (tmp_path / "lines.txt").write_text("\n".join(lines) + "\n")
    done = llamaint("embed", "-m", tiny_bert, "-f", tmp_path / "lines.txt", "-o", tmp_path / "v.npy")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    with LlamaEmbedding(tiny_bert) as embedder:
        np.testing.assert_allclose(np.load(tmp_path / "v.npy"), embedder.embed(lines), atol=1e-6)


def test_inspection_reads_architecture_and_context(tiny_bert):
    found = json.loads(llamaint("inspect", "--json", tiny_bert).stdout)
    assert found["arch"] == "bert"
    assert found["metadata"]["bert.context_length"] == 128
    assert sum(found["tensor_types"].values()) == found["n_tensors"]


@pytest.mark.parametrize("command", [["inspect"], ["complete", "-n", "1", "x", "-m"], ["embed", "x", "-m"]])
def test_damaged_file_is_one_line_and_exit_code_1(cycle_llama, tmp_path, command):
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(cycle_llama.read_bytes()[:5000])
    done = llamaint(*command, cut)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert len(done.stderr.splitlines()) <= 2


def test_log_of_llama_cpp_is_shown_only_when_asked(cycle_llama):
    arguments = ["complete", "-m", cycle_llama, "--temperature", 0, "-n", 1, "abc"]
    assert llamaint(*arguments).stderr == ""
    assert "llamaint.native" in llamaint("-v", *arguments).stderr


@pytest.fixture
def endless(cycle_llama):
    """A command in the middle of an answer without end; its first letter has been read."""
    command = [sys.executable, "-m", "llamaint.cli", "complete", "-m", str(cycle_llama), "--temperature", "0"]
    with subprocess.Popen(
        [*command, "-n", "1000000", "abc"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT
    ) as process:
        assert process.stdout.read(1) == b"d"
        yield process
        process.kill()


@pytest.mark.skipif(os.name == "nt", reason="SIGINT")
def test_interrupt_of_a_long_answer_exits_with_130(endless):
    endless.send_signal(signal.SIGINT)
    endless.communicate(timeout=60)
    assert endless.returncode == 130


def test_reader_that_leaves_early_ends_the_command_quietly(endless):
    endless.stdout.close()
    err = endless.stderr.read()
    assert endless.wait(60) == 1
    assert b"Traceback" not in err
