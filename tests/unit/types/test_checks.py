"""Every setting has a rule, and what breaks it is named with its value."""

from __future__ import annotations

import math
import re
from dataclasses import fields, replace

import numpy as np
import pytest

from llamaint.errors import ConfigError, RequestError
from llamaint.types import ContextParams, EmbeddingParams, ModelParams, SamplingParams
from llamaint.types import checks as c

TABLES = [
    (ModelParams, c.MODEL_RULES, c.check_model),
    (ContextParams, c.CONTEXT_RULES, c.check_context),
    (EmbeddingParams, c.EMBEDDING_RULES, c.check_embedding),
    (SamplingParams, c.SAMPLING_RULES, c.check_sampling),
]


@pytest.mark.parametrize(("cls", "rules", "check"), TABLES, ids=lambda x: getattr(x, "__name__", ""))
def test_every_field_has_exactly_one_rule_and_a_default_that_passes(cls, rules, check):
    assert set(rules) == {field.name for field in fields(cls)}
    check(cls())


BAD_SAMPLING = [
    ("seed", -1),
    ("seed", 2**32 - 1),
    ("seed", 1.5),
    ("seed", True),
    ("temperature", -0.1),
    ("temperature", math.nan),
    ("temperature", math.inf),
    ("temperature", "hot"),
    ("temperature", None),
    ("top_p", 1.1),
    ("min_p", -0.1),
    ("typical_p", 2),
    ("top_k", 2.5),
    ("xtc_probability", 1.01),
    ("penalty_last_n", -2),
    ("dry_penalty_last_n", -2),
    ("repeat_penalty", 0),
    ("dry_base", 0.5),
    ("dry_sequence_breakers", "ab"),
    ("dry_sequence_breakers", [""]),
    ("mirostat_mode", 3),
    ("adaptive_target", 1.5),
    ("ignore_eos", 1),
    ("logit_bias", {-1: 1.0}),
    ("logit_bias", {1: math.nan}),
    ("logit_bias", [1]),
    ("samplers", ["top_q"]),
    ("grammar", ""),
    ("json_schema", 5),
]


@pytest.mark.parametrize(("name", "value"), BAD_SAMPLING)
def test_sampling_value_that_cannot_work_is_refused_by_name(name, value):
    with pytest.raises(RequestError, match=re.escape(name)) as caught:
        c.check_sampling(replace(SamplingParams(), **{name: value}))
    assert repr(value) in str(caught.value)


GOOD_SAMPLING = [
    ("seed", 0),
    ("seed", np.int64(7)),
    ("temperature", np.float32(0.5)),
    ("temperature", 0),
    ("top_k", -1),
    ("penalty_last_n", -1),
    ("logit_bias", {5: -math.inf}),
    ("samplers", []),
    ("dry_sequence_breakers", []),
    ("json_schema", {}),
]


@pytest.mark.parametrize(("name", "value"), GOOD_SAMPLING)
def test_sampling_value_at_the_edge_passes(name, value):
    c.check_sampling(replace(SamplingParams(), **{name: value}))


def test_grammar_and_schema_together_are_refused():
    with pytest.raises(RequestError, match="exclude each other"):
        c.check_sampling(SamplingParams(grammar="root ::= 'a'", json_schema={}))


BAD_MODEL = [
    ("n_gpu_layers", "some"),
    ("n_gpu_layers", -1),
    ("split_mode", "columns"),
    ("load_mode", "ram"),
    ("tensor_split", [1.0, -1.0]),
    ("tensor_split", "1,1"),
    ("devices", "CUDA0"),
    ("n_cpu_moe", -1),
    ("kv_overrides", {"a": None}),
    ("kv_overrides", {"a": "x" * 128}),
    ("kv_overrides", {"k" * 128: 1}),
    ("tensor_buft_overrides", {"a": 1}),
    ("vocab_only", "yes"),
]


@pytest.mark.parametrize(("name", "value"), BAD_MODEL)
def test_model_setting_that_cannot_work_is_a_config_error(name, value):
    with pytest.raises(ConfigError, match=name):
        c.check_model(replace(ModelParams(), **{name: value}))


BAD_CONTEXT = [
    ("n_ctx", -1),
    ("n_batch", 0),
    ("n_parallel", 0),
    ("n_parallel", 257),
    ("n_threads", "all"),
    ("n_threads", 0),
    ("n_threads_batch", 0),
    ("flash_attn", True),
    ("type_k", "q9_9"),
    ("rope_freq_base", math.nan),
    ("n_cache_slots", -1),
    ("max_queue", 0),
]


@pytest.mark.parametrize(("name", "value"), BAD_CONTEXT)
def test_context_setting_that_cannot_work_is_a_config_error(name, value):
    with pytest.raises(ConfigError, match=name):
        c.check_context(replace(ContextParams(), **{name: value}))


def test_quantised_values_without_flash_attention_are_refused():
    with pytest.raises(ConfigError, match="type_v='q8_0' needs flash attention"):
        c.check_context(ContextParams(type_v="q8_0", flash_attn="off"))


def test_more_sequences_than_llama_cpp_holds_are_refused_with_numbers():
    with pytest.raises(ConfigError) as caught:
        c.check_context(ContextParams(n_parallel=200, n_cache_slots=100))
    assert caught.value.numbers == {"n_sequences": 300, "max_sequences": 256}
