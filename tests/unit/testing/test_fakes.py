"""The fakes keep the promises that their users' tests rely on."""

from __future__ import annotations

import asyncio
import time

import numpy as np
import pytest

from llamaint import CapacityError, ClosedError, DecodeError, PromptTooLongError, TextDelta
from llamaint.testing import FakeEmbedding, FakeLlama, Script
from llamaint.testing.text_output import TextOutput

QUESTION = [{"role": "user", "content": "Is it?"}]


def test_text_answers_every_request():
    with FakeLlama("It is 42.") as llm:
        assert [llm.chat(QUESTION).text, llm.complete("x").text] == ["It is 42."] * 2


def test_scripts_of_a_sequence_are_played_in_order_and_the_last_repeats():
    with FakeLlama(["one", Script(reply="two"), "three"]) as llm:
        assert [llm.complete("x").text for _ in range(4)] == ["one", "two", "three", "three"]


def test_each_choice_takes_the_next_script():
    with FakeLlama(["one", "two"]) as llm:
        assert [choice.text for choice in llm.complete("x", n=2).choices] == ["one", "two"]


def test_function_sees_the_prompt():
    with FakeLlama(lambda prompt: "yes" if "Is it?" in prompt else "no") as llm:
        assert (llm.chat(QUESTION).text, llm.complete("Hm").text) == ("yes", "no")


def test_prompts_and_requests_are_kept_for_assertions():
    with FakeLlama() as llm:
        llm.complete("Tell me", max_tokens=3, stop="x", temperature=0.5)
        assert llm.prompts == ["Tell me"]
        assert (llm.requests[0].max_tokens, llm.requests[0].stop) == (3, ("x",))
        assert llm.requests[0].sampling.temperature == 0.5


def test_every_piece_is_one_event():
    with FakeLlama(Script(pieces=["a", "bc", "d"])) as llm:
        assert [e.text for e in llm.complete_stream("x") if isinstance(e, TextDelta)] == ["a", "bc", "d"]


def test_failure_at_a_step_comes_after_the_text_before_it():
    with FakeLlama([Script(reply="a b c", fail_at=2, error="capacity"), Script(reply="fine")]) as llm:
        with pytest.raises(CapacityError, match="step 2"):
            llm.complete("x")
        assert llm.complete("x").text == "fine"
    with FakeLlama(Script(reply="a b c", fail_at=2)) as llm:
        stream = llm.complete_stream("x")
        assert [next(stream).text, next(stream).text] == ["a", " b"]
        with pytest.raises(DecodeError):
            next(stream)


def test_delay_takes_its_time_and_does_not_hold_up_the_others():
    with FakeLlama([Script(reply="a b c d", delay_s=0.02), Script(reply="quick")]) as llm:
        slow = llm.complete_stream("x")
        started = time.monotonic()
        assert llm.complete("y").text == "quick"
        assert "".join(e.text for e in slow if isinstance(e, TextDelta)) == "a b c d"
        assert time.monotonic() - started >= 0.06


def test_half_characters_and_stop_strings_are_held_back():
    output = TextOutput(["STOP"])
    emoji = "🌌".encode()
    assert [output.push(emoji[:2]), output.push(emoji[2:])] == ["", "🌌"]
    assert [output.push(b"xS"), output.push(b"TA"), output.push(b"ST"), output.push(b"OPyz")] == ["x", "STA", "", ""]
    assert output.stop_text == "STOP"
    assert output.push(b"more", final=True) == ""


def test_held_text_is_given_out_at_the_end():
    output = TextOutput(["STOP"])
    assert output.push(b"aST") == "a"
    assert output.push(b"", final=True) == "ST"
    assert TextOutput([]).push(b"\xc3", final=True) == "\ufffd"


def test_stop_that_starts_earlier_wins_even_if_it_ends_later():
    output = TextOutput(["abcd", "c"])
    assert output.push(b"xabc") == "x"
    assert output.push(b"d") == ""
    assert output.stop_text == "abcd"


def test_embedding_of_texts_with_common_words_is_similar():
    with FakeEmbedding() as fake:
        vectors = fake.embed(["the cat sat", "the cat ran", "blue quantum"])
        assert vectors.dtype == np.float32
        assert vectors.shape == (3, fake.n_embd_out)
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)
        assert vectors[0] @ vectors[1] > 0.4 > abs(vectors[0] @ vectors[2])


def test_embedding_is_deterministic_across_objects_and_orders():
    with FakeEmbedding() as one, FakeEmbedding() as other:
        other.embed("something else first")
        np.testing.assert_array_equal(one.embed("the cat"), other.embed("the cat"))
        assert one.embed("the cat").ndim == 1


def test_async_embedding_is_the_same():
    with FakeEmbedding() as fake:
        np.testing.assert_array_equal(asyncio.run(fake.aembed(["a", "b"])), fake.embed(["a", "b"]))


def test_long_text_is_an_error_or_a_reported_cut():
    with FakeEmbedding(n_ctx=2) as fake:
        with pytest.raises(PromptTooLongError):
            fake.embed(["a", "a b c d"])
        assert fake.embed_full(["a", "a b c d"], truncate=True).truncated == (1,)


def test_closed_embedding_raises():
    fake = FakeEmbedding()
    fake.close()
    with pytest.raises(ClosedError):
        fake.embed("x")
