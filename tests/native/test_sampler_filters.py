"""Each parameter of the chain acts, with the meaning it has in llama.cpp."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from llamaint import _native
from tests.support.samplers import assert_drawn_from, draws, make_sampler, row_of, softmax


@pytest.fixture(scope="module")
def model(tiny_llama: Path) -> _native.Model:
    return _native.Model.load(str(tiny_llama), _native.ModelParams())


def kept(model: _native.Model, logits: dict[int, float], rest: float = -300.0, **settings: object) -> set[int]:
    return set(draws(make_sampler(model, **settings), row_of(model, logits, rest)))


# ---- filters --------------------------------------------------------------------------------
def test_top_k_keeps_the_k_largest(model: _native.Model) -> None:
    assert kept(model, {1: 1.0, 2: 1.1, 3: 1.2, 4: 1.3}, top_k=2) == {3, 4}


def test_top_k_zero_keeps_all(model: _native.Model) -> None:
    assert kept(model, {1: 1.0, 2: 1.1, 3: 1.2}, top_k=0) == {1, 2, 3}


def test_top_p_keeps_the_least_tokens_that_reach_p(model: _native.Model) -> None:
    logits = {1: np.log(0.5), 2: np.log(0.3), 3: np.log(0.15), 4: np.log(0.05)}
    assert kept(model, logits, top_p=0.75) == {1, 2}
    assert kept(model, logits, top_p=0.9) == {1, 2, 3}


def test_min_keep_holds_against_top_p(model: _native.Model) -> None:
    logits = {1: np.log(0.5), 2: np.log(0.3), 3: np.log(0.2)}
    assert kept(model, logits, top_p=0.1) == {1}
    assert kept(model, logits, top_p=0.1, min_keep=2) == {1, 2}


def test_min_p_is_relative_to_the_most_likely(model: _native.Model) -> None:
    logits = {1: np.log(0.6), 2: np.log(0.25), 3: np.log(0.15)}
    assert kept(model, logits, min_p=0.3) == {1, 2}


def test_typical_p_drops_what_is_too_likely(model: _native.Model) -> None:
    # Entropy 1.03 nats: the surprise of 2 (1.2) is nearest, that of 1 (0.5) and 3 (2.3) are farther.
    logits = {1: np.log(0.6), 2: np.log(0.3), 3: np.log(0.1)}
    assert kept(model, logits, typical_p=0.25) == {2}


def test_typical_p_is_not_confused_by_impossible_tokens(model: _native.Model) -> None:
    logits = {1: np.log(0.6), 2: np.log(0.3), 3: np.log(0.1), 4: 5.0}
    assert kept(model, logits, typical_p=0.25, logit_bias=[(4, -np.inf)]) == {2}


def test_top_n_sigma_keeps_what_is_near_the_top(model: _native.Model) -> None:
    logits = {1: 10.0, 2: 9.9, 3: 5.0}
    assert kept(model, logits, rest=0.0, top_n_sigma=1.0) == {1, 2}
    assert 3 in kept(model, logits, rest=0.0, top_n_sigma=20.0)


def test_xtc_drops_the_top_choices_that_pass_the_threshold(model: _native.Model) -> None:
    logits = {1: np.log(0.5), 2: np.log(0.3), 3: np.log(0.2)}
    assert kept(model, logits, xtc_probability=1.0, xtc_threshold=0.25) == {2, 3}
    assert kept(model, logits, xtc_probability=0.0, xtc_threshold=0.25) == {1, 2, 3}


def test_dynatemp_cools_a_certain_row_and_heats_an_uncertain_one(model: _native.Model) -> None:
    settings = {"temperature": 1.0, "dynatemp_range": 0.9, "samplers": ["temperature"]}
    certain = row_of(model, {1: 4.0, 2: 0.0})
    plain = draws(make_sampler(model, samplers=["temperature"]), certain)
    assert draws(make_sampler(model, **settings), certain)[1] > plain[1]
    uncertain = row_of(model, dict.fromkeys(range(300), 1.0) | {5: 3.0}, rest=0.0)
    plain = draws(make_sampler(model, samplers=["temperature"]), uncertain)
    assert draws(make_sampler(model, **settings), uncertain)[5] < plain[5]


def test_dynatemp_exponent_acts(model: _native.Model) -> None:
    row = row_of(model, {1: 3.0, 2: 1.0, 3: 0.0})
    settings = {"dynatemp_range": 0.9, "samplers": ["temperature"]}
    low = draws(make_sampler(model, dynatemp_exponent=0.3, **settings), row)
    high = draws(make_sampler(model, dynatemp_exponent=3.0, **settings), row)
    assert high[1] > low[1]


def test_infill_prefers_the_end_when_it_is_likely_enough(model: _native.Model) -> None:
    eog = model.info()["tokens"]["eos"]
    logits = {eog: 2.0, ord("a"): 1.0, ord("b"): 0.0}
    settings = {"samplers": ["top_k", "top_p", "infill"], "top_k": 3}
    assert kept(model, logits, **settings) == {eog}
    assert len(kept(model, logits, samplers=["top_k", "top_p"], top_k=3)) == 3


# ---- samplers that pick -------------------------------------------------------------------------
@pytest.mark.parametrize("version", [1, 2])
def test_mirostat_with_a_low_tau_is_less_surprising(model: _native.Model, version: int) -> None:
    row = np.random.default_rng(5).normal(scale=1.5, size=384).astype(np.float32)

    def surprise(tau: float) -> float:
        sampler = make_sampler(model, mirostat=version, mirostat_tau=tau, mirostat_eta=0.3)
        total = 0.0
        for _ in range(300):
            token = sampler.sample(row)[0]
            sampler.accept(token)
            total -= float(np.log(softmax(row)[token]))
        return total / 300

    assert surprise(0.5) < surprise(4.0)


def test_mirostat_eta_acts(model: _native.Model) -> None:
    rows = np.random.default_rng(6).normal(size=(50, 384)).astype(np.float32)

    def tokens(eta: float) -> list[int]:
        sampler = make_sampler(model, mirostat=2, mirostat_tau=3.0, mirostat_eta=eta)
        return [sampler.sample(row)[0] for row in rows]

    assert tokens(0.01) != tokens(0.9)


def test_adaptive_p_prefers_tokens_near_its_target(model: _native.Model) -> None:
    logits = {1: np.log(0.7), 2: np.log(0.2), 3: np.log(0.1)}
    row = row_of(model, logits)
    low = draws(make_sampler(model, adaptive_target=0.15), row)
    high = draws(make_sampler(model, adaptive_target=0.75), row)
    assert high[1] > low[1]
    assert low[2] + low[3] > high[2] + high[3]


def test_adaptive_p_looks_back_as_far_as_its_decay_says(model: _native.Model) -> None:
    row = row_of(model, {1: np.log(0.45), 2: np.log(0.3), 3: np.log(0.25)})

    def tokens(decay: float) -> list[int]:
        sampler = make_sampler(model, adaptive_target=0.35, adaptive_decay=decay)
        picked = []
        for _ in range(100):
            picked.append(sampler.sample(row)[0])
            sampler.accept(picked[-1])
        return picked

    assert tokens(0.1) != tokens(0.99)


# ---- biases ---------------------------------------------------------------------------------
def test_a_bias_is_added_once(model: _native.Model) -> None:
    row = row_of(model, {1: 0.0, 2: 0.0}, rest=-300)
    biased = row.copy()
    biased[1] += 1.0
    counts = draws(make_sampler(model, logit_bias=[(1, 1.0)]), row, 6000)
    assert_drawn_from(counts, dict(enumerate(softmax(biased))))


def test_a_bias_moves_the_greedy_choice(model: _native.Model) -> None:
    sampler = make_sampler(model, temperature=0.0, logit_bias=[(1, 5.0)])
    assert sampler.sample(row_of(model, {1: 0.0, 2: 3.0}))[0] == 1


def test_ignore_eos_takes_every_end_token_out(model: _native.Model) -> None:
    ends = model.info()["eog_tokens"]
    assert len(ends) > 1
    row = row_of(model, dict.fromkeys(ends, 20.0) | {5: 0.0})
    assert set(draws(make_sampler(model), row, 200)) == set(ends)
    for temperature in (0.0, 1.0):
        assert not set(draws(make_sampler(model, ignore_eos=True, temperature=temperature), row, 200)) & set(ends)


# ---- order ----------------------------------------------------------------------------------
def test_only_the_samplers_of_the_list_act(model: _native.Model) -> None:
    assert kept(model, {1: 1.0, 2: 1.1, 3: 1.2}, top_k=1, samplers=["temperature"]) == {1, 2, 3}


def test_the_order_of_the_list_is_the_order_of_the_chain(model: _native.Model) -> None:
    # Hot first, min_p sees a flat row and keeps all; cold after it, the flat row never comes to be.
    logits = {1: 4.0, 2: 0.0}
    settings = {"temperature": 10.0, "min_p": 0.3}
    assert kept(model, logits, samplers=["temperature", "min_p"], **settings) == {1, 2}
    assert kept(model, logits, samplers=["min_p", "temperature"], **settings) == {1}
