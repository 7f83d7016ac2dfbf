from __future__ import annotations

import json

import pytest

from llamaint.backend import llama_cpp

SCAN = {
    "arch": "llama",
    "version": 3,
    "metadata": {
        "general.architecture": "llama",
        "general.name": "Tiny",
        "llama.context_length": 128,
        "llama.block_count": 2,
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.tokens": "<384 values>",
        "tokenizer.chat_template": "{{ messages }}",
    },
    "n_tensors": 4,
    "tensor_types": {"f32": 1, "q4_0": 3},
    "tensor_bytes": 1_500_000,
    "file_bytes": 1_600_000,
}


@pytest.fixture
def file(tmp_path, monkeypatch):
    path = tmp_path / "m.gguf"
    path.write_bytes(b"GGUF")
    monkeypatch.setattr(llama_cpp, "scan_gguf", lambda path: SCAN)
    return path


def shown(result):
    return {line[: line.index("  ")]: line.split("  ")[-1].strip() for line in result.stdout.splitlines()}


def test_summary_says_what_people_look_for(run, file):
    rows = shown(run("inspect", str(file)))
    assert rows["file"] == str(file)
    assert rows["file size"] == "1.6 MB"
    assert rows["types"] == "3 q4_0, 1 f32"
    assert (rows["context"], rows["layers"], rows["tokens"]) == ("128", "2", "384")
    assert (rows["tokenizer"], rows["chat template"]) == ("gpt2", "yes")


def test_facts_the_file_does_not_state_are_left_out(run, file):
    rows = shown(run("inspect", str(file)))
    assert not {"pooling", "sliding window", "experts", "part"} & rows.keys()


@pytest.mark.parametrize(
    ("metadata", "row", "value"),
    [
        ({"llama.pooling_type": 1}, "pooling", "mean"),
        ({"split.no": 0, "split.count": 3}, "part", "1 of 3"),
        ({}, "chat template", "no"),
    ],
)
def test_rows_for_what_some_files_have(run, file, monkeypatch, metadata, row, value):
    monkeypatch.setattr(llama_cpp, "scan_gguf", lambda path: {**SCAN, "metadata": metadata})
    assert shown(run("inspect", str(file)))[row] == value


def test_all_prints_long_values_on_one_line(run, file, monkeypatch):
    metadata = {**SCAN["metadata"], "general.description": "line\n" * 100}
    monkeypatch.setattr(llama_cpp, "scan_gguf", lambda path: {**SCAN, "metadata": metadata})
    line = next(x for x in run("inspect", "--all", str(file)).stdout.splitlines() if x.startswith("general.desc"))
    assert line.endswith("…")


def test_json_holds_everything(run, file):
    assert json.loads(run("inspect", "--json", str(file)).stdout) == {"path": str(file), **SCAN}
