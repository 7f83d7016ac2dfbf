from __future__ import annotations

import json
import sys

import pytest

from llamaint.cli import checks, probe
from llamaint.errors import EngineError

NATIVE = {
    "build": {
        "llama_cpp_commit": "0123456789abcdef",
        "compiler": "gcc 12",
        "system_info": "CPU : AVX2 = 1",
        "mmap": True,
    },
    "devices": [
        {"name": "CPU", "type": "cpu", "description": "a processor", "memory_free": 8e9, "memory_total": 16e9},
    ],
    "usable_cores": 2,
}
CHAT = {"load_s": 0.5, "text": " star", "n_tokens": 16, "decode_per_s": 50.0}
EMBED = {"load_s": 0.5, "n_embd": 384, "similar": 0.9, "different": 0.1}


@pytest.fixture
def found(monkeypatch):
    """What the probes find; an exception is raised instead."""
    answers = {"native": NATIVE, "chat": CHAT, "embed": EMBED}

    def run(part):
        answer = answers[part]
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(probe, "run", run)
    return answers


@pytest.fixture
def cached(monkeypatch):
    """States of the models in the cache."""
    states = {"smollm2-135m": "cached", "gemma-3-270m": "not cached", "minilm-l6": "cached"}
    monkeypatch.setattr(checks, "_cached_models", lambda: iter(states.items()))
    return states


def findings(run):
    result = run("doctor", "--json")
    report = json.loads(result.stdout)
    return result.exit_code, report["ok"], {check["name"]: check for check in report["checks"]}


def test_healthy_machine_is_exit_code_0(run, found, cached):
    code, ok, checked = findings(run)
    assert (code, ok) == (0, True)
    assert "0123456789ab" in checked["native module"]["detail"]
    assert "8.00 GB of 16.00 GB free" in checked["device CPU"]["detail"]
    assert checked["cores"]["detail"] == "2 usable"
    assert "50 tokens per second" in checked["self-test chat"]["detail"]
    assert "384" in checked["self-test embedding"]["detail"]


def test_text_report_has_a_line_for_each_finding(run, found, cached):
    result = run("doctor")
    assert result.exit_code == 0
    assert any(line.startswith("ok native module") for line in result.stdout.splitlines())
    assert result.stderr == ""


def test_missing_native_module_is_wrong_and_skips_the_self_tests(run, found, cached):
    found["native"] = EngineError("the native module is missing")
    code, ok, checked = findings(run)
    assert (code, ok) == (1, False)
    assert checked["native module"]["status"] == "fail"
    assert "self-test chat" not in checked


def test_text_report_repeats_what_is_wrong_on_stderr(run, found, cached):
    found["native"] = EngineError("gone")
    assert "wrong: native module" in run("doctor").stderr


def test_damaged_model_is_wrong_and_not_tried(run, found, cached):
    cached["smollm2-135m"] = "damaged"
    code, _, checked = findings(run)
    assert code == 1
    assert checked["model smollm2-135m"]["status"] == "fail"
    assert "skipped" in checked["self-test chat"]["detail"]


def test_model_that_is_not_cached_is_fine_and_its_pull_is_named(run, found, cached):
    cached["minilm-l6"] = "not cached"
    code, _, checked = findings(run)
    assert code == 0
    assert "llamaint pull minilm-l6" in checked["self-test embedding"]["detail"]


@pytest.mark.parametrize(
    ("part", "answer"),
    [
        ("chat", EngineError("the process was killed by SIGILL")),
        ("chat", {**CHAT, "n_tokens": 0}),
        ("embed", {**EMBED, "similar": 0.2}),
    ],
)
def test_failed_self_test_is_wrong(run, found, cached, part, answer):
    found[part] = answer
    code, _, checked = findings(run)
    assert code == 1
    assert checked["self-test chat" if part == "chat" else "self-test embedding"]["status"] == "fail"


def test_cache_that_cannot_be_written_is_wrong(run, found, cached, tmp_path, monkeypatch):
    (tmp_path / "occupied").write_bytes(b"")
    monkeypatch.setenv("LLAMAINT_CACHE", str(tmp_path / "occupied"))
    code, _, checked = findings(run)
    assert code == 1
    assert "LLAMAINT_CACHE" in checked["cache"]["detail"]


def test_cache_that_does_not_exist_yet_is_fine_and_stays_absent(run, found, cached, tmp_path):
    _, _, checked = findings(run)
    assert checked["cache"]["status"] == "ok"
    assert not (tmp_path / "cache").exists()


def test_offline_is_mentioned(run, found, cached, monkeypatch):
    monkeypatch.setenv("LLAMAINT_OFFLINE", "1")
    assert "offline" in findings(run)[2]["cache"]["detail"]


def test_missing_extra_names_its_pip_command_and_is_not_wrong(run, found, cached, monkeypatch):
    monkeypatch.setattr(checks, "_version_of", lambda package: None)
    code, _, checked = findings(run)
    assert code == 0
    assert "pip install 'llamaint[hub]'" in checked["extra hub"]["detail"]


def python(script):
    return [sys.executable, "-c", script]


@pytest.mark.parametrize(
    ("script", "complaint"),
    [
        (
            "import os, signal; os.kill(os.getpid(), signal.SIGILL)",
            "killed by SIGILL; the module was built for another",
        ),
        ("import sys; sys.exit('no such thing')", "exit code 1: no such thing"),
        ('print(\'{"error": "the file is damaged"}\')', "the file is damaged"),
        ("import time; time.sleep(60)", "no answer within"),
    ],
)
def test_probe_tells_how_the_process_ended(monkeypatch, script, complaint):
    monkeypatch.setattr(probe, "_COMMAND", python(script))
    if "sleep" in script:
        monkeypatch.setattr(probe, "_TIMEOUT_S", 1.0)
    with pytest.raises(EngineError, match=complaint):
        probe.run("native")


def test_probe_reads_the_last_line_only(monkeypatch):
    monkeypatch.setattr(probe, "_COMMAND", python("print('noise'); print('{\"usable_cores\": 4}')"))
    assert probe.run("native") == {"usable_cores": 4}
