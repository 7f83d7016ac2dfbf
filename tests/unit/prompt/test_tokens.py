"""Prompt assembly over the fake vocabulary: BOS is 1, words are made up as they come."""

from __future__ import annotations

import numpy as np
import pytest

from llamaint import InvalidBatchError, RequestError, UnsupportedError
from llamaint.prompt.tokens import PromptTokenizer
from llamaint.testing.fake_model import BOS, EOS, FakeModel


class ModelWith(FakeModel):
    """A fake whose special tokens can be chosen."""

    def __init__(self, **tokens: int | None) -> None:
        super().__init__()
        self._tokens = tokens

    def info(self):
        return {**super().info(), "tokens": {**super().info()["tokens"], **self._tokens}}


def test_text_gets_one_bos():
    tokens = PromptTokenizer(FakeModel()).prompt("Hello there")
    assert tokens.count(BOS) == 1
    assert tokens[0] == BOS


def test_bos_written_in_the_text_is_not_doubled():
    model = FakeModel()
    assert PromptTokenizer(model).prompt("<s>Hello") == PromptTokenizer(model).prompt("Hello")


def test_special_tokens_in_the_text_count_as_such():
    assert PromptTokenizer(FakeModel()).prompt("a</s>")[-1] == EOS


def test_empty_text_starts_from_bos():
    assert PromptTokenizer(FakeModel()).prompt("") == [BOS]


def test_empty_text_without_bos_is_refused():
    class NoBos(ModelWith):
        def tokenize(self, text, add_special, parse_special):
            return super().tokenize(text, False, parse_special)

    with pytest.raises(RequestError, match="the prompt is empty"):
        PromptTokenizer(NoBos(bos=None)).prompt("")


def test_token_ids_are_taken_as_they_are():
    assert PromptTokenizer(FakeModel()).prompt([5, 6]) == [5, 6]
    assert PromptTokenizer(FakeModel()).prompt(np.array([5, 6])) == [5, 6]


@pytest.mark.parametrize(
    ("prompt", "error", "words"),
    [
        ([], RequestError, "no tokens"),
        ([5, 1.5], RequestError, r"prompt\[1\] must be a token id; it is 1.5"),
        ([True], RequestError, r"prompt\[0\]"),
        (["a"], RequestError, r"prompt\[0\]"),
        (5, RequestError, "the prompt must be a str or token ids; it is int"),
        (b"bytes", RequestError, "it is bytes"),
        ([5, 40000], InvalidBatchError, r"prompt\[1\] is 40000; token ids go from 0 to 32767"),
        ([-1], InvalidBatchError, r"prompt\[0\] is -1"),
        ("\udfff", RequestError, "lone surrogate"),
    ],
)
def test_prompt_that_cannot_work_is_refused(prompt, error, words):
    with pytest.raises(error, match=words):
        PromptTokenizer(FakeModel()).prompt(prompt)


def test_infill_without_the_tokens_names_what_is_missing():
    with pytest.raises(UnsupportedError, match="fim_pre, fim_suf, fim_mid missing"):
        PromptTokenizer(FakeModel()).infill("a", "b")


def test_infill_puts_prefix_and_suffix_between_the_marks():
    model = ModelWith(fim_pre=10, fim_suf=11, fim_mid=12)
    before, after = model.tokenize("def f():", False, True), model.tokenize("return x", False, True)
    assert PromptTokenizer(model).infill("def f():", "return x") == [BOS, 10, *before, 11, *after, 12]
