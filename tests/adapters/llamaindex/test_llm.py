"""Settings, reasoning, cancellation, sharing and copies of the LLM."""

from __future__ import annotations

import asyncio
import copy
import multiprocessing
import pickle
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage, ThinkingBlock
from pydantic import ValidationError

from llamaint.errors import CancelledError, ConfigError, PromptTooLongError, UnsupportedError
from llamaint.testing import FakeLlama, Script
from llamaint_llamaindex import Llamaint

SLOW = Script(reply="word " * 2000, delay_s=0.01)
ASK = [ChatMessage(role="user", content="x")]


def test_fields_and_additional_kwargs_reach_the_engine() -> None:
    llm = FakeLlama("x")
    fields: dict[str, Any] = {"temperature": 0.1, "seed": 0}
    Llamaint(llm=llm, **fields, max_tokens=5, timeout=9, stop=["q"], additional_kwargs={"top_k": 3}).chat(ASK)
    request = llm.requests[0]
    assert (request.sampling.temperature, request.sampling.seed, request.sampling.top_k) == (0.1, 0, 3)
    assert (request.max_tokens, request.deadline_s, tuple(request.stop)) == (5, 9, ("q",))


def test_keyword_of_the_call_wins_and_is_forgotten() -> None:
    engine = FakeLlama("x")
    llm = Llamaint(llm=engine, temperature=0.1)
    llm.chat(ASK, temperature=0.7, dry_multiplier=0.5)
    llm.chat(ASK, temperature=None)
    llm.complete("x", formatted=True)
    assert [request.sampling.temperature for request in engine.requests] == [0.7, 0.8, 0.1]
    assert [request.sampling.dry_multiplier for request in engine.requests] == [0.5, 0.0, 0.0]


@pytest.mark.parametrize(
    "fields",
    [
        {"tempature": 0.1},
        {"engine_kwargs": {"n_ctxx": 1}},
        {"engine_kwargs": {"n_ctx": 1}},
        {"additional_kwargs": {"topk": 1}},
        {"additional_kwargs": {"temperature": 1}},
        {"messages_to_prompt": lambda messages: "x"},
        {"completion_to_prompt": lambda text: "x"},
        {"max_tokens": -1},
        {"context_window": 0},
    ],
    ids=lambda fields: " ".join(fields),
)
def test_setting_that_cannot_work_is_refused_when_built(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Llamaint(model="m", **fields)


def test_no_model_and_settings_of_a_loaded_engine_are_refused() -> None:
    with pytest.raises(ValidationError, match="name or path"):
        Llamaint()
    with pytest.raises(ValidationError, match="cannot change it"):
        Llamaint(llm=FakeLlama("x"), n_ctx=5)


def test_top_logprobs_needs_logprobs() -> None:
    with pytest.raises(ConfigError, match="logprobs"):
        Llamaint(llm=FakeLlama("x")).chat(ASK, top_logprobs=2)


def test_images_and_schemas_in_keywords_are_refused() -> None:
    llm = Llamaint(llm=FakeLlama("x"))
    with pytest.raises(UnsupportedError, match="images"):
        llm.complete("x", image_documents=["x"])
    assert llm.complete("x", image_documents=[]).text == "x"


def test_errors_of_the_runtime_come_through() -> None:
    with pytest.raises(PromptTooLongError) as caught:
        Llamaint(llm=FakeLlama("x", n_ctx=50)).complete("x " * 100)
    assert caught.value.numbers["n_ctx"] == 50
    with pytest.raises(CancelledError):
        Llamaint(llm=FakeLlama(Script(reply="x", prefill_s=5)), timeout=0.05).complete("x")


async def test_thoughts_stand_in_a_block_of_their_own() -> None:
    llm = Llamaint(llm=FakeLlama("<think>Hm, well.</think>It is 42."))
    whole = llm.chat(ASK)
    assert whole.message.content == "It is 42."
    assert [block.content for block in whole.message.blocks if isinstance(block, ThinkingBlock)] == ["Hm, well."]
    responses = [response async for response in await llm.astream_chat(ASK)]
    assert responses[-1].message == whole.message
    thoughts = [response.additional_kwargs.get("thinking_delta", "") for response in responses]
    assert "".join(thoughts) == "Hm, well."
    assert "".join(response.delta or "" for response in responses) == "It is 42."


def test_metadata_is_known_without_loading_when_given(monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[str] = []

    def load(model: str) -> FakeLlama:
        loads.append(model)
        return FakeLlama("x", n_ctx=2048)

    monkeypatch.setattr("llamaint.shared_llama", load)
    given = Llamaint(model="/some/where/m.gguf", context_window=512, max_tokens=9)
    assert (given.metadata.context_window, given.metadata.num_output) == (512, 9)
    assert given.metadata.model_name == "m.gguf"
    assert loads == []
    assert Llamaint(model="m").metadata.context_window == 2048
    assert loads == ["m"]


def test_tracing_sees_no_path_and_loads_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("llamaint.shared_llama", lambda model: pytest.fail("loaded"))
    payload = Llamaint(model="/some/where/m.gguf", temperature=0.5).to_payload()
    assert payload == {"class_name": "Llamaint", "model_name": "m.gguf", "temperature": 0.5}


def test_tokenizer_is_the_models_own() -> None:
    engine = FakeLlama("x")
    llm = Llamaint(llm=engine)
    assert llm.tokenizer("one two three") == engine.tokenize("one two three", add_bos=False)
    llm.chat(ASK)
    assert llm.count_tokens(ASK) == len(engine.requests[0].prompt)


def test_leaving_a_stream_cancels_the_request(idle: Callable[[FakeLlama], None]) -> None:
    engine = FakeLlama(SLOW)
    for way in ("stream_chat", "stream_complete"):
        for _ in getattr(Llamaint(llm=engine), way)(ASK if way == "stream_chat" else "x"):
            break
    idle(engine)
    assert engine.metrics()["n_cancelled"] == 2


async def test_leaving_an_async_stream_cancels_the_request(idle: Callable[[FakeLlama], None]) -> None:
    engine = FakeLlama(SLOW)
    async for _ in await Llamaint(llm=engine).astream_complete("x"):
        break
    await asyncio.sleep(0)
    await asyncio.to_thread(idle, engine)
    assert engine.metrics()["n_cancelled"] == 1


@pytest.mark.parametrize("formatted", [False, True])
async def test_cancelled_task_cancels_the_request(formatted: bool, idle: Callable[[FakeLlama], None]) -> None:
    engine = FakeLlama(SLOW)
    task = asyncio.create_task(Llamaint(llm=engine).acomplete("x", formatted=formatted))
    while not engine.requests:
        await asyncio.sleep(0.001)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.to_thread(idle, engine)
    assert engine.metrics()["n_cancelled"] == 1


async def test_event_loop_runs_on_and_no_thread_is_used(ticking: Callable[[], Any]) -> None:
    llm = Llamaint(llm=FakeLlama(Script(reply="a b c d e", delay_s=0.02), n_parallel=8))
    await llm.achat(ASK)
    before = set(threading.enumerate())
    async with ticking() as ticks:
        await asyncio.gather(*(llm.achat(ASK) for _ in range(8)))
        assert set(threading.enumerate()) <= before
    assert len(ticks) > 20


async def test_first_use_loads_beside_the_event_loop(
    monkeypatch: pytest.MonkeyPatch, ticking: Callable[[], Any]
) -> None:
    may_end = threading.Event()

    def slow_load(model: str) -> FakeLlama:
        assert may_end.wait(5)
        return FakeLlama("loaded")

    monkeypatch.setattr("llamaint.shared_llama", slow_load)
    task = asyncio.create_task(Llamaint(model="m").acomplete("x"))
    async with ticking() as ticks:
        while len(ticks) < 10:
            await asyncio.sleep(0.001)
    may_end.set()
    assert (await task).text == "loaded"


def test_components_share_give_back_and_take_again(monkeypatch: pytest.MonkeyPatch) -> None:
    engines: list[FakeLlama] = []

    def take(model: str, **settings: Any) -> FakeLlama:
        engines.append(FakeLlama("x"))
        return engines[-1]

    monkeypatch.setattr("llamaint.shared_llama", take)
    with Llamaint(model="m", n_ctx=512) as llm:
        assert engines == []
        llm.complete("x")
        llm.complete("x")
        assert len(engines) == 1
    assert engines[0].closed
    assert llm.complete("x").text == "x"
    assert len(engines) == 2


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda llm: pickle.loads(pickle.dumps(llm))])
def test_copies_answer_with_the_same_settings(copied: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = FakeLlama("x")
    monkeypatch.setattr("llamaint.shared_llama", lambda model, **settings: engine)
    llm = Llamaint(model="m", temperature=0.5, n_ctx=512).warmup()
    again = copied(llm)
    assert again.to_dict() == llm.to_dict()
    assert again.complete("x").text == "x"


def test_written_component_is_read_back() -> None:
    llm = Llamaint(model="m", temperature=0.5, engine_kwargs={"flash_attn": "on"})
    assert Llamaint.from_dict(llm.to_dict()).to_dict() == llm.to_dict()
    assert Llamaint.from_json(llm.to_json()).to_dict() == llm.to_dict()


def test_deep_copy_shares_the_engine_of_the_user() -> None:
    engine = FakeLlama("x")
    assert copy.deepcopy(Llamaint(llm=engine)).llm is engine


def ask(llm: Llamaint) -> str:
    return llm.complete("x").text


def test_spawned_process_answers() -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(ask, (Llamaint(llm=FakeLlama("from the child")),)) == "from the child"


def test_path_object_never_becomes_an_alias(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert Llamaint(model=Path("smollm2-135m")).model == str(tmp_path / "smollm2-135m")
