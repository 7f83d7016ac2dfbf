from __future__ import annotations

from llamaint import hub
from llamaint.hub.catalog import CATALOG


def test_path_of_each_model_is_a_line_on_stdout(run, tmp_path):
    for name in ("a.gguf", "b.gguf"):
        (tmp_path / name).write_bytes(b"GGUF")
    result = run("pull", str(tmp_path / "a.gguf"), str(tmp_path / "b.gguf"))
    assert result.stdout.splitlines() == [str(tmp_path / "a.gguf"), str(tmp_path / "b.gguf")]
    assert result.stderr == ""


def test_without_a_name_the_aliases_are_listed_in_columns(run):
    result = run("pull")
    header, *lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(CATALOG)
    start = header.index("cached")
    assert all(line[start:].startswith("no") for line in lines)


def test_terms_are_shown_before_the_download(run, monkeypatch):
    order = []
    monkeypatch.setattr("llamaint.cli.console.note", lambda text: order.append(text))
    monkeypatch.setattr(hub, "resolve", lambda name, **settings: order.append("download"))
    run("pull", "gemma-3-270m")
    assert "Gemma Terms of Use" in order[0]
    assert order[1] == "download"


def test_models_without_terms_are_fetched_silently(run, monkeypatch):
    monkeypatch.setattr(hub, "resolve", lambda name, **settings: "somewhere")
    assert run("pull", "smollm2-135m").stderr == ""


def test_forget_says_what_it_freed(run):
    result = run("pull", "--forget", "smollm2-135m")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "smollm2-135m: 0.0 kB freed" in result.stderr


def test_forget_without_a_name_is_wrong_usage(run):
    assert run("pull", "--forget").exit_code == 2


def test_offline_error_tells_how_to_get_the_model(run, monkeypatch):
    monkeypatch.setenv("LLAMAINT_OFFLINE", "1")
    result = run("pull", "smollm2-135m")
    assert result.exit_code == 1
    assert "llamaint pull smollm2-135m" in result.stderr
