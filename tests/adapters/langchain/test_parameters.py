"""Every setting acts or raises."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from pydantic import ValidationError

from llamaint.testing import FakeLlama
from llamaint_langchain import ChatLlamaint, LlamaintConfigError, LlamaintUnsupportedError

SAMPLING: dict[str, Any] = {
    "temperature": 0.1,
    "top_p": 0.2,
    "top_k": 3,
    "min_p": 0.4,
    "seed": 0,
    "presence_penalty": 0.5,
    "frequency_penalty": 0.6,
    "repeat_penalty": 1.1,
    "logit_bias": {7: -1.0},
}


@pytest.mark.parametrize("name", SAMPLING)
def test_field_reaches_the_engine(name: str) -> None:
    llm = FakeLlama("x")
    ChatLlamaint(llm=llm, **{name: SAMPLING[name]}).invoke("x")
    assert getattr(llm.requests[0].sampling, name) == SAMPLING[name]


@pytest.mark.parametrize("name", [*SAMPLING, "dry_multiplier"])
def test_keyword_of_the_call_reaches_the_engine_and_is_forgotten(name: str) -> None:
    value = SAMPLING.get(name, 0.7)
    llm = FakeLlama("x")
    chat = ChatLlamaint(llm=llm)
    chat.invoke("x", **{name: value})
    chat.invoke("x")
    assert getattr(llm.requests[0].sampling, name) == value
    assert getattr(llm.requests[1].sampling, name) != value


def test_none_in_a_call_takes_a_field_back_to_the_default() -> None:
    llm = FakeLlama("x")
    ChatLlamaint(llm=llm, temperature=0.0, max_tokens=3).invoke("x", temperature=None, max_tokens=None)
    assert llm.requests[0].sampling.temperature == 0.8
    assert llm.requests[0].max_tokens is None


def test_any_sampling_parameter_can_stand_in_sampling_kwargs() -> None:
    llm = FakeLlama("x")
    ChatLlamaint(llm=llm, sampling_kwargs={"mirostat_mode": 2}).invoke("x")
    assert llm.requests[0].sampling.mirostat_mode == 2


def test_timeout_and_max_tokens_reach_the_engine() -> None:
    llm = FakeLlama("x")
    ChatLlamaint(llm=llm, timeout=9.0, max_tokens=5).invoke("x")
    assert (llm.requests[0].deadline_s, llm.requests[0].max_tokens) == (9.0, 5)


def test_grammar_reaches_the_engine() -> None:
    llm = FakeLlama("x")
    ChatLlamaint(llm=llm, grammar='root ::= "x"').invoke("x")
    assert llm.requests[0].grammar is not None


def test_text_keys_of_logit_bias_become_token_ids() -> None:
    llm = FakeLlama("x")
    ChatLlamaint(llm=llm).invoke("x", logit_bias={"7": -1.0})
    assert llm.requests[0].sampling.logit_bias == {7: -1.0}


@pytest.mark.parametrize(
    "fields",
    [
        {"tempature": 0.1},
        {"engine_kwargs": {"n_ctxx": 1}},
        {"engine_kwargs": {"n_ctx": 1}, "n_ctx": 2},
        {"sampling_kwargs": {"topk": 1}},
        {"sampling_kwargs": {"top_k": 1}},
        {"top_logprobs": 2},
        {"n": 0},
        {"timeout": 0},
        {"max_retries": -1},
    ],
    ids=str,
)
def test_setting_that_cannot_work_is_refused_when_built(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ChatLlamaint(model="m", **fields)


def test_no_model_at_all_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LLAMAINT_MODEL", raising=False)
    with pytest.raises(ValidationError, match="LLAMAINT_MODEL"):
        ChatLlamaint()


def test_engine_setting_beside_a_loaded_engine_is_refused() -> None:
    with pytest.raises(ValidationError, match=r"\['n_ctx'\] cannot change it"):
        ChatLlamaint(llm=FakeLlama("x"), n_ctx=512)


def test_unknown_keyword_of_a_call_is_refused_by_name() -> None:
    chat = ChatLlamaint(llm=FakeLlama("x"))
    with pytest.raises(TypeError, match="'tempature'"):
        chat.invoke("x", tempature=0.1)
    with pytest.raises(TypeError, match="'tempature'"):
        list(chat.stream("x", tempature=0.1))


def test_top_logprobs_of_a_call_needs_logprobs() -> None:
    with pytest.raises(LlamaintConfigError, match="logprobs"):
        ChatLlamaint(llm=FakeLlama("x")).invoke("x", top_logprobs=2)


@pytest.mark.parametrize("name", ["tools", "tool_choice", "response_format"])
def test_what_a_later_version_brings_is_refused_in_a_call(name: str) -> None:
    with pytest.raises(LlamaintUnsupportedError, match=name):
        ChatLlamaint(llm=FakeLlama("x")).invoke("x", **{name: ["something"]})


def test_empty_list_of_tools_is_no_tools() -> None:
    assert ChatLlamaint(llm=FakeLlama("x")).invoke("x", tools=[]).content == "x"


def test_binding_tools_and_schemas_is_refused() -> None:
    chat = ChatLlamaint(llm=FakeLlama("x"))
    with pytest.raises(NotImplementedError, match="tool"):
        chat.bind_tools([])
    with pytest.raises(NotImplementedError, match="structured output"):
        chat.with_structured_output({"title": "x", "type": "object"})
    with pytest.raises(NotImplementedError, match="tool"):
        chat.get_num_tokens_from_messages([HumanMessage("x")], tools=[{"name": "x"}])


def test_api_key_is_dropped_with_a_line_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "llamaint_langchain"):
        chat = ChatLlamaint(model="m", api_key="secret")
    assert chat.api_key is None
    assert "api_key is not used" in caplog.text
    assert "secret" not in caplog.text


def test_path_object_never_becomes_an_alias(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert ChatLlamaint(model=Path("smollm2-135m")).model == str(tmp_path / "smollm2-135m")


def test_single_stop_string_is_a_list_of_one() -> None:
    assert ChatLlamaint(model="m", stop="END").stop == ["END"]
