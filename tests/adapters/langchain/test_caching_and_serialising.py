"""The LLM cache never mixes up models or settings; what is written can be read back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.caches import InMemoryCache
from langchain_core.load import dumpd, dumps
from langchain_core.prompts import ChatPromptTemplate

from llamaint.testing import FakeLlama
from llamaint_langchain import ChatLlamaint, Llamaint, load, loads

# LangChain's own ``load``, below ours, says that it is in beta.
pytestmark = pytest.mark.filterwarnings("ignore::langchain_core._api.beta_decorator.LangChainBetaWarning")


@pytest.mark.parametrize("adapter", [ChatLlamaint, Llamaint])
def test_equal_question_is_answered_from_the_cache(adapter: type[Any]) -> None:
    llm = FakeLlama("x")
    model = adapter(llm=llm, cache=InMemoryCache())
    first, second = model.invoke("x"), model.invoke("x")
    assert len(llm.requests) == 1
    assert str(getattr(first, "content", first)) == str(getattr(second, "content", second))


@pytest.mark.parametrize("adapter", [ChatLlamaint, Llamaint])
@pytest.mark.parametrize(
    "change",
    [
        {"temperature": 0.5},
        {"stop": ["x"]},
        {"seed": 1},
        {"max_tokens": 3},
        {"sampling_kwargs": {"top_n_sigma": 1.0}},
    ],
    ids=str,
)
def test_field_that_changes_the_answer_changes_the_key(adapter: type[Any], change: dict[str, Any]) -> None:
    llm = FakeLlama("x")
    cache = InMemoryCache()
    adapter(llm=llm, cache=cache).invoke("x")
    adapter(llm=llm, cache=cache, **change).invoke("x")
    assert len(llm.requests) == 2


@pytest.mark.parametrize("adapter", [ChatLlamaint, Llamaint])
def test_field_changed_after_the_first_call_changes_the_key(adapter: type[Any]) -> None:
    llm = FakeLlama("x")
    model = adapter(llm=llm, cache=InMemoryCache())
    model.invoke("x")
    model.temperature = 0.5
    model.invoke("x")
    assert len(llm.requests) == 2


@pytest.mark.parametrize("adapter", [ChatLlamaint, Llamaint])
def test_keyword_of_the_call_changes_the_key(adapter: type[Any]) -> None:
    llm = FakeLlama("x")
    model = adapter(llm=llm, cache=InMemoryCache())
    model.invoke("x")
    model.invoke("x", temperature=0.5)
    model.invoke("x", stop=["q"])
    assert len(llm.requests) == 3


@pytest.mark.parametrize("adapter", [ChatLlamaint, Llamaint])
def test_engines_of_the_user_do_not_share_answers(adapter: type[Any]) -> None:
    cache = InMemoryCache()
    answers = [adapter(llm=FakeLlama(text), cache=cache).invoke("x") for text in ("one", "two")]
    assert [str(getattr(answer, "content", answer)) for answer in answers] == ["one", "two"]


def test_models_and_engine_settings_do_not_share_answers() -> None:
    keys = {
        ChatLlamaint(model="a")._get_llm_string(),
        ChatLlamaint(model="b")._get_llm_string(),
        ChatLlamaint(model="a", chat_template="{{ x }}")._get_llm_string(),
        ChatLlamaint(model="a", engine_kwargs={"rope_freq_base": 2.0})._get_llm_string(),
        ChatLlamaint(model="a", reasoning=False)._get_llm_string(),
    }
    assert len(keys) == 5


def test_key_of_a_model_is_the_same_in_every_process() -> None:
    key = ChatLlamaint(model="a", temperature=0.5)._get_llm_string(stop=["x"])
    assert key == ChatLlamaint(model="a", temperature=0.5)._get_llm_string(stop=["x"])
    assert " at 0x" not in key


@pytest.mark.parametrize("adapter", [ChatLlamaint, Llamaint])
def test_written_model_is_read_back_with_its_settings(adapter: type[Any]) -> None:
    model = adapter(model="m", temperature=0.5, n_ctx=512, stop=["x"], sampling_kwargs={"top_n_sigma": 1.0})
    for again in (loads(dumps(model)), load(dumpd(model))):
        assert type(again) is adapter
        assert again.asdict() == model.asdict()


def test_written_chain_is_read_back() -> None:
    chain = ChatPromptTemplate.from_template("Say {word}.") | ChatLlamaint(model="m", temperature=0.5)
    again = loads(dumps(chain))
    assert again.first == chain.first
    assert again.last.asdict() == chain.last.asdict()


def test_engine_and_key_are_not_written() -> None:
    written = json.loads(dumps(ChatLlamaint(llm=FakeLlama("x"), api_key="secret")))
    assert written["type"] == "constructor"
    assert written["kwargs"] == {"model": "fake", "n": 1, "stream_usage": True}


def test_classes_that_are_neither_cores_nor_ours_are_not_built() -> None:
    written = {"lc": 1, "type": "constructor", "id": ["langchain_tests", "base", "Anything"], "kwargs": {}}
    with pytest.raises(ValueError, match="not allowed"):
        load(written)


def test_tracing_sees_provider_model_and_settings() -> None:
    chat = ChatLlamaint(model="m", temperature=0.5, max_tokens=7, stop=["x"])
    assert chat._get_ls_params() == {
        "ls_provider": "llamaint",
        "ls_model_name": "m",
        "ls_model_type": "chat",
        "ls_temperature": 0.5,
        "ls_max_tokens": 7,
        "ls_stop": ["x"],
    }
    assert chat._get_ls_params(model="other", stop=["y"])["ls_model_name"] == "other"
    assert chat.metadata is not None
    assert {"llamaint", "langchain-core"} <= chat.metadata["lc_versions"].keys()
