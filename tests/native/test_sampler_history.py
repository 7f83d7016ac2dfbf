"""Penalties and DRY: what they see, how far back, and that they act."""

from __future__ import annotations

from pathlib import Path

import pytest

from llamaint import _native
from tests.support.samplers import make_sampler, row_of


@pytest.fixture(scope="module")
def model(tiny_llama: Path) -> _native.Model:
    return _native.Model.load(str(tiny_llama), _native.ModelParams())


def greedy(model: _native.Model, history: list[int], logits: dict[int, float], **settings: object) -> int:
    """The greedy choice after the prompt ``history``."""
    sampler = make_sampler(model, temperature=0.0, **settings)
    sampler.accept_prompt(history)
    return sampler.sample(row_of(model, logits))[0]


# ---- penalties ------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "settings", [{"repeat_penalty": 2.0}, {"frequency_penalty": 1.0}, {"presence_penalty": 1.0}], ids=str
)
def test_penalties_see_the_prompt(model: _native.Model, settings: dict[str, object]) -> None:
    logits = {1: 2.0, 2: 1.5}
    assert greedy(model, [1], logits, **settings) == 2
    assert greedy(model, [3], logits, **settings) == 1
    assert greedy(model, [1], logits) == 1


def test_penalties_see_what_was_generated(model: _native.Model) -> None:
    sampler = make_sampler(model, temperature=0.0, presence_penalty=1.0)
    row = row_of(model, {1: 2.0, 2: 1.5})
    picked = []
    for _ in range(2):
        picked.append(sampler.sample(row)[0])
        sampler.accept(picked[-1])
    assert picked == [1, 2]


def test_the_repeat_penalty_divides_positive_and_multiplies_negative_logits(model: _native.Model) -> None:
    assert greedy(model, [1], {1: 3.0, 2: 1.4}, repeat_penalty=2.0) == 1
    assert greedy(model, [1], {1: 3.0, 2: 1.6}, repeat_penalty=2.0) == 2
    assert greedy(model, [1], {1: -1.0, 2: -1.9}, repeat_penalty=2.0) == 2


def test_the_frequency_penalty_counts_and_the_presence_penalty_does_not(model: _native.Model) -> None:
    logits = {1: 4.0, 2: 2.5}
    assert greedy(model, [1], logits, frequency_penalty=1.0) == 1
    assert greedy(model, [1, 1], logits, frequency_penalty=1.0) == 2
    assert greedy(model, [1, 1, 1], logits, presence_penalty=1.0) == 1


def test_penalty_last_n_is_a_window(model: _native.Model) -> None:
    history = [1, *[3] * 10]
    logits = {1: 2.0, 2: 1.5}
    assert greedy(model, history, logits, presence_penalty=1.0, penalty_last_n=11) == 2
    assert greedy(model, history, logits, presence_penalty=1.0, penalty_last_n=10) == 1


def test_the_default_window_has_64_tokens(model: _native.Model) -> None:
    logits = {1: 2.0, 2: 1.5}
    assert greedy(model, [1, *[3] * 63], logits, presence_penalty=1.0) == 2
    assert greedy(model, [1, *[3] * 64], logits, presence_penalty=1.0) == 1


def test_penalty_last_n_zero_turns_penalties_off(model: _native.Model) -> None:
    assert greedy(model, [1], {1: 2.0, 2: 1.5}, presence_penalty=1.0, penalty_last_n=0) == 1


def test_penalty_last_n_minus_one_is_the_whole_context(model: _native.Model) -> None:
    logits = {1: 2.0, 2: 1.5}
    settings = {"presence_penalty": 1.0, "penalty_last_n": -1}
    assert greedy(model, [1, *[3] * 199], logits, n_ctx=200, **settings) == 2
    assert greedy(model, [1, *[3] * 200], logits, n_ctx=200, **settings) == 1


# ---- DRY ------------------------------------------------------------------------------------
_REPEATED = [210, 211, 212, 213, 214, 215, 210, 211, 212, 213, 214]  # 215 would go on repeating


def test_dry_sees_the_prompt_and_breaks_a_repetition(model: _native.Model) -> None:
    logits = {215: 2.0, 2: 1.5}
    assert greedy(model, _REPEATED, logits, dry_multiplier=0.8) == 2
    assert greedy(model, _REPEATED, logits) == 215
    assert greedy(model, _REPEATED, {216: 2.0, 2: 1.5}, dry_multiplier=0.8) == 216


def test_dry_penalises_by_multiplier_times_base_to_the_length(model: _native.Model) -> None:
    # The sequence of 5 exceeds the allowed 2 by 3: 0.5 * 2 ** 3 = 4.
    settings = {"dry_multiplier": 0.5, "dry_base": 2.0, "dry_allowed_length": 2}
    assert greedy(model, _REPEATED, {215: 5.0, 2: 1.1}, **settings) == 2
    assert greedy(model, _REPEATED, {215: 5.0, 2: 0.9}, **settings) == 215


def test_dry_lets_short_repetitions_pass(model: _native.Model) -> None:
    logits = {215: 2.0, 2: 1.5}
    assert greedy(model, _REPEATED, logits, dry_multiplier=0.8, dry_allowed_length=5) == 2
    assert greedy(model, _REPEATED, logits, dry_multiplier=0.8, dry_allowed_length=6) == 215


def test_dry_penalty_last_n_is_a_window(model: _native.Model) -> None:
    logits = {215: 2.0, 2: 1.5}
    assert greedy(model, _REPEATED, logits, dry_multiplier=0.8, dry_penalty_last_n=11) == 2
    assert greedy(model, _REPEATED, logits, dry_multiplier=0.8, dry_penalty_last_n=5) == 215
    assert greedy(model, _REPEATED, logits, dry_multiplier=0.8, dry_penalty_last_n=0) == 215


def test_dry_penalty_last_n_minus_one_is_the_whole_context(model: _native.Model) -> None:
    logits = {215: 2.0, 2: 1.5}
    history = _REPEATED[:6] + [50 + i for i in range(100)] + _REPEATED[6:]
    settings = {"dry_multiplier": 0.8}
    assert greedy(model, history, logits, dry_penalty_last_n=-1, n_ctx=200, **settings) == 2
    assert greedy(model, history, logits, dry_penalty_last_n=64, **settings) == 215


def test_a_sequence_breaker_ends_what_dry_compares(model: _native.Model) -> None:
    logits = {215: 2.0, 2: 1.5}
    with_breaker = [ord("*") if token == 214 else token for token in _REPEATED]
    assert greedy(model, with_breaker, logits, dry_multiplier=0.8) == 215
    assert greedy(model, with_breaker, logits, dry_multiplier=0.8, dry_sequence_breakers=["#"]) == 2
