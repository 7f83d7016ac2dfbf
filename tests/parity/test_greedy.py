"""Greedy tokens of one request at a time against llama.cpp's own server."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from llamaint import Llama
from tests.parity.conftest import TEXT_MODELS
from tests.support.llama_server import Completion, LlamaServer
from tests.support.parity import Parting, parting, prompts
from tests.support.row_noise import RowNoise

pytestmark = pytest.mark.parametrize("model", TEXT_MODELS, indirect=True)


def test_text_becomes_the_same_tokens(server: LlamaServer, open_llama: Callable[..., Llama]) -> None:
    llm = open_llama()
    odd = ["", " ", "  two  spaces ", "\n\n", "<|im_start|>user", "a<|im_end|>b", "\u00e9\u0301\u200d", "x" * 300]
    for text in [*prompts(), *odd]:
        assert llm.tokenize(text, special=True) == server.tokenize(text), text


def test_greedy_tokens_equal_those_of_llama_server(
    reference: list[Completion], open_llama: Callable[..., Llama], greedy: dict[str, object]
) -> None:
    llm = open_llama(n_parallel=1, prefix_cache=False)
    for number, (prompt, theirs) in enumerate(zip(prompts(), reference, strict=True)):
        ours = llm.complete(prompt, **greedy)
        assert ours.choices[0].tokens == theirs.tokens, f"prompt {number}"
        # Random weights stop inside a character; what then stands for its first bytes is not the model's word.
        assert ours.text.rstrip("\ufffd") == theirs.text.rstrip("\ufffd"), f"prompt {number}"


def test_cells_of_finished_requests_change_nothing_beyond_the_rule(
    noise_of: RowNoise,
    reference: list[Completion],
    open_llama: Callable[..., Llama],
    greedy: dict[str, object],
    check_partings: Callable[[dict[int, Parting]], None],
) -> None:
    llm = open_llama(n_parallel=4)  # as users have it: finished sequences stay in the cache
    found = {}
    for number, (prompt, theirs) in list(enumerate(zip(prompts(), reference, strict=True)))[::2]:
        ours = llm.complete(prompt, **greedy)
        apart = parting(noise_of, llm.tokenize(prompt, special=True), ours.choices[0].tokens, theirs.tokens)
        if apart is not None:
            found[number] = apart
    check_partings(found)
