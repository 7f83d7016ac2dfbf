"""Keywords: complete, typed, and never swallowed."""

from __future__ import annotations

import inspect
from dataclasses import fields

import pytest

from llamaint import ContextParams, Llama, LlamaEmbedding, ModelParams, RequestError, SamplingParams, UnsupportedError
from llamaint.api import options as o
from llamaint.api.settings import EmbeddingSettings, LoadSettings
from llamaint.testing import FakeLlama


def test_sampling_overrides_are_the_fields_of_sampling_params():
    assert o.names_of(o.SamplingOverrides) == {field.name for field in fields(SamplingParams)}


def test_load_settings_are_the_keywords_of_llama():
    keywords = {p.name for p in inspect.signature(Llama).parameters.values() if p.kind is p.KEYWORD_ONLY}
    assert o.names_of(LoadSettings) == keywords


def test_embedding_settings_are_the_keywords_of_llama_embedding():
    parameters = inspect.signature(LlamaEmbedding).parameters.values()
    assert o.names_of(EmbeddingSettings) == {p.name for p in parameters if p.kind is p.KEYWORD_ONLY}


def test_keywords_of_llama_are_the_fields_of_its_parameter_classes_with_their_defaults():
    parameters = inspect.signature(Llama).parameters
    for params in (ModelParams(), ContextParams()):
        for field in fields(params):
            assert parameters[field.name].default == getattr(params, field.name), field.name


def test_call_has_a_field_for_every_option():
    names = o.names_of(o.CompleteOptions) | o.names_of(o.ChatCallOptions)
    assert {field.name for field in fields(o.Call)} == names - o.names_of(o.SamplingOverrides)


def test_keyword_overrides_the_field_of_sampling():
    call = o.parse_call("f", {"sampling": SamplingParams(top_k=7, temperature=1.0), "top_k": 3}, o.CompleteOptions)
    assert (call.sampling.top_k, call.sampling.temperature) == (3, 1.0)


@pytest.mark.parametrize("method", ["complete", "complete_stream", "chat", "chat_stream", "achat_stream"])
def test_unknown_keyword_raises_type_error_and_suggests(method):
    prompt = "x" if "complete" in method else [{"role": "user", "content": "x"}]
    with FakeLlama() as llm, pytest.raises(TypeError, match=rf"{method}\(\) got .*'temprature'.*mean 'temperature'"):
        getattr(llm, method)(prompt, temprature=1)


@pytest.mark.parametrize("name", ["echo", "suffix"])
def test_completion_only_keyword_is_unknown_to_chat(name):
    with FakeLlama() as llm, pytest.raises(TypeError, match=name):
        llm.chat([{"role": "user", "content": "x"}], **{name: True})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_tokens", -1),
        ("max_tokens", 1.0),
        ("max_tokens", True),
        ("n", 0),
        ("n", 129),
        ("logprobs", -1),
        ("logprobs", True),
        ("timeout", 0),
        ("timeout", float("nan")),
        ("timeout", "1"),
        ("cache_prompt", 1),
        ("echo", "yes"),
        ("suffix", 5),
        ("logits_processors", [1]),
        ("logits_processors", "x"),
        ("sampling", {"top_k": 1}),
        ("stop", [""]),
        ("temperature", -1),
    ],
)
def test_value_that_cannot_work_is_refused_before_anything_is_submitted(name, value):
    with FakeLlama() as llm:
        with pytest.raises(RequestError, match=name):
            llm.complete("x", **{name: value})
        assert llm.requests == []


def test_echo_with_logprobs_is_unsupported():
    with FakeLlama() as llm, pytest.raises(UnsupportedError, match="echo with logprobs"):
        llm.complete("x", echo=True, logprobs=1)


def test_unknown_load_setting_raises_type_error():
    with pytest.raises(TypeError, match=r"'n_contx'; did you mean 'n_ctx'"):
        FakeLlama("x", n_contx=5)
