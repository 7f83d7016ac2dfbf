"""Which token a sampler picks: greedy, at random, by seed, from broken rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from llamaint import _native
from tests.support.samplers import assert_drawn_from, draws, make_sampler, row_of, softmax


@pytest.fixture(scope="module")
def model(tiny_llama: Path) -> _native.Model:
    return _native.Model.load(str(tiny_llama), _native.ModelParams())


def code_of(sampler: _native.Sampler, row: object) -> str:
    with pytest.raises(_native.NativeError) as caught:
        sampler.sample(row)  # type: ignore[arg-type]
    return caught.value.code


@pytest.mark.parametrize("settings", [{"temperature": 0.0}, {"temperature": -1.0}, {"top_k": 1}])
def test_greedy_takes_the_largest_logit(model: _native.Model, settings: dict[str, object]) -> None:
    row = row_of(model, {7: 2.0, 300: 2.5, 12: 2.4})
    assert set(draws(make_sampler(model, **settings), row, 50)) == {300}


def test_greedy_takes_the_first_of_equal_logits(model: _native.Model) -> None:
    assert set(draws(make_sampler(model, temperature=0.0), row_of(model, {9: 1.0, 4: 1.0, 8: 1.0}), 10)) == {4}


def test_greedy_through_the_whole_chain_agrees_with_the_short_cut(model: _native.Model) -> None:
    rng = np.random.default_rng(0)
    short_cut = make_sampler(model, temperature=0.0)
    chain = make_sampler(model, temperature=0.0, repeat_penalty=1.1)  # no history: the penalty finds nothing
    for _ in range(50):
        row = rng.normal(size=384).astype(np.float32)
        assert short_cut.sample(row)[0] == chain.sample(row)[0] == row.argmax()


def test_a_neutral_chain_draws_from_the_softmax(model: _native.Model) -> None:
    row = row_of(model, {1: 0.0, 2: 1.0, 3: 2.0, 4: -1.0})
    assert_drawn_from(draws(make_sampler(model), row, 6000), dict(enumerate(softmax(row))))


@pytest.mark.parametrize("temperature", [0.5, 2.0])
def test_temperature_divides_the_logits(model: _native.Model, temperature: float) -> None:
    row = row_of(model, {1: 0.0, 2: 1.0, 3: 2.0}, rest=-300)
    counts = draws(make_sampler(model, temperature=temperature), row, 6000)
    assert_drawn_from(counts, dict(enumerate(softmax(row / np.float32(temperature)))))


def test_a_row_is_left_as_it_was(model: _native.Model) -> None:
    row = row_of(model, {1: 0.0, 2: 1.0})
    before = row.copy()
    make_sampler(model, logit_bias=[(1, 5.0)], repeat_penalty=1.5).sample(row, 3)
    np.testing.assert_array_equal(row, before)


# ---- seeds ----------------------------------------------------------------------------------
def sequence(model: _native.Model, **settings: object) -> list[int]:
    row = np.zeros(384, np.float32)
    sampler = make_sampler(model, **settings)
    return [sampler.sample(row)[0] for _ in range(20)]


def test_the_same_seed_draws_the_same_tokens(model: _native.Model) -> None:
    assert sequence(model, seed=42) == sequence(model, seed=42)


def test_another_seed_draws_other_tokens(model: _native.Model) -> None:
    assert sequence(model, seed=42) != sequence(model, seed=43)


def test_zero_is_a_seed_like_any_other(model: _native.Model) -> None:
    assert sequence(model, seed=0) == sequence(model, seed=0) != sequence(model, seed=1)


def test_the_default_seed_is_drawn_afresh_and_can_be_read(model: _native.Model) -> None:
    first, second = (_native.Sampler(model, _native.SamplingParams()) for _ in range(2))
    assert first.seed != second.seed
    assert 2**32 - 1 not in (first.seed, second.seed)


# ---- copies ---------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"xtc_probability": 0.5, "xtc_threshold": 0.001},
        {"mirostat": 1},
        {"mirostat": 2},
        {"adaptive_target": 0.3},
        {"repeat_penalty": 1.5, "frequency_penalty": 0.3},
        {"dry_multiplier": 0.8},
    ],
    ids=str,
)
def test_a_clone_goes_on_as_its_original_would(model: _native.Model, settings: dict[str, object]) -> None:
    rows = np.random.default_rng(3).normal(size=(40, 384)).astype(np.float32)
    original = make_sampler(model, **settings)
    original.accept_prompt([1, 2, 3, 1, 2])
    for row in rows[:20]:
        original.accept(original.sample(row)[0])
    copy = original.clone()
    for row in rows[20:]:
        picked = [original.sample(row)[0], copy.sample(row)[0]]
        assert picked[0] == picked[1]
        original.accept(picked[0])
        copy.accept(picked[1])


def test_a_clone_between_sampling_and_accepting_is_complete(model: _native.Model) -> None:
    row = np.zeros(384, np.float32)
    original = make_sampler(model, adaptive_target=0.3)
    token = original.sample(row)[0]
    copy = original.clone()
    for sampler in (original, copy):
        sampler.accept(token)
    assert original.sample(row)[0] == copy.sample(row)[0]


# ---- rows that cannot be sampled from -----------------------------------------------------------
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_one_bad_logit_is_a_numeric_error(model: _native.Model, value: float, temperature: float) -> None:
    assert code_of(make_sampler(model, temperature=temperature), row_of(model, {5: value})) == "numeric"


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_row_of_minus_infinity_is_a_numeric_error(model: _native.Model, temperature: float) -> None:
    assert code_of(make_sampler(model, temperature=temperature), np.full(384, -np.inf, np.float32)) == "numeric"


def test_a_row_whose_only_token_is_biased_away_is_a_numeric_error(model: _native.Model) -> None:
    row = row_of(model, {5: 1.0}, rest=-np.inf)
    assert code_of(make_sampler(model, logit_bias=[(5, -np.inf)]), row) == "numeric"


def test_a_row_of_another_length_is_a_value_error(model: _native.Model) -> None:
    with pytest.raises(ValueError, match="384"):
        make_sampler(model).sample(np.zeros(383, np.float32))


@pytest.mark.parametrize(
    ("biases", "picked"),
    [
        ([], 7),
        ([(3, 1.0)], 7),
        ([(3, 2.5)], 3),
        ([(7, -2.5)], 9),
        ([(7, -np.inf), (9, -np.inf)], 3),
        ([(5, 2.0)], 7),
    ],
    ids=str,
)
def test_greedy_picks_what_is_largest_after_the_biases(
    model: _native.Model, biases: list[tuple[int, float]], picked: int
) -> None:
    row = row_of(model, {3: 2.0, 5: 1.0, 7: 4.0, 9: 3.0})
    assert make_sampler(model, logit_bias=biases, temperature=0.0).sample(row)[0] == picked
