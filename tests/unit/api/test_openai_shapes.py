"""Dicts that the openai package's own models accept, and that say the same as the typed results."""

from __future__ import annotations

import json

import pytest
from openai.types import Completion
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from llamaint import LlamaGrammar, RequestError, UnsupportedError
from llamaint.testing import FakeLlama, Script

QUESTION = [{"role": "user", "content": "Why?"}]
TEXT = "Because the sky is blue."


@pytest.fixture
def llm():
    with FakeLlama(TEXT) as fake:
        yield fake


def strict(model, data):
    """Validated, JSON-able, and with nothing lost on the way through JSON."""
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    return model.model_validate(data)


def test_completion_has_openais_shape(llm):
    data = llm.create_completion("Tell me", max_tokens=3, logprobs=2, n=2)
    completion = strict(Completion, data)
    assert [c.text for c in completion.choices] == ["Because the sky"] * 2
    logprobs = completion.choices[0].logprobs
    assert logprobs.tokens == ["Because", " the", " sky"]
    assert logprobs.text_offset == [0, 7, 11]
    assert [len(top) for top in logprobs.top_logprobs] == [2, 2, 2]
    assert completion.usage.total_tokens == 9
    assert (
        data["usage"]["prompt_tokens_details"]["cached_tokens"] == completion.usage.prompt_tokens_details.cached_tokens
    )
    assert (completion.object, completion.model) == ("text_completion", "fake")


def test_call_is_create_completion(llm):
    assert llm("Tell me", max_tokens=2)["choices"] == llm.create_completion("Tell me", max_tokens=2)["choices"]
    assert [c["choices"][0]["text"] for c in llm("Tell me", max_tokens=2, stream=True)] == ["Because", " the", ""]


def test_default_of_completion_is_16_tokens():
    with FakeLlama("a " * 100) as llm:
        assert llm.create_completion("x")["usage"]["completion_tokens"] == 16
        assert llm.create_completion("x", max_tokens=None)["usage"]["completion_tokens"] == 101
        assert llm.create_completion("x", max_tokens=0)["choices"][0]["text"] == ""


def test_completion_stream_says_the_same_as_the_result(llm):
    chunks = list(llm.create_completion("Tell me", stream=True, logprobs=1, stream_options={"include_usage": True}))
    for chunk in chunks:
        # OpenAI sends null while a choice goes on, which its own class does not mention.
        choices = [{**c, "finish_reason": c["finish_reason"] or "stop"} for c in chunk["choices"]]
        strict(Completion, {**chunk, "choices": choices})
    whole = llm.create_completion("Tell me", logprobs=1)
    text = "".join(c["choices"][0]["text"] for c in chunks[:-1])
    logprobs = [c["choices"][0]["logprobs"] for c in chunks[:-1]]
    offsets = [offset for entry in logprobs if entry is not None for offset in entry["text_offset"]]
    assert text == whole["choices"][0]["text"]
    assert offsets == whole["choices"][0]["logprobs"]["text_offset"]
    assert chunks[-1]["choices"] == []
    assert chunks[-1]["usage"]["completion_tokens"] == whole["usage"]["completion_tokens"]
    assert len({c["id"] for c in chunks}) == 1
    assert [c["choices"][0]["finish_reason"] for c in chunks[:-1]][-1] == "stop"


def test_stream_without_usage_option_has_no_usage(llm):
    assert all("usage" not in chunk for chunk in llm.create_completion("x", stream=True))
    with pytest.raises(RequestError, match="stream_options needs"):
        llm.create_completion("x", stream_options={"include_usage": True})
    with pytest.raises(RequestError, match="unknown key 'include_use'"):
        llm.create_completion("x", stream=True, stream_options={"include_use": True})


def test_chat_completion_has_openais_shape(llm):
    completion = strict(ChatCompletion, llm.create_chat_completion(QUESTION, logprobs=True, top_logprobs=2, n=2))
    choice = completion.choices[1]
    assert (choice.index, choice.message.role, choice.message.content) == (1, "assistant", TEXT)
    assert choice.finish_reason == "stop"
    assert "".join(bytes(entry.bytes).decode() for entry in choice.logprobs.content) == TEXT
    assert all(len(entry.top_logprobs) == 2 for entry in choice.logprobs.content)
    assert completion.object == "chat.completion"


def test_chat_stream_says_the_same_as_the_result(llm):
    chunks = list(llm.create_chat_completion(QUESTION, stream=True, n=2, stream_options={"include_usage": True}))
    for chunk in chunks:
        strict(ChatCompletionChunk, chunk)
    whole = llm.create_chat_completion(QUESTION, n=2)
    for index in (0, 1):
        mine = [c["choices"][0] for c in chunks[:-1] if c["choices"][0]["index"] == index]
        assert mine[0]["delta"]["role"] == "assistant"
        assert sum("role" in c["delta"] for c in mine) == 1
        assert "".join(c["delta"].get("content", "") for c in mine) == whole["choices"][index]["message"]["content"]
        assert [c["finish_reason"] for c in mine if c["finish_reason"]] == ["stop"]
    assert chunks[-1]["usage"]["completion_tokens"] == whole["usage"]["completion_tokens"]


def test_reasoning_comes_as_reasoning_content():
    with FakeLlama("<think>Hm.</think>Yes.") as llm:
        message = llm.create_chat_completion(QUESTION)["choices"][0]["message"]
        assert (message["reasoning_content"], message["content"]) == ("Hm.", "Yes.")
        deltas = [c["choices"][0]["delta"] for c in llm.create_chat_completion(QUESTION, stream=True)]
        assert "".join(d.get("reasoning_content", "") for d in deltas) == "Hm."
        # The whole message can be sent back as history.
        llm.create_chat_completion([*QUESTION, message, *QUESTION])


def test_half_a_character_is_shown_as_bytes():
    with FakeLlama(Script(pieces=["a", "é".encode()[:1], "é".encode()[1:], "b"])) as llm:
        result = llm.create_completion("x", logprobs=0)
        assert result["choices"][0]["text"] == "aéb"
        assert result["choices"][0]["logprobs"]["tokens"] == ["a", "bytes:\\xc3", "bytes:\\xa9", "b"]
        assert result["choices"][0]["logprobs"]["text_offset"] == [0, 1, 1, 2]
        content = llm.create_chat_completion(QUESTION, logprobs=True)["choices"][0]["logprobs"]["content"]
        assert [entry["bytes"] for entry in content] == [[97], [0xC3], [0xA9], [98]]


def test_impossible_token_has_a_logprob_that_json_can_express():
    with FakeLlama(Script(reply="a", logprob=float("-inf"))) as llm:
        assert llm.create_completion("x", logprobs=1)["choices"][0]["logprobs"]["token_logprobs"] == [-9999.0]


def test_model_names_the_model_in_the_answer(llm):
    assert llm.create_completion("x", model="gpt")["model"] == "gpt"
    assert llm.create_chat_completion(QUESTION, model="gpt")["model"] == "gpt"
    assert {c["model"] for c in llm.create_chat_completion(QUESTION, model="gpt", stream=True)} == {"gpt"}


def test_names_of_llama_cpp_python_reach_the_engine(llm):
    llm.create_completion(
        "x", temperature=0.5, top_k=3, present_penalty=0.25, mirostat_mode=1, seed=0, logit_bias={"7": -5}, user="me"
    )
    sampling = llm.requests[-1].sampling
    assert (sampling.temperature, sampling.top_k, sampling.presence_penalty) == (0.5, 3, 0.25)
    assert (sampling.mirostat_mode, sampling.seed, sampling.logit_bias) == (1, 0, {7: -5})
    llm.create_completion("x", seed=-1)
    assert llm.requests[-1].sampling.seed is None
    llm.create_chat_completion(QUESTION, temperature=None, stop=None, max_completion_tokens=3)
    assert llm.requests[-1].max_tokens == 3


def test_grammars_in_every_form_reach_the_engine(llm, tmp_path):
    gbnf = 'root ::= "yes"'
    file = tmp_path / "g.gbnf"
    file.write_text(gbnf)
    for grammar in (gbnf, LlamaGrammar.from_string(gbnf), LlamaGrammar.from_file(file)):
        llm.create_completion("x", grammar=grammar)
        assert llm.requests[-1].grammar.gbnf == gbnf
    llm.create_completion("x", grammar=LlamaGrammar.from_json_schema({"type": "null"}))
    assert '{"type": "null"}' in llm.requests[-1].grammar.gbnf


@pytest.mark.parametrize(
    ("format_", "schema"),
    [
        ({"type": "json_object"}, '{"type": "object"}'),
        ({"type": "json_object", "schema": {"type": "array"}}, '{"type": "array"}'),
        ({"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "null"}}}, '{"type": "null"}'),
    ],
)
def test_response_format_becomes_a_grammar(llm, format_, schema):
    llm.create_chat_completion(QUESTION, response_format=format_)
    assert schema in llm.requests[-1].grammar.gbnf


def test_response_format_text_is_no_grammar(llm):
    llm.create_chat_completion(QUESTION, response_format={"type": "text"})
    assert llm.requests[-1].grammar is None


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"tools": [{"type": "function"}]}, UnsupportedError, "tools"),
        ({"tool_choice": "auto"}, UnsupportedError, "tool_choice"),
        ({"functions": [{}]}, UnsupportedError, "functions"),
        ({"response_format": {"type": "xml"}}, RequestError, "type 'xml'"),
        ({"response_format": {"type": "json_schema"}}, RequestError, "must look like"),
        ({"response_format": {"type": "text", "schema": {}}}, RequestError, "unknown key 'schema'"),
        ({"response_format": "json"}, RequestError, "must be a mapping"),
        ({"response_format": {"type": "json_object"}, "grammar": "root ::= []"}, RequestError, "excludes"),
        ({"top_logprobs": 2}, RequestError, "needs logprobs=True"),
        ({"logprobs": 3}, RequestError, "True or False"),
        ({"max_tokens": 1, "max_completion_tokens": 2}, RequestError, "are the same"),
        ({"present_penalty": 1.0, "presence_penalty": 1.0}, RequestError, "are the same"),
        ({"logit_bias": {"a": 1}}, RequestError, "token ids as keys"),
        ({"logit_bias": [1]}, RequestError, "must be a mapping"),
        ({"tfs_z": 1.0}, TypeError, "tfs_z"),
        ({"echo": True}, TypeError, "echo"),
    ],
)
def test_what_cannot_be_done_is_refused_by_name(llm, options, error, words):
    with pytest.raises(error, match=words):
        llm.create_chat_completion(QUESTION, **options)
    assert llm.requests == []


def test_empty_tool_list_is_no_tools(llm):
    assert llm.create_chat_completion(QUESTION, tools=[])["choices"][0]["message"]["content"] == TEXT


def test_leaving_a_chunk_stream_cancels_the_request():
    with FakeLlama(Script(reply="a " * 1000, delay_s=0.01)) as llm:
        stream = llm.create_chat_completion(QUESTION, stream=True)
        next(stream)
        stream.close()
        while llm.metrics()["n_running"]:
            pass
        assert llm.metrics()["n_cancelled"] == 1
