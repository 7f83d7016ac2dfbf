"""Contexts: sizes and names that llama.cpp would abort on are refused, zeros are filled in."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from llamaint import _native
from tests.support import tiny_models


@pytest.fixture(scope="module")
def model(tiny_llama: Path) -> _native.Model:
    return _native.Model.load(str(tiny_llama), _native.ModelParams())


def engine(model: _native.Model, n_parallel: int = 1, **context: object) -> _native.Engine:
    params = _native.ContextParams(**{"n_ctx": 256, "n_threads": 1, **context})
    return _native.Engine(model, _native.EngineParams(context=params, n_parallel=n_parallel))


def info(model: _native.Model, **context: object) -> dict[str, object]:
    opened = engine(model, **context)
    try:
        return opened.info()
    finally:
        opened.close()


def answer(model: _native.Model, **context: object) -> list[int]:
    """Greedy tokens of a fixed prompt."""
    opened = engine(model, **context)
    request = _native.GenerationRequest(
        prompt=list(range(1, 40)), max_tokens=8, sampling=_native.SamplingParams(temperature=0.0)
    )
    handle = opened.submit(request)
    tokens: list[int] = []
    while not handle.done:
        tokens += [token for chunk in handle.wait(1.0) for token in chunk.tokens]
    opened.close()
    return tokens


# ---- refused --------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("fields", "part"),
    [
        ({"n_ctx": 2**32 - 1}, "n_ctx"),
        ({"n_batch": 2**31}, "n_batch"),
        ({"n_threads": -1}, "n_threads"),
        ({"n_threads": 513}, "n_threads"),
        ({"n_threads_batch": 513}, "n_threads_batch"),
        ({"flash_attn": "perhaps"}, "flash_attn"),
        ({"type_k": "q7_3"}, "type_k"),
        ({"type_v": "int8"}, "type_v"),
        ({"type_v": "q8_0", "flash_attn": "off"}, "flash attention"),
        ({"rope_scaling": "cubic"}, "rope_scaling"),
        ({"attention": "sideways"}, "attention"),
        ({"rope_freq_base": float("nan")}, "rope_freq_base"),
        ({"rope_freq_base": -1.0}, "rope_freq_base"),
        ({"rope_freq_scale": float("inf")}, "rope_freq_scale"),
        ({"yarn_ext_factor": float("nan")}, "yarn_ext_factor"),
    ],
    ids=str,
)
def test_a_setting_that_cannot_work_is_a_config_error(
    model: _native.Model, fields: dict[str, object], part: str
) -> None:
    with pytest.raises(_native.NativeError) as caught:
        engine(model, **fields)
    assert caught.value.code == "config"
    assert part in str(caught.value)


@pytest.mark.parametrize("n_batch", [0, 1, 4])
def test_a_batch_always_has_room_for_every_sequence(model: _native.Model, n_batch: int) -> None:
    opened = engine(model, n_parallel=8, n_batch=n_batch, n_ubatch=0)
    facts = opened.info()
    opened.close()
    assert facts["n_batch"] >= facts["n_slots"] >= 8


# ---- resolved -------------------------------------------------------------------------------
def test_n_ctx_zero_is_the_trained_window(model: _native.Model) -> None:
    trained = model.info()["n_ctx_train"]
    assert info(model, n_ctx=0)["n_ctx"] == -(-trained // 256) * 256


def test_n_ctx_is_rounded_up_to_256(model: _native.Model) -> None:
    assert info(model, n_ctx=257)["n_ctx"] == 512


def test_n_ubatch_is_at_most_n_batch(model: _native.Model) -> None:
    facts = info(model, n_batch=64, n_ubatch=512)
    assert (facts["n_batch"], facts["n_ubatch"]) == (64, 64)


def test_usable_cores_are_at_least_one_and_memory_is_known() -> None:
    assert _native.usable_cores() >= 1
    assert _native.available_memory() > 2**20


def test_threads_beyond_the_processors_are_taken_back(model: _native.Model) -> None:
    facts = info(model, n_threads=512, n_threads_batch=511)
    assert facts["n_threads"] == os.cpu_count()


def test_each_setting_that_was_taken_back_is_named_once(model: _native.Model) -> None:
    _native.drain_log(0.0)
    info(model, n_threads=512)
    warnings = [line for level, line in _native.drain_log(0.0) if level == 30 and "processors" in line]
    assert len(warnings) == 1
    assert warnings[0].startswith(f"n_threads=512, but the machine has {os.cpu_count()} processors")


def test_a_cache_that_memory_cannot_hold_is_refused_before_it_is_made(model: _native.Model) -> None:
    with pytest.raises(_native.NativeError) as caught:
        engine(model, n_ctx=2**31 - 512)
    assert caught.value.code == "capacity"
    assert caught.value.numbers["bytes"] > caught.value.numbers["available_bytes"] > 0


def test_positions_end_with_the_models_table(model: _native.Model) -> None:
    known = _native.Model.load(str(tiny_models.gpt2(n_ctx=300)), _native.ModelParams())
    opened = engine(known, n_parallel=2, n_ctx=1024)
    assert (opened.info()["n_ctx"], opened.info()["n_ctx_seq"]) == (1024, 300)
    greedy = _native.SamplingParams(temperature=0.0, ignore_eos=True)
    handle = opened.submit(_native.GenerationRequest(prompt=[65] * 298, max_tokens=50, sampling=greedy))
    tokens = []
    while not handle.done:
        tokens += [token for chunk in handle.wait(5.0) for token in chunk.tokens]
    with pytest.raises(_native.NativeError) as caught:
        opened.submit(_native.GenerationRequest(prompt=[65] * 301, max_tokens=1))
    opened.close()
    assert len(tokens) == 3
    assert caught.value.code == "prompt_too_long"


# ---- acting ---------------------------------------------------------------------------------
@pytest.mark.parametrize("cache", ["f32", "f16", "bf16", "q8_0", "q4_0", "q4_1", "iq4_nl", "q5_0", "q5_1"])
def test_every_cache_type_generates(model: _native.Model, cache: str) -> None:
    assert len(answer(model, type_k=cache, type_v=cache, flash_attn="on")) == 8


def test_rope_settings_change_the_answer(model: _native.Model) -> None:
    assert answer(model, rope_freq_base=10.0) != answer(model)


@pytest.mark.parametrize("name", sorted(tiny_models.text_models()))
def test_the_kind_of_memory_follows_the_architecture(name: str) -> None:
    model = _native.Model.load(str(tiny_models.text_models()[name]), _native.ModelParams())
    recurrent = model.info()["is_recurrent"] or model.info()["is_hybrid"]
    assert info(model)["memory_kind"] == ("full_only" if recurrent else "partial")
