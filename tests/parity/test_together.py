"""Sixteen requests at once against the same requests alone: mixed lengths, streams, and some cancelled on the way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from llamaint import Llama
from llamaint.types import TextDelta
from tests.parity.conftest import TEXT_MODELS
from tests.support.parity import Parting, parting, prompts
from tests.support.row_noise import RowNoise

pytestmark = pytest.mark.parametrize("model", TEXT_MODELS, indirect=True)

N_TOGETHER = 16
# Every other one: of all lengths, and more than run at once.
PROMPTS = dict(list(enumerate(prompts()))[::2])
# Room for the longest prompt in any of the vocabularies.
N_CTX_EACH = 2560


def _streamed(llm: Llama, prompt: str, greedy: dict[str, object]) -> tuple[int, ...]:
    events = llm.complete_stream(prompt, **greedy)
    return tuple(token for event in events if isinstance(event, TextDelta) for token in event.tokens)


def _cancelled(llm: Llama, prompt: str, greedy: dict[str, object]) -> None:
    """Leave a stream after two deltas."""
    with llm.complete_stream(prompt, **greedy) as events:
        for number, _ in enumerate(events):
            if number == 1:
                break


def _awaited(llm: Llama, prompt: str, greedy: dict[str, object]) -> tuple[int, ...]:
    return asyncio.run(llm.acomplete(prompt, **greedy)).choices[0].tokens


def _completed(llm: Llama, prompt: str, greedy: dict[str, object]) -> tuple[int, ...]:
    return llm.complete(prompt, **greedy).choices[0].tokens


def _answers_together(llm: Llama, greedy: dict[str, object]) -> dict[int, tuple[int, ...]]:
    """Tokens by prompt number, the prompts asked by 16 callers; every fourth is cancelled and has none."""
    ways = (_completed, _streamed, _cancelled, _awaited)
    with ThreadPoolExecutor(N_TOGETHER) as callers:
        futures = {
            number: callers.submit(ways[at % len(ways)], llm, prompt, greedy)
            for at, (number, prompt) in enumerate(PROMPTS.items())
        }
    answers = {number: future.result() for number, future in futures.items()}
    return {number: tokens for number, tokens in answers.items() if tokens is not None}


def _answers_alone(llm: Llama, greedy: dict[str, object]) -> dict[int, tuple[int, ...]]:
    return {number: _completed(llm, prompt, greedy) for number, prompt in PROMPTS.items()}


def test_deterministic_engine_answers_alike_alone_and_together(
    open_llama: Callable[..., Llama], greedy: dict[str, object]
) -> None:
    llm = open_llama(n_ctx=N_CTX_EACH, n_parallel=N_TOGETHER, deterministic=True)  # a window for each
    alone = _answers_alone(llm, greedy)
    together = _answers_together(llm, greedy)
    assert len(together) == len(PROMPTS) - len(PROMPTS) // 4
    assert together == {number: alone[number] for number in together}


def test_default_engine_parts_only_where_the_kernels_themselves_do(
    noise_of: RowNoise,
    open_llama: Callable[..., Llama],
    greedy: dict[str, object],
    check_partings: Callable[[dict[int, Parting]], None],
) -> None:
    llm = open_llama(n_ctx=N_TOGETHER * N_CTX_EACH, n_parallel=N_TOGETHER)  # one window for all
    alone = _answers_alone(llm, greedy)
    found = {}
    for number, tokens in _answers_together(llm, greedy).items():
        apart = parting(noise_of, llm.tokenize(PROMPTS[number], special=True), tokens, alone[number])
        if apart is not None:
            found[number] = apart
    check_partings(found)
