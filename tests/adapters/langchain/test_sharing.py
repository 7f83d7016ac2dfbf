"""When engines are taken, shared and given back."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from llamaint.testing import FakeLlama
from llamaint_langchain import ChatLlamaint, Llamaint


class Registry:
    """Stands in for `llamaint.shared_llama`: counts references, frees with the last."""

    def __init__(self) -> None:
        self.taken: list[tuple[str, dict[str, Any]]] = []
        self.open: dict[tuple[str, str], FakeLlama] = {}
        self.users = 0
        self._lock = threading.Lock()

    def __call__(self, model: str, **settings: Any) -> FakeLlama:
        with self._lock:
            self.taken.append((model, settings))
            self.users += 1
            key = (model, repr(sorted(settings.items())))
            if key not in self.open:
                self.open[key] = Counted(self, model)
            return self.open[key]


class Counted(FakeLlama):
    def __init__(self, registry: Registry, model: str) -> None:
        super().__init__(f"from {model}", name=model)
        self._registry = registry

    def close(self) -> None:
        self._registry.users -= 1
        if self._registry.users == 0:
            self._registry.open.clear()
            super().close()


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Registry:
    registry = Registry()
    monkeypatch.setattr("llamaint.shared_llama", registry)
    return registry


def test_building_loads_nothing_and_the_first_call_does(registry: Registry) -> None:
    chat = ChatLlamaint(model="m")
    assert registry.taken == []
    chat.invoke("x")
    chat.invoke("x")
    assert registry.taken == [("m", {})]


def test_settings_reach_the_engine_by_the_runtimes_names(registry: Registry) -> None:
    ChatLlamaint(
        model="m",
        n_ctx=512,
        n_parallel=2,
        n_gpu_layers="all",
        n_threads="auto",
        chat_template="{{ x }}",
        engine_kwargs={"flash_attn": "on"},
    ).warmup()
    assert registry.taken[0][1] == {
        "n_ctx": 512,
        "n_parallel": 2,
        "n_gpu_layers": "all",
        "n_threads": "auto",
        "chat_template": "{{ x }}",
        "flash_attn": "on",
    }


def test_objects_with_equal_settings_share_one_engine(registry: Registry) -> None:
    one, two = ChatLlamaint(model="m", temperature=0).warmup(), Llamaint(model="m").warmup()
    assert one._engine("m") is two._engine("m")
    one.close()
    assert two.invoke("x") == "from m"
    two.close()
    assert registry.open == {}


def test_closing_gives_back_and_the_next_call_takes_again(registry: Registry) -> None:
    chat = ChatLlamaint(model="m")
    with chat:
        chat.invoke("x")
        assert registry.users == 1
    assert registry.users == 0
    assert chat.invoke("x").content == "from m"
    assert registry.users == 1


async def test_async_context_warms_up_and_gives_back(registry: Registry) -> None:
    async with ChatLlamaint(model="m") as chat:
        await chat.awarmup()
        assert registry.users == 1
    assert registry.users == 0


def test_engine_of_the_user_is_not_closed() -> None:
    llm = FakeLlama("x")
    with ChatLlamaint(llm=llm) as chat:
        chat.invoke("x")
    assert not llm.closed
    assert chat.model == "fake"


def test_threads_that_race_for_the_first_use_hold_one_reference(registry: Registry) -> None:
    chat = ChatLlamaint(model="m")
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: chat.invoke("x").content, range(64)))
    assert set(answers) == {"from m"}
    assert registry.users == 1


def test_changed_setting_takes_another_engine(registry: Registry) -> None:
    chat = ChatLlamaint(model="m").warmup()
    chat.n_ctx = 512
    chat.invoke("x")
    assert [settings for _, settings in registry.taken] == [{}, {"n_ctx": 512}]
    chat.close()
    assert registry.users == 0


def test_dropped_object_drops_its_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("llamaint.shared_llama", lambda model: FakeLlama("x"))
    chat = ChatLlamaint(model="m")
    engine = weakref.ref(chat._engine("m"))
    del chat
    gc.collect()
    assert engine() is None


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda chat: pickle.loads(pickle.dumps(chat))])
def test_copies_answer_with_the_same_settings(registry: Registry, copied: Any) -> None:
    chat = ChatLlamaint(model="m", temperature=0.5, n_ctx=512).warmup()
    again = copied(chat)
    assert again == chat
    assert again.invoke("x").content == "from m"
    assert again._engine("m") is chat._engine("m")


def test_deep_copy_shares_the_engine_of_the_user() -> None:
    llm = FakeLlama("x")
    assert copy.deepcopy(ChatLlamaint(llm=llm)).llm is llm


def test_pickled_engine_of_the_user_comes_back_open() -> None:
    again = pickle.loads(pickle.dumps(ChatLlamaint(llm=FakeLlama("again"))))
    assert again.invoke("x").content == "again"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # fork with threads is what is tested
def test_forked_child_takes_its_own_engine(registry: Registry) -> None:
    chat = ChatLlamaint(model="m").warmup()
    pid = os.fork()
    if pid == 0:
        registry.open.clear()
        ok = chat.invoke("x").content == "from m" and len(registry.taken) == 2
        os._exit(0 if ok else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_profile_is_filled_when_the_engine_is_loaded(registry: Registry) -> None:
    chat = ChatLlamaint(model="m")
    assert chat.profile is not None
    assert "max_input_tokens" not in chat.profile
    assert chat.profile["tool_calling"] is False
    chat.warmup()
    assert chat.profile["max_input_tokens"] == 4096


def test_profile_of_the_user_is_left_alone(registry: Registry) -> None:
    chat = ChatLlamaint(model="m", profile={"max_input_tokens": 5}).warmup()
    assert chat.profile == {"max_input_tokens": 5}
