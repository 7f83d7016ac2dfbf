"""Several threads: llama.cpp splits the attention of a lone row over 512 cells or more among them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from llamaint import Llama
from tests.support.parity import prompts

pytestmark = pytest.mark.parametrize("model", ["llama_q8_0", "llama_q4_0"], indirect=True)

N_LONG = 8
LONG = sorted(prompts(), key=len)[-N_LONG:]


@pytest.fixture
def open_deterministic(open_llama: Callable[..., Llama]) -> Callable[[int], Llama]:
    """Opens a deterministic engine with a number of threads and a window for each long prompt."""

    def opener(n_threads: int) -> Llama:
        return open_llama(n_ctx=2560, n_parallel=N_LONG, n_threads=n_threads, deterministic=True)

    return opener


def _alone(llm: Llama) -> list[tuple[int, ...]]:
    return [_tokens(llm, prompt) for prompt in LONG]


def _together(llm: Llama) -> list[tuple[int, ...]]:
    with ThreadPoolExecutor(N_LONG) as callers:
        return list(callers.map(lambda prompt: _tokens(llm, prompt), LONG))


def _tokens(llm: Llama, prompt: str) -> tuple[int, ...]:
    assert len(llm.tokenize(prompt)) > 256  # the padded cache then has 512 cells
    return llm.complete(prompt, max_tokens=12, temperature=0.0, ignore_eos=True).choices[0].tokens


def test_deterministic_engine_of_two_threads_answers_alike_alone_and_together(
    open_deterministic: Callable[[int], Llama],
) -> None:
    llm = open_deterministic(2)
    alone = _alone(llm)
    assert _together(llm) == alone


def test_deterministic_answers_do_not_depend_on_the_number_of_threads(
    open_deterministic: Callable[[int], Llama],
) -> None:
    # An engine with n_threads="auto" changes it while it runs.
    assert _alone(open_deterministic(2)) == _alone(open_deterministic(1))
