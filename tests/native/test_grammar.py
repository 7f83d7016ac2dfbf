"""Grammars: what is refused before llama.cpp sees it, and how they steer sampling."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from llamaint import _native
from tests.support.samplers import draws, make_sampler, row_of


@pytest.fixture(scope="module")
def model(tiny_llama: Path) -> _native.Model:
    return _native.Model.load(str(tiny_llama), _native.ModelParams())


def refused(model: _native.Model, gbnf: str) -> _native.NativeError:
    with pytest.raises(_native.NativeError) as caught:
        model.grammar_from_gbnf(gbnf)
    assert caught.value.code == "grammar"
    return caught.value


def refused_schema(model: _native.Model, schema: str) -> _native.NativeError:
    with pytest.raises(_native.NativeError) as caught:
        model.grammar_from_json_schema(schema)
    assert caught.value.code == "grammar"
    return caught.value


# ---- limits ---------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("gbnf", "part"),
    [
        ("", 'no rule "root"'),
        ('start ::= "a"', 'no rule "root"'),
        ("root ::= other", '"other" is used but not defined'),
        ('root ::= "a', "unexpected end of input"),
        ("root ::= [a", "unexpected end of input"),
        ('root ::= "\\q"', "unknown escape"),
        ("root := a", "expecting ::="),
        ('root ::= root "a" | "b"', "left-recursive"),
        ('root ::= a? root | "b"\na ::= "x"', "left-recursive"),
        ('root ::= a\na ::= b\nb ::= a "x" | "y"', "left-recursive"),
        ('root ::= "a"{5,3}', "{5,3}"),
        ('root ::= "a"{3000}', "repetitions"),
        ("root ::= *", "preceding item"),
        ("root ::= <|nonsense|>", "invalid token"),
        ("root \x00::= a", "zero byte"),
    ],
)
def test_a_malformed_grammar_is_refused_with_the_reason(model: _native.Model, gbnf: str, part: str) -> None:
    assert part in str(refused(model, gbnf))


@pytest.mark.parametrize(
    ("gbnf", "number"),
    [
        ("root ::= " + "(" * 129 + '"a"' + ")" * 129, 128),
        ("#" + "x" * 300_000, 262_144),
        ('root ::= "' + "ab" * 5000 + '"{2000}', 200_000),
        ('root ::= "' + "ab" * 5000 + '"{0,1000}', 200_000),
        ("root ::= a0\n" + "".join(f"a{i} ::= a{i + 1} | a{i + 1} [x]\n" for i in range(60)) + 'a60 ::= "z"', 50_000),
    ],
    ids=["depth", "bytes", "repeated literal", "optional literal", "ambiguity"],
)
def test_a_grammar_beyond_a_limit_is_refused_with_the_limit(model: _native.Model, gbnf: str, number: int) -> None:
    error = refused(model, gbnf)
    assert error.numbers["limit"] == number
    assert str(number) in str(error)


def test_a_grammar_within_the_limits_is_compiled(model: _native.Model) -> None:
    gbnf = "root ::= " + "(" * 128 + '"a"{1,2000}' + ")" * 128
    assert model.grammar_from_gbnf(gbnf).gbnf == gbnf


def test_a_chain_of_thousands_of_rules_does_not_overflow_the_stack(model: _native.Model) -> None:
    gbnf = "root ::= a0\n" + "".join(f"a{i} ::= a{i + 1}\n" for i in range(9000)) + 'a9000 ::= "z"'
    assert model.grammar_from_gbnf(gbnf)


@pytest.mark.parametrize(
    "schema", ["", "{", '{"type": "nonsense"}', '{"$ref": "#"}', '{"$ref": "https://example.org/x"}', "[1]"]
)
def test_a_malformed_schema_is_refused(model: _native.Model, schema: str) -> None:
    refused_schema(model, schema)


@pytest.mark.parametrize(
    ("schema", "number"), [("[" * 100_000, 128), ('{"items":' * 200 + "{}" + "}" * 200, 128), (" " * 300_000, 262_144)]
)
def test_a_schema_beyond_a_limit_is_refused_with_the_limit(model: _native.Model, schema: str, number: int) -> None:
    assert refused_schema(model, schema).numbers["limit"] == number


def test_brackets_in_strings_do_not_count_as_nesting(model: _native.Model) -> None:
    assert model.grammar_from_json_schema(json.dumps({"const": "[" * 500 + '\\"'}))


def test_a_recursive_schema_is_compiled(model: _native.Model) -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}
    assert model.grammar_from_json_schema(json.dumps({"$defs": {"node": node}, "$ref": "#/$defs/node"}))


def test_the_same_text_gives_the_same_grammar_and_others_push_it_out(model: _native.Model) -> None:
    first = model.grammar_from_gbnf('root ::= "first"')
    assert model.grammar_from_gbnf('root ::= "first"') is first
    for i in range(64):
        model.grammar_from_gbnf(f'root ::= "{i}"')
    assert model.grammar_from_gbnf('root ::= "first"') is not first


def test_a_vocabulary_without_tokens_has_no_grammars(tiny_llama: Path) -> None:
    overrides = {"tokenizer.ggml.model": "no_vocab"}
    model = _native.Model.load(str(tiny_llama), _native.ModelParams(vocab_only=True, kv_overrides=overrides))
    with pytest.raises(_native.NativeError, match="no vocabulary"):
        model.grammar_from_gbnf('root ::= "a"')
    with pytest.raises(_native.NativeError, match="no vocabulary"):
        model.tokenize("abc", False, False)


# ---- sampling -------------------------------------------------------------------------------
def written(model: _native.Model, grammar: _native.Grammar, row: object = None, **settings: object) -> str:
    """What a sampler writes from the same row until it ends."""
    sampler = make_sampler(model, grammar, **settings)
    logits = np.zeros(384, np.float32) if row is None else row
    text = b""
    for _ in range(100):
        token = sampler.sample(logits)[0]
        sampler.accept(token)
        if token in model.info()["eog_tokens"]:
            return text.decode()
        text += model.token_to_piece(token, False)
    raise AssertionError(f"no end: {text!r}")


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_only_what_the_grammar_allows_is_written(model: _native.Model, temperature: float) -> None:
    grammar = model.grammar_from_gbnf('root ::= "yes" | "no"')
    assert written(model, grammar, temperature=temperature) in ("yes", "no")


@pytest.mark.parametrize("seed", range(5))
def test_a_schema_gives_json_that_fits_it(model: _native.Model, seed: int) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    bias = [(ord("}"), 4.0)]
    text = written(model, model.grammar_from_json_schema(json.dumps(schema)), seed=seed, logit_bias=bias)
    assert isinstance(json.loads(text)["n"], int)


def test_the_end_is_allowed_only_where_the_grammar_ends(model: _native.Model) -> None:
    eog = model.info()["tokens"]["eos"]
    row = row_of(model, {eog: 30.0})
    assert written(model, model.grammar_from_gbnf('root ::= "ab"'), row) == "ab"


def test_when_the_likeliest_token_does_not_fit_the_likeliest_that_fits_is_taken(model: _native.Model) -> None:
    grammar = model.grammar_from_gbnf("root ::= [bc]")
    row = row_of(model, {ord("a"): 9.0, ord("b"): 1.0, ord("c"): 2.0})
    assert make_sampler(model, grammar, temperature=0.0).sample(row)[0] == ord("c")


def test_filters_act_on_what_the_grammar_left(model: _native.Model) -> None:
    grammar = model.grammar_from_gbnf("root ::= [abc]")
    logits = {ord("a"): 1.0, ord("b"): 2.0, ord("c"): 3.0} | {300 + i: 9.0 for i in range(10)}
    assert set(draws(make_sampler(model, grammar, top_k=2), row_of(model, logits), 500)) == {ord("b"), ord("c")}


def test_a_row_without_a_fitting_token_is_a_grammar_error(model: _native.Model) -> None:
    grammar = model.grammar_from_gbnf('root ::= "a"')
    row = row_of(model, {ord("b"): 0.0}, rest=-np.inf)
    with pytest.raises(_native.NativeError, match="no token satisfies the grammar") as caught:
        make_sampler(model, grammar).sample(row)
    assert caught.value.code == "grammar"


def test_accepting_an_end_token_early_does_not_abort(model: _native.Model) -> None:
    sampler = make_sampler(model, model.grammar_from_gbnf('root ::= "ab"'))
    sampler.accept(model.info()["tokens"]["eos"])
    assert sampler.sample(np.zeros(384, np.float32))[0] in (ord("a"), *model.tokenize("ab", False, False))


def test_accepting_a_token_that_does_not_fit_is_a_grammar_error(model: _native.Model) -> None:
    sampler = make_sampler(model, model.grammar_from_gbnf('root ::= "ab"'))
    with pytest.raises(_native.NativeError) as caught:
        sampler.accept(ord("x"))
    assert caught.value.code == "grammar"


def test_a_clone_has_its_own_place_in_the_grammar(model: _native.Model) -> None:
    row = np.zeros(384, np.float32)
    original = make_sampler(model, model.grammar_from_gbnf("root ::= [a] [b]"))
    original.accept(ord("a"))
    copy = original.clone()
    original.accept(ord("b"))
    assert copy.sample(row)[0] == ord("b")
    assert original.sample(row)[0] in model.info()["eog_tokens"]


def test_a_grammar_can_begin_after_what_the_prompt_already_holds(model: _native.Model) -> None:
    grammar = model.grammar_from_gbnf('root ::= "ab" [c]').after([ord("a"), ord("b")])
    assert written(model, grammar) == "c"
    with pytest.raises(_native.NativeError, match="cannot begin"):
        model.grammar_from_gbnf('root ::= "ab"').after([ord("x")])
