"""Our parameters to native keyword arguments."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from pathlib import Path

import pytest

from llamaint.backend import convert
from llamaint.backend.requests import ChatOptions
from llamaint.types import ContextParams, EmbeddingParams, ModelParams, SamplingParams

CORE = Path(__file__).parents[3] / "native/core"


def native_fields(header: str, struct: str) -> set[str]:
    """Names of the data members of a C++ struct."""
    text = (CORE / header).read_text()
    body = re.search(rf"struct {struct} \{{(.*?)\n\}};", text, re.S).group(1)
    lines = [line.split("//")[0] for line in body.splitlines() if "constexpr" not in line]
    return set(re.findall(r"(\w+)\s*(?:=[^;]*|\{[^;]*\})?;", "\n".join(lines)))


def test_sampling_fills_every_native_field():
    filled = convert.sampling_fields(replace(SamplingParams(), samplers=["top_k"]))
    assert set(filled) == native_fields("sampler.h", "SamplingParams")


def test_model_fills_every_native_field():
    assert set(convert.model_fields(ModelParams())) == native_fields("model.h", "ModelParams")


def test_context_and_engine_fields_cover_ours_and_are_native():
    filled = set(convert.context_fields(ContextParams()))
    assert filled <= native_fields("context.h", "ContextParams")
    engine = set(convert.engine_fields(ContextParams()))
    assert filled | engine == {f.name for f in fields(ContextParams)} | {"adaptive_threads"}


def test_embedding_fields_cover_ours():
    filled = set(convert.embed_context_fields(EmbeddingParams())) | set(convert.embed_fields(EmbeddingParams()))
    assert filled == {f.name for f in fields(EmbeddingParams)}


def test_chat_options_are_native():
    assert set(convert.chat_fields(ChatOptions())) <= native_fields("chat.h", "ChatOptions")


@pytest.mark.parametrize(("ours", "native"), [("auto", -1), ("all", -2), (0, 0), (12, 12)])
def test_gpu_layers_by_name(ours, native):
    assert convert.model_fields(ModelParams(n_gpu_layers=ours))["n_gpu_layers"] == native


@pytest.mark.parametrize(("ours", "native"), [(None, 2**32 - 1), (0, 0), (7, 7)])
def test_seed_none_draws_and_zero_is_a_seed(ours, native):
    assert convert.sampling_fields(SamplingParams(seed=ours))["seed"] == native


def test_automatic_threads_adapt_and_chosen_ones_do_not():
    auto, two = ContextParams(), ContextParams(n_threads=2, n_threads_batch=3)
    assert convert.context_fields(auto)["n_threads"] == 0
    assert convert.engine_fields(auto)["adaptive_threads"] is True
    assert (convert.context_fields(two)["n_threads"], convert.context_fields(two)["n_threads_batch"]) == (2, 3)
    assert convert.engine_fields(two)["adaptive_threads"] is False


@pytest.mark.parametrize(("ours", "native"), [(None, -1), (0, 0), (3, 3)])
def test_cache_slots_none_leaves_the_choice_to_the_engine(ours, native):
    assert convert.engine_fields(ContextParams(n_cache_slots=ours))["n_cache_slots"] == native
