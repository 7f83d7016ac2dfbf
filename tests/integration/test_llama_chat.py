"""Conversations through the model file's own template."""

from __future__ import annotations

import asyncio
import json

import pytest
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from llamaint import Llama, Message, TemplateError, TextDelta
from llamaint.reply.fold import fold_chat

GREEDY = {"temperature": 0.0}
QUESTION = [{"role": "user", "content": "abc"}]


def comparable(result):
    return [(c.index, c.text, c.tokens, c.finish_reason, c.stop_text, c.message) for c in result.choices]


@pytest.mark.parametrize(
    "options", [{}, {"stop": ["s", "e"]}, {"n": 2, "seed": 3, "temperature": 1.5}, {"logprobs": 2}], ids=str
)
def test_chat_is_the_same_streamed_or_not_sync_or_async(tiny, options):
    options = {**GREEDY, "max_tokens": 24, **options}
    result = comparable(tiny.chat(QUESTION, **options))
    assert comparable(fold_chat(tiny.chat_stream(QUESTION, **options), "m")) == result

    async def run():
        waited = await tiny.achat(QUESTION, **options)
        streamed = [event async for event in tiny.achat_stream(QUESTION, **options)]
        return comparable(waited), comparable(fold_chat(streamed, "m"))

    assert asyncio.run(run()) == (result, result)


def test_prompt_is_the_templates_text_with_its_special_tokens(tiny):
    conversation = [Message(role="system", content="be kind"), Message(role="user", content="abc")]
    rendered = "<|im_start|>system\nbe kind<|im_end|>\n<|im_start|>user\nabc<|im_end|>\n<|im_start|>assistant\n"
    options = {**GREEDY, "max_tokens": 8}
    from_text = tiny.complete(rendered, **options)
    from_chat = tiny.chat(conversation, **options)
    assert from_chat.choices[0].tokens == from_text.choices[0].tokens
    assert from_chat.usage.prompt_tokens == from_text.usage.prompt_tokens == tiny.count_tokens(conversation)


def test_custom_template_replaces_the_files(cycle_llama):
    with Llama(
        cycle_llama, n_ctx=512, n_threads=1, chat_template="{% for m in messages %}{{ m.content }}{% endfor %}"
    ) as llm:
        assert llm.chat(QUESTION, max_tokens=5, **GREEDY).text == "defgh"
        assert "m.content" in llm.chat_template


def test_template_that_refuses_says_why(cycle_llama):
    template = "{{ raise_exception('roles must alternate') }}"
    with Llama(cycle_llama, n_ctx=512, n_threads=1) as llm:
        assert llm.capabilities
    with pytest.raises(TemplateError, match="roles must alternate"):
        Llama(cycle_llama, n_ctx=512, n_threads=1, chat_template=template).chat(QUESTION)


def test_template_variables_arrive(cycle_llama):
    with Llama(cycle_llama, n_ctx=512, n_threads=1, chat_template="{{ start }}") as llm:
        answer = llm.chat(QUESTION, max_tokens=3, chat_template_kwargs={"start": "klm"}, **GREEDY)
        assert answer.text == "nop"


def test_continue_final_goes_on_from_the_assistants_words(cycle_llama):
    with Llama(cycle_llama, n_ctx=512, n_threads=1) as llm:
        begun = [*QUESTION, {"role": "assistant", "content": "efgh"}]
        assert llm.chat(begun, continue_final=True, max_tokens=4, **GREEDY).text == "ijkl"


@pytest.mark.parametrize("seed", range(3))
def test_schema_constrains_the_answer(tiny, seed):
    schema = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
    format_ = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
    data = tiny.create_chat_completion(QUESTION, response_format=format_, seed=seed, temperature=2.0, max_tokens=100)
    assert isinstance(json.loads(data["choices"][0]["message"]["content"])["ok"], bool)
    assert json.loads(tiny.chat(QUESTION, json_schema=schema, seed=seed, temperature=2.0, max_tokens=100).text)


def test_grammar_constrains_the_answer(tiny):
    assert tiny.chat(QUESTION, grammar='root ::= "yes" | "no"', seed=1, temperature=2.0).text in ("yes", "no")


def test_openai_shapes_hold_on_a_real_engine(tiny):
    options = {"max_tokens": 12, "seed": 1, "n": 2}
    whole = tiny.create_chat_completion(QUESTION, logprobs=True, top_logprobs=3, **options)
    ChatCompletion.model_validate(json.loads(json.dumps(whole, allow_nan=False)))
    chunks = list(tiny.create_chat_completion(QUESTION, stream=True, stream_options={"include_usage": True}, **options))
    for chunk in chunks:
        ChatCompletionChunk.model_validate(json.loads(json.dumps(chunk, allow_nan=False)))
    assert chunks[-1]["usage"]["completion_tokens"] == whole["usage"]["completion_tokens"]


def test_second_turn_starts_from_the_first_ones_cache(tiny):
    first = tiny.chat(QUESTION, max_tokens=20, **GREEDY)
    longer = [*QUESTION, first.message, {"role": "user", "content": "and now?"}]
    assert tiny.chat(longer, max_tokens=1, **GREEDY).usage.cached_tokens >= first.usage.prompt_tokens - 1


@pytest.mark.slow
def test_real_model_answers_in_words(smollm2):
    with Llama(smollm2, n_ctx=1024) as llm:
        events = list(llm.chat_stream([{"role": "user", "content": "What is 2+2?"}], **GREEDY))
        assert "4" in "".join(e.text for e in events if isinstance(e, TextDelta))
        assert events[-1].reason == "stop"
