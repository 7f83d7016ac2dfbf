"""Settings act, through the whole way down: grammars, biases, processors."""

from __future__ import annotations

import json

import numpy as np
import pytest

from llamaint import GrammarError, LlamaGrammar, RequestError

GREEDY = {"temperature": 0.0}
SCHEMA = {
    "type": "object",
    "properties": {"name": {"enum": ["ada", "bob"]}, "age": {"type": "integer", "minimum": 0, "maximum": 99}},
    "required": ["name", "age"],
    "additionalProperties": False,
}


@pytest.mark.parametrize("seed", range(5))
def test_grammar_constrains_every_answer(tiny, seed):
    text = tiny.complete("abc", grammar='root ::= ("yes" | "no") "!"', seed=seed, temperature=2.0).text
    assert text in ("yes!", "no!")


@pytest.mark.parametrize("seed", range(5))
def test_schema_constrains_every_answer(tiny, seed):
    for schema in (SCHEMA, json.dumps(SCHEMA)):
        value = json.loads(tiny.complete("abc", json_schema=schema, seed=seed, temperature=2.0, max_tokens=200).text)
        assert value["name"] in ("ada", "bob")
        assert 0 <= value["age"] <= 99


def test_llama_grammar_through_create_completion(tiny):
    data = tiny.create_completion("abc", grammar=LlamaGrammar.from_json_schema(SCHEMA), max_tokens=None, seed=1)
    assert json.loads(data["choices"][0]["text"])["name"] in ("ada", "bob")


@pytest.mark.parametrize("grammar", ["root ::= (", "start ::= 'a'", "root ::= root 'a'", "root ::= " + "(" * 5000])
def test_malformed_grammar_is_refused_and_harms_nobody(cycle, grammar):
    with pytest.raises(GrammarError):
        cycle.complete("abc", grammar=grammar)
    assert cycle.complete("abc", max_tokens=3, **GREEDY).text == "def"


@pytest.mark.parametrize("schema", ['{"type": "no-such-type"}', "[1", {"$ref": "#/nowhere"}, {"type": ["object", 5]}])
def test_malformed_schema_is_refused(cycle, schema):
    with pytest.raises(GrammarError):
        cycle.complete("abc", json_schema=schema)


def test_logit_bias_bans_and_forces(cycle):
    assert cycle.complete("abc", max_tokens=1, logit_bias={ord("d"): float("-inf")}, **GREEDY).text != "d"
    assert cycle.complete("abc", max_tokens=3, logit_bias={ord("z"): 1000.0}, **GREEDY).text == "zzz"


def test_logits_processor_sees_all_tokens_and_its_edit_decides(cycle):
    seen = []

    def force_x(tokens, row):
        assert row.dtype == np.float32
        assert row.shape == (384,)
        seen.append(tokens.tolist())
        row[:] = -np.inf
        row[ord("x")] = 0

    assert cycle.complete("abc", max_tokens=3, logits_processors=[force_x], **GREEDY).text == "xxx"
    assert seen == [[*b"abc"], [*b"abcx"], [*b"abcxx"]]


def test_exception_in_a_logits_processor_ends_only_its_request(cycle):
    def broken(tokens, row):
        raise KeyError("oops")

    with pytest.raises(RequestError, match="oops"):
        cycle.complete("abc", logits_processors=[broken])
    assert cycle.complete("abc", max_tokens=3, **GREEDY).text == "def"


def test_ignore_eos_goes_on_to_the_limit(tiny):
    result = tiny.complete("abc", max_tokens=300, ignore_eos=True, seed=3, temperature=2.0)
    assert (result.finish_reason, result.usage.completion_tokens) == ("length", 300)
    assert not set(result.choices[0].tokens) & set(tiny.info["eog_tokens"])


@pytest.mark.parametrize(
    "options",
    [
        {"top_k": 1},
        {"top_p": 0.01},
        {"min_p": 1.0},
        {"typical_p": 0.01},
        {"top_n_sigma": 0.01},
        {"dynatemp_range": 1.9},
        {"xtc_probability": 1.0, "xtc_threshold": 0.001},
        {"repeat_penalty": 3.0},
        {"frequency_penalty": 5.0},
        {"presence_penalty": 5.0},
        {"dry_multiplier": 10.0, "dry_allowed_length": 1},
        {"mirostat_mode": 1},
        {"mirostat_mode": 2},
        {"adaptive_target": 0.01},
        {"samplers": ["temperature"]},
        {"seed": 12},
    ],
    ids=str,
)
def test_sampling_setting_changes_the_answer(tiny, options):
    plain = {
        "seed": 11,
        "temperature": 2.0,
        "max_tokens": 64,
        "ignore_eos": True,
        "top_k": 0,
        "top_p": 1.0,
        "min_p": 0.0,
        "penalty_last_n": -1,
    }
    prompt = "abcabcabcabc"
    base = tiny.complete(prompt, **plain).choices[0].tokens
    assert base == tiny.complete(prompt, **plain).choices[0].tokens
    if "samplers" in options:
        plain["top_k"] = 5  # has no effect once the chain leaves it out
        base = tiny.complete(prompt, **plain).choices[0].tokens
    assert tiny.complete(prompt, **{**plain, **options}).choices[0].tokens != base


def test_value_the_native_side_refuses_is_a_request_error(cycle):
    with pytest.raises(RequestError):
        cycle.complete("abc", logit_bias={999_999: 1.0})
