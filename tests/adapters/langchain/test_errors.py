"""Errors are llamaint's and LangChain's at once."""

from __future__ import annotations

import inspect
import pickle
from typing import Any

import pytest
from langchain_core import exceptions as lc
from langchain_core.messages import HumanMessage

import llamaint_langchain
from llamaint import errors as runtime
from llamaint.testing import FakeLlama, Script
from llamaint_langchain import ChatLlamaint, Llamaint
from llamaint_langchain._errors import langchain_errors, translate

RUNTIME = [cls for _, cls in inspect.getmembers(runtime, inspect.isclass) if issubclass(cls, runtime.LlamaintError)]
OURS = [
    cls for _, cls in inspect.getmembers(llamaint_langchain, inspect.isclass) if issubclass(cls, runtime.LlamaintError)
]


@pytest.mark.parametrize("cls", [cls for cls in RUNTIME if cls is not runtime.LlamaintError])
def test_every_runtime_error_has_a_twin_that_keeps_class_message_and_numbers(
    cls: type[runtime.LlamaintError],
) -> None:
    twin = translate(cls("what happened", n=3))
    assert isinstance(twin, lc.ModelError)
    assert (str(twin), twin.numbers) == ("what happened", {"n": 3})
    assert isinstance(twin, cls)


@pytest.mark.parametrize("cls", OURS)
def test_twins_cross_process_borders(cls: type[runtime.LlamaintError]) -> None:
    again = pickle.loads(pickle.dumps(cls("what happened", n=3)))
    assert (type(again), str(again), again.numbers) == (cls, "what happened", {"n": 3})


def test_original_error_is_the_cause() -> None:
    with pytest.raises(llamaint_langchain.LlamaintDecodeError) as caught, langchain_errors():
        raise runtime.DecodeError("x")
    assert isinstance(caught.value.__cause__, runtime.DecodeError)


def every_way(chat: ChatLlamaint) -> list[Any]:
    return [
        lambda: chat.invoke("x " * 100),
        lambda: list(chat.stream("x " * 100)),
        lambda: chat.generate([[HumanMessage("x " * 100)]] * 2),
    ]


@pytest.mark.parametrize("way", range(3))
def test_prompt_too_long_is_context_overflow(way: int) -> None:
    ask = every_way(ChatLlamaint(llm=FakeLlama("x", n_ctx=50)))[way]
    with pytest.raises(lc.ContextOverflowError) as caught:
        ask()
    assert isinstance(caught.value, runtime.PromptTooLongError)
    assert caught.value.numbers["n_ctx"] == 50


async def test_prompt_too_long_is_context_overflow_in_async_calls() -> None:
    chat = ChatLlamaint(llm=FakeLlama("x", n_ctx=50))
    with pytest.raises(lc.ContextOverflowError):
        await chat.ainvoke("x " * 100)
    with pytest.raises(lc.ContextOverflowError):
        async for _ in chat.astream("x " * 100):
            pass


def test_missing_file_is_model_not_found() -> None:
    with pytest.raises(lc.ModelNotFoundError) as caught:
        ChatLlamaint(model="/no/such/file.gguf").invoke("x")
    assert isinstance(caught.value, FileNotFoundError)


@pytest.mark.parametrize("adapter", [ChatLlamaint, Llamaint])
def test_timeout_is_a_timeout(adapter: type[Any]) -> None:
    llm = FakeLlama(Script(reply="x", prefill_s=5))
    with pytest.raises(lc.ModelTimeoutError) as caught:
        adapter(llm=llm, timeout=0.05).invoke("x")
    assert isinstance(caught.value, runtime.CancelledError)
    assert caught.value.is_retryable


def test_failure_in_the_middle_of_a_stream_comes_after_what_was_said() -> None:
    chat = ChatLlamaint(llm=FakeLlama(Script(reply="one two three", fail_at=2)))
    said: list[str] = []
    with pytest.raises(lc.ModelAPIError, match="step 2"):
        said.extend(chunk.content for chunk in chat.stream("x"))
    assert said == ["one", " two"]


def test_closed_engine_is_not_worth_a_retry() -> None:
    llm = FakeLlama("x")
    llm.close()
    with pytest.raises(lc.ModelError) as caught:
        ChatLlamaint(llm=llm).invoke("x")
    assert isinstance(caught.value, runtime.ClosedError)
    assert not caught.value.is_retryable


class Full(FakeLlama):
    """Refuses the first requests as a full queue does."""

    def __init__(self, n_refusals: int) -> None:
        super().__init__("came through")
        self.n_refusals = n_refusals
        submit = self._guard.engine.submit

        def refuse(request: Any) -> Any:
            if self.n_refusals:
                self.n_refusals -= 1
                raise runtime.CapacityError("the queue is full")
            return submit(request)

        self._guard.engine.submit = refuse  # type: ignore[method-assign]


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("llamaint_langchain._retry.delay_s", lambda attempt: 0.001)


@pytest.mark.parametrize("adapter", [ChatLlamaint, Llamaint])
async def test_full_queue_is_asked_again_up_to_max_retries(adapter: type[Any]) -> None:
    model = adapter(llm=Full(0), max_retries=2)

    def refuse(n: int) -> None:
        model.llm.n_refusals = n

    refuse(2)
    assert "came through" in str(model.invoke("x"))
    refuse(2)
    assert len(list(model.stream("x"))) > 1
    refuse(2)
    assert "came through" in str(await model.ainvoke("x"))
    refuse(2)
    assert len([chunk async for chunk in model.astream("x")]) > 1
    refuse(3)
    with pytest.raises(lc.ModelRateLimitError, match="full"):
        model.invoke("x")
    refuse(3)
    with pytest.raises(lc.ModelRateLimitError, match="full"):
        async for _ in model.astream("x"):
            pass


def test_full_queue_raises_at_once_by_default() -> None:
    with pytest.raises(lc.ModelRateLimitError):
        ChatLlamaint(llm=Full(1)).invoke("x")
