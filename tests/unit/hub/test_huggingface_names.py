from __future__ import annotations

import sys

import pytest

from llamaint.errors import ModelNotFoundError, UnsupportedError
from llamaint.hub import resolve
from llamaint.hub.huggingface import RepoReference, choose

FILES = [
    "README.md",
    "m-Q4_K_M.gguf",
    "m-Q8_0.gguf",
    "big/m-F16-00001-of-00002.gguf",
    "big/m-F16-00002-of-00002.gguf",
    "mmproj-m-F16.gguf",
]


@pytest.mark.parametrize(
    ("name", "repo", "selector", "revision"),
    [
        ("hf:o/r", "o/r", None, None),
        ("hf:o/r:Q4_K_M", "o/r", "Q4_K_M", None),
        ("hf:o/r:sub/m.gguf@main", "o/r", "sub/m.gguf", "main"),
        ("hf:o/r@refs/pr/1", "o/r", None, "refs/pr/1"),
    ],
)
def test_name_is_taken_apart(name, repo, selector, revision):
    assert RepoReference.parse(name) == RepoReference(repo=repo, selector=selector, revision=revision)


@pytest.mark.parametrize("name", ["hf:", "hf:repo", "hf:a/b/c", "hf:/r", "hf:o/", "hf:o/r:", "hf:o/r@", "hf:o/r:@x"])
def test_malformed_name_shows_the_form(name):
    with pytest.raises(ModelNotFoundError, match=r"hf:owner/repo\[:file-or-quant\]"):
        RepoReference.parse(name)


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("Q8_0", ["m-Q8_0.gguf"]),
        ("q4_k_m", ["m-Q4_K_M.gguf"]),
        ("m-Q8_0.gguf", ["m-Q8_0.gguf"]),
        ("*q8_0*", None),
        ("*Q8_0.gguf", ["m-Q8_0.gguf"]),
        ("*-F16*", ["big/m-F16-00001-of-00002.gguf", "big/m-F16-00002-of-00002.gguf"]),
        ("8_0.gguf", None),
        ("F16", ["big/m-F16-00001-of-00002.gguf", "big/m-F16-00002-of-00002.gguf"]),
        ("m-F16-00002-of-00002.gguf", ["big/m-F16-00001-of-00002.gguf", "big/m-F16-00002-of-00002.gguf"]),
        ("mmproj-m-F16.gguf", ["mmproj-m-F16.gguf"]),
    ],
)
def test_selector_picks_one_model_with_all_its_parts(selector, expected):
    reference = RepoReference(repo="o/r", selector=selector)
    if expected is None:
        with pytest.raises(ModelNotFoundError, match="no model that fits"):
            choose(reference, FILES)
    else:
        assert choose(reference, FILES) == expected


def test_only_model_needs_no_selector():
    assert choose(RepoReference(repo="o/r"), ["a.gguf", "mmproj-a.gguf"]) == ["a.gguf"]


def test_several_models_without_selector_are_listed():
    with pytest.raises(ModelNotFoundError, match=r"3 models: big/m-F16-00001-of-00002\.gguf, m-Q4_K_M\.gguf") as caught:
        choose(RepoReference(repo="o/r"), FILES)
    assert caught.value.numbers["n_fitting"] == 3


def test_ambiguous_tag_lists_the_candidates():
    with pytest.raises(ModelNotFoundError, match=r"2 models that fits? 'Q8_0': a-Q8_0\.gguf, b-Q8_0\.gguf"):
        choose(RepoReference(repo="o/r", selector="Q8_0"), ["a-Q8_0.gguf", "b-Q8_0.gguf"])


def test_tag_that_no_file_has_lists_what_there_is():
    with pytest.raises(ModelNotFoundError, match=r"no model that fits 'IQ2_XS'; it has .*m-Q8_0\.gguf"):
        choose(RepoReference(repo="o/r", selector="IQ2_XS"), FILES)


def test_repository_without_gguf_says_so():
    with pytest.raises(ModelNotFoundError, match="o/r has no GGUF file"):
        choose(RepoReference(repo="o/r"), ["model.safetensors"])


def test_repository_with_a_part_missing_names_it():
    with pytest.raises(ModelNotFoundError, match=r"1 of 2 parts.*m-F16-00002-of-00002\.gguf"):
        choose(RepoReference(repo="o/r"), ["m-F16-00001-of-00002.gguf"])


def test_missing_huggingface_hub_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(UnsupportedError, match=r"pip install 'llamaint\[hub\]'"):
        resolve("hf:o/r")
