"""Whole answers, streams, and that they are the same."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage

from llamaint.testing import FakeLlama, Script
from llamaint_langchain import ChatLlamaint, LlamaintUnsupportedError


def merged(chunks: list[AIMessageChunk]) -> AIMessageChunk:
    full = chunks[0]
    for chunk in chunks[1:]:
        full = full + chunk
    return full


def without_clock(metadata: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in metadata.items() if name != "timings"}


def answer_every_way(chat: ChatLlamaint, text: str = "Hello?") -> dict[str, AIMessage]:
    async def asynchronous() -> tuple[AIMessage, AIMessage]:
        return await chat.ainvoke(text), merged([chunk async for chunk in chat.astream(text)])

    ainvoke, astream = asyncio.run(asynchronous())
    return {
        "invoke": chat.invoke(text),
        "stream": merged(list(chat.stream(text))),
        "ainvoke": ainvoke,
        "astream": astream,
        "batch": chat.batch([text])[0],
        "generate": chat.generate([[HumanMessage(text)]]).generations[0][0].message,  # type: ignore[union-attr]
    }


def test_every_way_to_ask_gives_the_same_message() -> None:
    llm = FakeLlama("<think>Hm, well.</think>It is 42, I think.")
    chat = ChatLlamaint(llm=llm, logprobs=True, top_logprobs=2)
    chat.invoke("Hello?")  # fills the prefix cache, so that cached token counts agree
    answers = answer_every_way(chat)
    want = answers["invoke"]
    assert want.content == "It is 42, I think."
    for way, answer in answers.items():
        assert answer.content == want.content, way
        assert answer.additional_kwargs == want.additional_kwargs == {"reasoning_content": "Hm, well."}, way
        assert answer.usage_metadata == want.usage_metadata, way
        assert without_clock(answer.response_metadata) == without_clock(want.response_metadata), way


def test_metadata_is_what_langchain_documents() -> None:
    answer = ChatLlamaint(llm=FakeLlama("It is 42.", name="tiny")).invoke("Hello?")
    metadata = answer.response_metadata
    assert metadata["model_name"] == "tiny"
    assert metadata["model_provider"] == "llamaint"
    assert metadata["finish_reason"] == "stop"
    assert metadata["timings"]["ttft_s"] > 0


def test_usage_counts_prompt_answer_and_cached_tokens() -> None:
    llm = FakeLlama("one two three")
    chat = ChatLlamaint(llm=llm)
    chat.invoke("Hello?")
    usage = chat.invoke("Hello?").usage_metadata
    assert usage is not None
    n_prompt = llm.count_tokens([{"role": "user", "content": "Hello?"}])
    assert usage["input_tokens"] == n_prompt
    assert usage["output_tokens"] == 3
    assert usage["total_tokens"] == n_prompt + 3
    assert usage["input_token_details"] == {"cache_read": n_prompt - 1}


def test_answer_cut_by_max_tokens_says_so() -> None:
    chat = ChatLlamaint(llm=FakeLlama("one two three"), max_tokens=2)
    answer = chat.invoke("Hello?")
    assert (answer.content, answer.response_metadata["finish_reason"]) == ("one two", "length")


def test_usage_and_names_stand_on_the_last_chunk_alone() -> None:
    chunks = list(ChatLlamaint(llm=FakeLlama("one two three")).stream("Hello?"))
    assert [chunk.content for chunk in chunks] == ["one", " two", " three", ""]
    assert [chunk.usage_metadata is not None for chunk in chunks] == [False, False, False, True]
    assert ["model_name" in chunk.response_metadata for chunk in chunks] == [False, False, False, True]
    assert [chunk.chunk_position for chunk in chunks] == [None, None, None, "last"]


def test_stream_usage_off_leaves_usage_out() -> None:
    chat = ChatLlamaint(llm=FakeLlama("x"), stream_usage=False)
    assert all(answer.usage_metadata is None for answer in answer_every_way(chat).values())


def test_stop_of_the_call_replaces_that_of_the_object() -> None:
    chat = ChatLlamaint(llm=FakeLlama("one two three four"), stop=["two"])
    assert chat.invoke("x").content == "one "
    assert chat.invoke("x", stop=["three"]).content == "one two "
    assert chat.invoke("x", stop=[]).content == "one two three four"
    assert merged(list(chat.stream("x"))).content == "one "


def test_logprobs_have_the_shape_of_openai() -> None:
    chat = ChatLlamaint(llm=FakeLlama(Script(reply="é yes", logprob=-0.5)), logprobs=True, top_logprobs=2)
    first = chat.invoke("x").response_metadata["logprobs"]["content"][0]
    assert (first["token"], first["logprob"], first["bytes"]) == ("é", -0.5, list("é".encode()))
    assert [entry["logprob"] for entry in first["top_logprobs"]] == [-0.5, -1.5]
    assert first["top_logprobs"][0]["token"] == "é"


def test_no_logprobs_unless_asked_for() -> None:
    assert "logprobs" not in ChatLlamaint(llm=FakeLlama("x")).invoke("x").response_metadata


def test_n_answers_come_from_one_request_and_count_usage_once() -> None:
    llm = FakeLlama(["one", "two", "three"])
    generations = ChatLlamaint(llm=llm, n=3).generate([[HumanMessage("x")]]).generations[0]
    assert [generation.text for generation in generations] == ["one", "two", "three"]
    assert len(llm.requests) == 1
    usages = [generation.message.usage_metadata for generation in generations]  # type: ignore[union-attr]
    assert [usage is not None for usage in usages] == [True, False, False]
    assert usages[0]["output_tokens"] == 3


def test_n_answers_are_never_merged_into_one_stream() -> None:
    chat = ChatLlamaint(llm=FakeLlama(["one", "two"]), n=2)
    assert [chunk.content for chunk in chat.stream("x")] == ["one"]
    with pytest.raises(LlamaintUnsupportedError, match="2 answers"):
        list(chat._stream([HumanMessage("x")]))


def test_model_of_the_call_is_another_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    engines = {"small": FakeLlama("from small", name="small"), "big": FakeLlama("from big", name="big")}
    monkeypatch.setattr("llamaint.shared_llama", lambda model: engines[model])
    chat = ChatLlamaint(model="small")
    answer = chat.invoke("x", model="big")
    assert (answer.content, answer.response_metadata["model_name"]) == ("from big", "big")
    assert merged(list(chat.stream("x", model="big"))).response_metadata["model_name"] == "big"
    assert chat.invoke("x").content == "from small"


def test_reasoning_switch_reaches_the_template() -> None:
    llm = FakeLlama("x")
    chat = ChatLlamaint(llm=llm, reasoning=False)
    seen: list[bool] = []
    make = llm.achat, llm.chat

    def spy(messages: object, **options: Any) -> Any:
        seen.append(options["enable_thinking"])
        return make[1](messages, **options)

    llm.chat = spy  # type: ignore[method-assign]
    chat.invoke("x")
    chat.invoke("x", reasoning=True)
    assert seen == [False, True]


def test_template_variables_reach_the_prompt() -> None:
    llm = FakeLlama("x")
    ChatLlamaint(llm=llm, chat_template_kwargs={"mood": "calm"}).invoke("x")
    assert 'mood="calm"' in llm.prompts[0]
