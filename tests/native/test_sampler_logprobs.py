"""Log-probabilities: of the raw row and of what the chain left."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from llamaint import _native
from tests.support.samplers import make_sampler, row_of, softmax


@pytest.fixture(scope="module")
def model(tiny_llama: Path) -> _native.Model:
    return _native.Model.load(str(tiny_llama), _native.ModelParams())


def test_without_asking_there_are_none(model: _native.Model) -> None:
    assert make_sampler(model).sample(row_of(model, {1: 1.0}))[1:] == (0.0, 0.0, [])


def test_zero_gives_those_of_the_picked_token_alone(model: _native.Model) -> None:
    row = np.random.default_rng(0).normal(size=384).astype(np.float32)
    token, raw, _, top = make_sampler(model).sample(row, 0)
    assert raw == pytest.approx(np.log(softmax(row)[token]), abs=1e-6)
    assert top == []


@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e4])
def test_the_top_is_the_log_softmax_most_likely_first(model: _native.Model, scale: float) -> None:
    row = (np.random.default_rng(1).normal(size=384) * scale).astype(np.float32)
    top = make_sampler(model, temperature=0.0).sample(row, 5)[3]
    order = np.argsort(-row, kind="stable")[:5]
    assert [token for token, _ in top] == list(order)
    exact = row.astype(np.float64) - row.max()
    exact -= np.log(np.exp(exact).sum())
    np.testing.assert_allclose([logprob for _, logprob in top], exact[order], rtol=1e-6, atol=1e-6)


def test_more_than_the_vocabulary_gives_the_vocabulary(model: _native.Model) -> None:
    row = np.random.default_rng(2).normal(size=384).astype(np.float32)
    top = make_sampler(model).sample(row, 10_000)[3]
    assert sorted(token for token, _ in top) == list(range(384))
    assert np.exp([logprob for _, logprob in top]).sum() == pytest.approx(1, abs=1e-5)


def test_the_sampled_one_counts_what_the_chain_left(model: _native.Model) -> None:
    row = row_of(model, {1: 0.0, 2: 1.0, 3: 2.0}, rest=-300)
    token, raw, sampled, _ = make_sampler(model, top_k=2, temperature=0.5).sample(row, 0)
    left = softmax(np.array([2.0, 4.0], np.float32))
    assert sampled == pytest.approx(np.log(left[token - 2]), abs=1e-5)
    assert raw == pytest.approx(np.log(softmax(row)[token]), abs=1e-5)


def test_a_greedy_choice_is_certain_and_its_raw_one_is_not(model: _native.Model) -> None:
    row = row_of(model, {1: 0.0, 2: 1.0})
    _, raw, sampled, _ = make_sampler(model, temperature=0.0).sample(row, 0)
    assert sampled == 0.0
    assert raw < -0.1


def test_biases_and_grammars_do_not_touch_the_raw_ones(model: _native.Model) -> None:
    row = row_of(model, {ord("a"): 0.0, ord("b"): 5.0})
    grammar = model.grammar_from_gbnf('root ::= "a"')
    token, raw, sampled, top = make_sampler(model, grammar, logit_bias=[(ord("b"), -3.0)]).sample(row, 1)
    assert token == ord("a")
    assert raw == pytest.approx(np.log(softmax(row)[ord("a")]), abs=1e-5)
    assert sampled == pytest.approx(0.0, abs=1e-5)
    assert top[0][0] == ord("b")
