"""`Llama` over scripts: one pipeline behind all eight methods."""

from __future__ import annotations

import asyncio
import pickle
import threading

import numpy as np
import pytest

from llamaint import (
    CancelledError,
    CapacityError,
    ClosedError,
    ConfigError,
    Finish,
    GrammarError,
    InvalidBatchError,
    Llama,
    Message,
    PromptTooLongError,
    ReasoningDelta,
    RequestError,
    SamplingParams,
    TemplateError,
    TextDelta,
    UnsupportedError,
)
from llamaint.reply.fold import fold_chat, fold_completion
from llamaint.testing import FakeLlama, Script

QUESTION = [{"role": "user", "content": "Why?"}]
TEXT = "Because the sky is blue, and it always was. 天空 is 🌌!"
THOUGHT = "<think>Let me see.</think>It is so."


@pytest.fixture
def llm():
    with FakeLlama(TEXT) as fake:
        yield fake


def comparable(result):
    return [(c.index, c.text, c.tokens, c.finish_reason, c.stop_text, c.logprobs, c.message) for c in result.choices]


COMPLETE_CASES = [
    {},
    {"max_tokens": 0},
    {"max_tokens": 1},
    {"max_tokens": 5, "logprobs": 3},
    {"stop": ["sky is", "blue"]},
    {"stop": "天空", "echo": True},
    {"n": 3, "max_tokens": 4},
]


@pytest.mark.parametrize("options", COMPLETE_CASES, ids=str)
def test_completion_is_the_same_streamed_or_not_sync_or_async(llm, options):
    result = comparable(llm.complete("Tell me", **options))
    assert comparable(fold_completion(llm.complete_stream("Tell me", **options), "fake")) == result

    async def run():
        waited = await llm.acomplete("Tell me", **options)
        streamed = [event async for event in llm.acomplete_stream("Tell me", **options)]
        return comparable(waited), comparable(fold_completion(streamed, "fake"))

    assert asyncio.run(run()) == (result, result)


@pytest.mark.parametrize("options", [{}, {"max_tokens": 3}, {"stop": "so"}, {"n": 2}, {"logprobs": 1}], ids=str)
@pytest.mark.parametrize("reply", [TEXT, THOUGHT])
def test_chat_is_the_same_streamed_or_not_sync_or_async(reply, options):
    with FakeLlama(reply) as llm:
        result = comparable(llm.chat(QUESTION, **options))
        assert comparable(fold_chat(llm.chat_stream(QUESTION, **options), "fake")) == result

        async def run():
            waited = await llm.achat(QUESTION, **options)
            streamed = [event async for event in llm.achat_stream(QUESTION, **options)]
            return comparable(waited), comparable(fold_chat(streamed, "fake"))

        assert asyncio.run(run()) == (result, result)


def test_requests_at_once_give_what_each_gives_alone():
    with FakeLlama(lambda prompt: f"{prompt}! {prompt}?", n_parallel=4) as llm:
        prompts = [f"number {i}" for i in range(24)]
        alone = [llm.complete(p).text for p in prompts]

        async def together():
            return [r.text for r in await asyncio.gather(*(llm.acomplete(p) for p in prompts))]

        assert asyncio.run(together()) == alone


def test_result_carries_text_tokens_usage_and_timings(llm):
    result = llm.complete("Tell me", max_tokens=4)
    assert result.text == "Because the sky is"
    assert result.finish_reason == "length"
    assert llm.detokenize(result.choices[0].tokens) == b"Because the sky is"
    assert (result.usage.prompt_tokens, result.usage.completion_tokens, result.usage.total_tokens) == (3, 4, 7)
    assert result.timings.ttft_s > 0
    assert result.model == "fake"
    assert result.id != llm.complete("Tell me").id


def test_usage_of_several_choices_counts_the_prompt_once(llm):
    usage = llm.complete("Tell me", n=3, max_tokens=2).usage
    assert (usage.prompt_tokens, usage.completion_tokens) == (3, 6)


def test_last_finish_of_a_stream_carries_the_usage_of_all_choices(llm):
    finishes = [e for e in llm.complete_stream("Tell me", n=3, max_tokens=2) if isinstance(e, Finish)]
    assert [f.usage.completion_tokens for f in finishes][-1] == 6
    assert sorted(f.index for f in finishes) == [0, 1, 2]


def test_cached_prefix_is_counted(llm):
    llm.complete("the same beginning")
    assert llm.complete("the same beginning").usage.cached_tokens > 0
    assert llm.complete("the same beginning", cache_prompt=False).usage.cached_tokens == 0


def test_earliest_stop_string_wins_and_is_reported(llm):
    result = llm.complete("x", stop=["blue", "sky is"])
    assert (result.text, result.choices[0].stop_text) == ("Because the ", "sky is")
    assert result.finish_reason == "stop"


def test_logprobs_line_up_with_the_tokens(llm):
    (choice,) = llm.complete("x", max_tokens=5, logprobs=2).choices
    assert [entry.token for entry in choice.logprobs] == list(choice.tokens)
    assert b"".join(entry.bytes for entry in choice.logprobs).decode() == choice.text
    assert all(len(entry.top) == 2 and entry.top[0][0] == entry.token for entry in choice.logprobs)
    assert llm.complete("x", max_tokens=5).choices[0].logprobs is None


def test_echo_puts_the_prompt_in_front_of_every_choice(llm):
    result = llm.complete("Tell me: ", echo=True, max_tokens=1, n=2)
    assert [choice.text for choice in result.choices] == ["Tell me: Because"] * 2
    tokens = llm.tokenize("Tell me: ")
    assert llm.complete(tokens, echo=True, max_tokens=1).text == "<s>Tell me: Because"


def test_reasoning_is_kept_apart_from_the_answer():
    with FakeLlama(THOUGHT) as llm:
        message = llm.chat(QUESTION).message
        assert (message.reasoning, message.content) == ("Let me see.", "It is so.")
        kinds = [type(e) for e in llm.chat_stream(QUESTION) if not isinstance(e, Finish)]
        assert kinds.index(ReasoningDelta) < kinds.index(TextDelta)


def test_tokens_of_reasoning_are_counted_too():
    with FakeLlama(THOUGHT) as llm:
        result = llm.chat(QUESTION)
        assert len(result.choices[0].tokens) == result.usage.completion_tokens
        assert llm.detokenize(result.choices[0].tokens).decode() == THOUGHT


def test_chat_renders_every_message_through_the_template(llm):
    llm.chat([Message(role="system", content="Be kind."), *QUESTION])
    assert llm.prompts[-1] == "<|system|>\nBe kind.\n<|user|>\nWhy?\n<|assistant|>\n"


def test_continue_final_goes_on_from_the_assistants_words(llm):
    llm.chat([*QUESTION, {"role": "assistant", "content": "Because"}], continue_final=True)
    assert llm.prompts[-1].endswith("<|assistant|>\nBecause")
    with pytest.raises(RequestError, match="continue_final"):
        llm.chat(QUESTION, continue_final=True)


def test_template_variables_reach_the_template(llm):
    llm.chat(QUESTION, chat_template_kwargs={"date": "today"})
    assert 'date="today"' in llm.prompts[-1]
    endless: list[object] = []
    endless.append(endless)
    for value in (object(), float("nan"), endless):
        with pytest.raises(RequestError, match="chat_template_kwargs"):
            llm.chat(QUESTION, chat_template_kwargs={"date": value})


def test_custom_template_is_used_and_checked_at_load():
    with FakeLlama("x", chat_template="MINE") as llm:
        assert llm.chat_template == "MINE"
        llm.chat(QUESTION)
        assert llm.prompts[-1].startswith("MINE")
    with pytest.raises(TemplateError):
        FakeLlama("x", chat_template="{{ oops")


def test_sampling_reaches_the_engine_whole(llm):
    llm.complete("x", seed=0, top_k=7, logit_bias={5: -1.0}, sampling=SamplingParams(min_p=0.3))
    sampling = llm.requests[-1].sampling
    assert (sampling.seed, sampling.top_k, sampling.min_p, sampling.logit_bias) == (0, 7, 0.3, {5: -1.0})


def test_grammar_and_schema_reach_the_engine_compiled(llm):
    llm.complete("x", grammar="root ::= [0-9]+")
    assert llm.requests[-1].grammar.gbnf == "root ::= [0-9]+"
    llm.complete("x", json_schema={"type": "object"})
    assert '{"type": "object"}' in llm.requests[-1].grammar.gbnf
    llm.chat(QUESTION, json_schema='{"type": "array"}')
    assert '{"type": "array"}' in llm.requests[-1].grammar.gbnf
    with pytest.raises(GrammarError):
        llm.complete("x", grammar="nothing here")
    with pytest.raises(GrammarError, match="not JSON"):
        llm.complete("x", json_schema="{")


def test_logits_processor_sees_prompt_and_answer_and_decides(llm):
    seen = []

    def shout(tokens, row):
        assert row.dtype == np.float32
        seen.append(len(tokens))
        row[:] = 0
        row[llm.tokenize("A", add_bos=False)[0]] = 1

    assert llm.complete("Tell me", max_tokens=3, logits_processors=[shout]).text == "AAA"
    assert seen == [3, 4, 5]


def test_exception_in_a_logits_processor_ends_only_its_request(llm):
    def broken(tokens, row):
        raise KeyError("oops")

    with pytest.raises(RequestError, match="oops"):
        llm.complete("x", logits_processors=[broken])
    assert llm.complete("x").text == TEXT


def test_long_prompt_is_refused_with_both_numbers():
    with FakeLlama("x", n_ctx=8) as llm:
        with pytest.raises(PromptTooLongError) as caught:
            llm.complete("a b c d e f g h i j")
        assert caught.value.numbers["n_ctx"] == 8
        assert caught.value.numbers["n_prompt"] == len(llm.tokenize("a b c d e f g h i j"))


def test_window_that_fills_up_ends_with_length():
    with FakeLlama("a b c d e f g h i j", n_ctx=6) as llm:
        result = llm.complete("x y")
        assert result.finish_reason == "length"
        assert result.usage.total_tokens == 7  # the last token takes no place in the window


def test_timeout_raises_cancelled_error():
    with FakeLlama(Script(reply="a " * 100, delay_s=0.01)) as llm:
        with pytest.raises(CancelledError, match=r"0\.05 s"):
            llm.complete("x", timeout=0.05)
        with pytest.raises(CancelledError, match=r"0\.05 s"):
            asyncio.run(llm.achat(QUESTION, timeout=0.05))


def test_full_queue_raises_capacity_error():
    with FakeLlama(Script(reply="a " * 1000, delay_s=0.01), n_parallel=1, max_queue=1) as llm:
        streams = [llm.complete_stream("x")]
        next(streams[0])
        streams.append(llm.complete_stream("x"))
        with pytest.raises(CapacityError):
            llm.complete("x")
        for stream in streams:
            stream.close()


def test_suffix_without_infill_tokens_is_unsupported(llm):
    assert llm.capabilities["infill"] is False
    with pytest.raises(UnsupportedError, match="suffix"):
        llm.complete("def f():", suffix="return x")
    with pytest.raises(RequestError, match="as text"):
        llm.complete([1, 2], suffix="x")


def test_tokenize_and_detokenize_are_inverse(llm):
    for text in ("Hello there", "天空 🌌", "", " a  b\n"):
        assert llm.detokenize(llm.tokenize(text)) == text.encode()
    assert llm.tokenize(b"Hello") == llm.tokenize("Hello")
    assert llm.tokenize("Hello", add_bos=False) == llm.tokenize("Hello")[1:]
    assert llm.tokenize("<s>", add_bos=False, special=True) == [1]
    assert llm.detokenize([1], special=True) == b"<s>"
    with pytest.raises(RequestError, match="text must be a str; it is int"):
        llm.tokenize(5)
    with pytest.raises(RequestError, match="not valid UTF-8 at byte 1"):
        llm.tokenize(b"a\xff")
    with pytest.raises(InvalidBatchError, match=r"tokens\[0\] is -1"):
        llm.detokenize([-1])


def test_count_tokens_is_what_the_engine_then_counts(llm):
    assert llm.count_tokens("Tell me") == llm.complete("Tell me").usage.prompt_tokens
    assert llm.count_tokens(QUESTION) == llm.chat(QUESTION).usage.prompt_tokens


def test_info_joins_model_and_engine(llm):
    assert llm.info["model"] == "fake"
    assert llm.info["n_parallel"] == 4
    assert llm.info["n_vocab"] == 32768
    assert llm.metadata["general.name"] == "fake"
    llm.complete("x")
    assert llm.metrics()["n_requests"] == 1


def test_every_use_after_close_raises_closed_error():
    llm = FakeLlama()
    llm.close()
    llm.close()
    assert llm.closed
    uses = [
        lambda: llm.complete("x"),
        lambda: llm.chat_stream(QUESTION),
        lambda: asyncio.run(llm.acomplete("x")),
        lambda: llm.tokenize("x"),
        lambda: llm.detokenize([3]),
        lambda: llm.count_tokens("x"),
        lambda: llm.info,
        lambda: llm.metadata,
        lambda: llm.capabilities,
        lambda: llm.chat_template,
        lambda: llm.metrics(),
    ]
    for use in uses:
        with pytest.raises(ClosedError):
            use()
    assert repr(llm) == "FakeLlama('fake', closed)"


def test_close_while_busy_ends_the_others_with_closed_error():
    llm = FakeLlama(Script(reply="a " * 1000, delay_s=0.01))
    errors = []

    def read():
        try:
            llm.complete("x")
        except ClosedError as error:
            errors.append(error)

    threads = [threading.Thread(target=read) for _ in range(6)]
    for thread in threads:
        thread.start()
    while llm.metrics()["n_requests"] < 6:
        pass
    llm.close()
    for thread in threads:
        thread.join(5)
    assert len(errors) == 6


async def test_async_context_manager_closes():
    async with FakeLlama("hi") as llm:
        assert (await llm.acomplete("x")).text == "hi"
    assert llm.closed


def test_stream_keeps_an_engine_alive_that_nobody_else_holds():
    stream = FakeLlama(Script(reply="a b c", delay_s=0.005)).complete_stream("x")
    assert "".join(e.text for e in stream if isinstance(e, TextDelta)) == "a b c"


def test_pickle_loads_again_with_the_same_settings():
    with FakeLlama("hi", name="mine", n_ctx=64, n_parallel=2) as llm, pickle.loads(pickle.dumps(llm)) as again:
        assert again is not llm
        assert (again.name, again.info["n_ctx"], again.info["n_parallel"]) == ("mine", 64, 2)
        assert again.complete("x").text == "hi"


def test_bad_setting_is_found_before_loading():
    with pytest.raises(ConfigError, match="n_parallel must be"):
        FakeLlama("x", n_parallel=0)


def test_progress_goes_from_0_to_1():
    seen = []
    FakeLlama("x", progress=lambda what, fraction: seen.append((what, fraction))).close()
    assert seen == [("load", 0.0), ("load", 1.0)]


async def test_what_takes_long_is_prepared_beside_the_loop():
    with FakeLlama("hi", n_ctx=100_000) as llm:
        threads = []
        tokenize = llm._model.tokenize
        llm._model.tokenize = lambda *a: threads.append(threading.current_thread().name) or tokenize(*a)
        await llm.acomplete("word " * 5000)
        await llm.acomplete("word")
        await llm.achat(QUESTION)
        here = threading.current_thread().name
        assert [name.startswith("llamaint-prepare") for name in threads] == [True, False, True]
        assert threads[1] == here


@pytest.mark.parametrize(
    ("filename", "name"),
    [(None, "hf:owner/repo"), ("Q4_K_M", "hf:owner/repo:Q4_K_M"), ("a*.gguf", "hf:owner/repo:a*.gguf")],
)
def test_from_pretrained_names_the_file_in_the_repository(filename, name):
    class Recorder(Llama):
        def __init__(self, model_path, **settings):
            self.given = (model_path, settings)

    assert Recorder.from_pretrained("owner/repo", filename, n_ctx=64).given == (name, {"n_ctx": 64})
