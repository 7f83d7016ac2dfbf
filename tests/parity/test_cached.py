"""A request that starts from a cached prefix against the same request from nothing, and streams against results."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from llamaint import Llama
from llamaint.types import Finish, TextDelta
from tests.parity.conftest import TEXT_MODELS
from tests.support.parity import Parting, parting, prompts
from tests.support.row_noise import RowNoise

pytestmark = pytest.mark.parametrize("model", TEXT_MODELS, indirect=True)


def test_cached_prefix_gives_the_answer_of_a_cold_start(
    noise_of: RowNoise,
    open_llama: Callable[..., Llama],
    greedy: dict[str, object],
    check_partings: Callable[[dict[int, Parting]], None],
) -> None:
    llm = open_llama(n_parallel=2)
    found, n_cached = {}, 0
    for number, prompt in list(enumerate(prompts()))[::3]:
        cold = llm.complete(prompt, cache_prompt=False, **greedy)
        llm.complete(prompt[: len(prompt) // 2], max_tokens=1, temperature=0.0)
        warm = llm.complete(prompt, **greedy)
        n_cached += warm.usage.cached_tokens
        apart = parting(noise_of, llm.tokenize(prompt, special=True), warm.choices[0].tokens, cold.choices[0].tokens)
        if apart is not None:
            found[number] = apart
    check_partings(found)
    assert n_cached > 0 or llm.info["memory_kind"] != "part"


def test_stream_adds_up_to_the_result(open_llama: Callable[..., Llama], greedy: dict[str, object]) -> None:
    llm = open_llama(n_parallel=1, prefix_cache=False)
    for prompt in prompts()[::3]:
        result = llm.complete(prompt, **greedy)
        *deltas, last = llm.complete_stream(prompt, **greedy)
        assert all(isinstance(delta, TextDelta) for delta in deltas)
        assert "".join(delta.text for delta in deltas) == result.text
        assert tuple(token for delta in deltas for token in delta.tokens) == result.choices[0].tokens
        assert isinstance(last, Finish)
        assert (last.reason, last.usage) == (result.finish_reason, result.usage)
