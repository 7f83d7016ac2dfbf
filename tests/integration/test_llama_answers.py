"""The same request gives the same answer, whichever method asks and whoever else is asking."""

from __future__ import annotations

import asyncio
import math
import threading

import pytest

from llamaint import Finish, InvalidBatchError, Llama, PromptTooLongError, RequestError, TextDelta, UnsupportedError
from llamaint.reply.fold import fold_completion

GREEDY = {"temperature": 0.0}


def comparable(result):
    return [(c.index, c.text, c.tokens, c.finish_reason, c.stop_text, c.logprobs) for c in result.choices]


CASES = [
    {**GREEDY, "max_tokens": 40},
    {**GREEDY, "max_tokens": 40, "stop": ["lm", "ij"]},
    {**GREEDY, "max_tokens": 10, "logprobs": 3},
    {**GREEDY, "max_tokens": 10, "echo": True},
    {**GREEDY, "max_tokens": 0},
    {**GREEDY, "max_tokens": 1},
    {"seed": 7, "temperature": 2.0, "max_tokens": 30, "n": 3},
]


@pytest.mark.parametrize("options", CASES, ids=str)
def test_completion_is_the_same_streamed_or_not_sync_or_async(cycle, options):
    result = comparable(cycle.complete("abc", **options))
    assert comparable(fold_completion(cycle.complete_stream("abc", **options), "m")) == result

    async def run():
        waited = await cycle.acomplete("abc", **options)
        streamed = [event async for event in cycle.acomplete_stream("abc", **options)]
        return comparable(waited), comparable(fold_completion(streamed, "m"))

    assert asyncio.run(run()) == (result, result)


def test_greedy_answer_is_known(cycle):
    assert cycle.complete("abc", max_tokens=20, **GREEDY).text == "defghijklmnopabcdefg"


def test_max_tokens_none_fills_the_window(cycle_llama):
    with Llama(cycle_llama, n_ctx=256, n_threads=1) as llm:
        result = llm.complete("abc", **GREEDY)
        assert result.finish_reason == "length"
        # The last token is never evaluated, so it takes no place in the window.
        assert result.usage.total_tokens == llm.info["n_ctx_seq"] + 1


def test_max_tokens_zero_generates_none(cycle):
    result = cycle.complete("abc", max_tokens=0)
    assert (result.text, result.usage.completion_tokens, result.finish_reason) == ("", 0, "length")
    assert cycle.complete("abc", max_tokens=0, echo=True).text == "abc"


def test_earliest_stop_string_ends_the_text(cycle):
    result = cycle.complete("abc", stop=["lm", "hij", "ijk"], max_tokens=40, **GREEDY)
    assert (result.text, result.choices[0].stop_text, result.finish_reason) == ("defg", "hij", "stop")


def test_stop_string_never_shows_in_a_stream(cycle):
    texts = [e.text for e in cycle.complete_stream("abc", stop="jklm", max_tokens=40, **GREEDY) if hasattr(e, "text")]
    assert "".join(texts) == "defghi"
    assert not any("j" in text for text in texts)


def test_sixteen_threads_get_what_each_gets_alone(cycle):
    starts = ["abcdefghijklmnop"[i : i + 3] for i in range(12)] * 3
    lengths = [5 + 3 * (i % 7) for i in range(len(starts))]
    alone = [cycle.complete(s, max_tokens=n, **GREEDY).text for s, n in zip(starts, lengths, strict=True)]
    together: dict[int, str] = {}

    def ask(i):
        if i % 2:
            together[i] = cycle.complete(starts[i], max_tokens=lengths[i], **GREEDY).text
        else:
            stream = cycle.complete_stream(starts[i], max_tokens=lengths[i], **GREEDY)
            together[i] = "".join(e.text for e in stream if isinstance(e, TextDelta))

    for first in range(0, len(starts), 16):
        threads = [threading.Thread(target=ask, args=(i,)) for i in range(first, min(first + 16, len(starts)))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert [together[i] for i in range(len(starts))] == alone


def test_several_event_loops_share_one_engine(cycle):
    texts = []

    async def ask():
        results = await asyncio.gather(*(cycle.acomplete("abc", max_tokens=12, **GREEDY) for _ in range(6)))
        texts.extend(result.text for result in results)

    threads = [threading.Thread(target=lambda: asyncio.run(ask())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert texts == ["defghijklmno"] * 24


def test_seed_repeats_an_answer_and_zero_is_a_seed(tiny):
    options = {"temperature": 1.5, "max_tokens": 24, "ignore_eos": True}
    for seed in (0, 1):
        assert tiny.complete("abc", seed=seed, **options).choices == tiny.complete("abc", seed=seed, **options).choices
    assert tiny.complete("abc", seed=0, **options).text != tiny.complete("abc", seed=1, **options).text


def test_no_seed_draws_a_fresh_one(tiny):
    answers = {tiny.complete("abc", temperature=2.0, max_tokens=24, ignore_eos=True).text for _ in range(4)}
    assert len(answers) > 1


def test_choices_use_seeds_of_their_own(tiny):
    options = {"temperature": 1.5, "max_tokens": 16, "ignore_eos": True}
    result = tiny.complete("abc", n=3, seed=5, **options)
    assert [choice.index for choice in result.choices] == [0, 1, 2]
    assert len({choice.tokens for choice in result.choices}) == 3
    assert result.usage.completion_tokens == 48


def test_logprobs_are_a_distribution_and_greedy_takes_its_top(tiny):
    n_vocab = tiny.info["n_vocab"]
    (choice,) = tiny.complete("abc", max_tokens=6, logprobs=n_vocab, ignore_eos=False, **GREEDY).choices
    assert [entry.token for entry in choice.logprobs] == list(choice.tokens)
    for entry in choice.logprobs:
        assert math.fsum(math.exp(logprob) for _, _, logprob in entry.top) == pytest.approx(1, abs=1e-4)
        assert entry.top[0][0] == entry.token
        assert entry.top[0][2] == pytest.approx(entry.logprob, abs=1e-6)
        assert entry.sampled_logprob == pytest.approx(0, abs=1e-6)
        assert entry.bytes == tiny.detokenize([entry.token], special=True)


def test_prompt_of_token_ids_means_the_same_as_its_text(cycle):
    ids = cycle.tokenize("abc")
    assert cycle.complete(ids, max_tokens=8, **GREEDY).text == cycle.complete("abc", max_tokens=8, **GREEDY).text


def test_usage_counts_prompt_answer_and_cache(cycle):
    prompt = "abcdefghijklmnop" * 4
    cycle.complete(prompt, max_tokens=1, **GREEDY)
    usage = cycle.complete(prompt, max_tokens=5, **GREEDY).usage
    assert (usage.prompt_tokens, usage.completion_tokens) == (64, 5)
    assert 0 < usage.cached_tokens < 64
    assert cycle.complete(prompt, max_tokens=5, cache_prompt=False, **GREEDY).usage.cached_tokens == 0


def test_timings_are_measured(cycle):
    timings = cycle.complete("abc", max_tokens=20, **GREEDY).timings
    assert timings.ttft_s >= timings.prefill_s > 0
    assert timings.decode_s > 0
    assert timings.decode_per_s == pytest.approx(19 / timings.decode_s, rel=0.01)


def test_infill_asks_with_the_models_own_marks(cycle):
    tokens = cycle.info["tokens"]
    with_suffix = cycle.complete("abc", suffix="xyz", max_tokens=4, seed=1)
    ids = [tokens["fim_pre"], *b"abc", tokens["fim_suf"], *b"xyz", tokens["fim_mid"]]
    assert with_suffix.choices == cycle.complete(ids, max_tokens=4, seed=1).choices
    assert cycle.capabilities["infill"] is True


def test_prompt_that_does_not_fit_is_refused_with_numbers(cycle):
    n_ctx = cycle.info["n_ctx_seq"]
    with pytest.raises(PromptTooLongError) as caught:
        cycle.complete([97] * (n_ctx + 1))
    assert caught.value.numbers == {"n_prompt": n_ctx + 1, "n_ctx": n_ctx}
    assert cycle.complete([97] * n_ctx, **GREEDY).usage.completion_tokens == 1


@pytest.mark.parametrize(
    ("prompt", "options", "error"),
    [
        ([97, 384], {}, InvalidBatchError),
        ([97, -1], {}, InvalidBatchError),
        ([], {}, RequestError),
        ("abc", {"stop": ""}, RequestError),
        ("abc", {"logit_bias": {384: 1.0}}, RequestError),
        ("abc", {"logprobs": 1, "echo": True}, UnsupportedError),
    ],
)
def test_request_at_fault_is_refused_and_harms_nobody(cycle, prompt, options, error):
    with pytest.raises(error):
        cycle.complete(prompt, **options)
    assert cycle.complete("abc", max_tokens=3, **GREEDY).text == "def"


def test_last_event_of_a_stream_is_its_finish(cycle):
    events = list(cycle.complete_stream("abc", max_tokens=4, **GREEDY))
    assert [type(event) for event in events].count(Finish) == 1
    assert isinstance(events[-1], Finish)
    assert events[-1].usage.completion_tokens == 4
