from __future__ import annotations

import importlib
import sys

import pytest

from llamaint.cli import rag, rag_prompt
from llamaint.errors import ConfigError


def framework(name: str, package: str) -> object:
    """A parameter that is skipped where the framework is missing.

    Imported here, before any fake stands in for the classes that its fields name.
    """
    try:
        importlib.import_module(package)
    except ImportError as error:
        return pytest.param(name, marks=pytest.mark.skip(reason=str(error)))
    return name


FRAMEWORKS = [framework("langchain", "llamaint_langchain"), framework("llamaindex", "llamaint_llamaindex")]


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "docs"
    (folder / "sub").mkdir(parents=True)
    (folder / "boats.md").write_text("# Boats\n\nThe blue boat sails to the island on Tuesday.\n\nBoats need paint.\n")
    (folder / "sub" / "tea.txt").write_text("Green tea is brewed at eighty degrees.")
    (folder / "empty.md").write_text("\n")
    (folder / "image.png").write_bytes(b"\x89PNG")
    return folder


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_answer_is_followed_by_the_sources_best_first(run, fakes, folder, framework):
    fakes.script = "On Tuesday."
    result = run("demo", "rag", "--framework", framework, "--docs", str(folder), "When sails the blue boat?")
    assert result.exit_code == 0, result.stderr
    answer, _, table = result.stdout.partition("\n\n")
    assert answer == "On Tuesday."
    header, best, *_ = table.splitlines()
    assert header.split() == ["score", "source", "passage"]
    assert best.split()[1] == "boats.md"
    scores = [float(line.split()[0]) for line in table.splitlines()[1:]]
    assert scores == sorted(scores, reverse=True)
    assert f"{framework}: 2 files" in result.stderr


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_model_reads_the_passages_and_the_question(run, fakes, folder, framework):
    run("demo", "rag", "--framework", framework, "--docs", str(folder), "--passages", "1", "When sails the blue boat?")
    prompt = fakes.llm.prompts[0]
    assert "The blue boat sails to the island on Tuesday." in prompt
    assert "eighty degrees" not in prompt
    assert prompt.rindex("When sails the blue boat?") > prompt.rindex("on Tuesday.")


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_both_models_are_those_asked_for_and_greedy(run, fakes, folder, framework):
    run("demo", "rag", "--framework", framework, "--docs", str(folder), "-m", "a.gguf", "--embedding-model", "b.gguf")
    assert {name for name, _ in fakes.opened} == {"a.gguf", "b.gguf"}
    assert fakes.llm.requests[0].sampling.temperature == 0
    assert fakes.llm.closed


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_missing_framework_names_the_extra_before_anything_is_loaded(run, fakes, folder, framework, monkeypatch):
    package = {"langchain": "langchain_text_splitters", "llamaindex": "llama_index.core"}[framework]
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, f"llamaint.cli.rag_{framework}", raising=False)
    result = run("demo", "rag", "--framework", framework, "--docs", str(folder))
    assert result.exit_code == 1
    assert f"pip install 'llamaint[{framework}]'" in result.stderr
    assert fakes.opened == []


def test_unknown_framework_is_wrong_usage(run):
    assert run("demo", "rag", "--framework", "other").exit_code == 2


def test_folder_without_text_is_named(tmp_path):
    (tmp_path / "a.png").write_bytes(b"")
    with pytest.raises(ConfigError, match=r"no \.md or \.txt file"):
        rag.read_documents(tmp_path)


def test_documents_are_named_by_their_path_below_the_folder(folder):
    assert [document.name for document in rag.read_documents(folder)] == ["boats.md", "sub/tea.txt"]


def test_bundled_documents_are_there():
    documents = rag.read_documents(rag.BUNDLED)
    assert 5 <= len(documents) <= 8
    assert any("a sequence of its own" in document.text for document in documents)


def test_prompt_puts_the_best_passage_last_and_drops_headings():
    last = rag_prompt.messages("Why?", ["# Best\n\nbest\npassage", "second"])[-1].content
    assert last.startswith("second\n\nbest passage\n\n")
    assert "#" not in last
    assert last.endswith("Why?")


def test_passage_of_a_heading_alone_is_kept():
    assert "# Only" in rag_prompt.messages("Why?", ["# Only"])[-1].content
