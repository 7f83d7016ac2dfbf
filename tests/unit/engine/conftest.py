"""An engine of scripts behind a guard, with the handles that production code uses."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from llamaint.backend.requests import EngineRequest
from llamaint.engine.guard import EngineGuard
from llamaint.engine.handle import RequestHandle
from llamaint.testing.fake_engine import FakeEngine
from llamaint.testing.fake_model import FakeModel
from llamaint.testing.script import Playbook, ScriptLike
from llamaint.types import ContextParams


class Bench:
    """Submits requests to a scripted engine."""

    def __init__(self, scripts: ScriptLike, **context: int) -> None:
        self.engine = FakeEngine(FakeModel(), ContextParams(**context), Playbook(scripts))
        self.guard = EngineGuard(self.engine, "bench")

    def submit(self, **request: object) -> RequestHandle:
        return RequestHandle(self.guard, EngineRequest(**{"prompt": [1, 2, 3], **request}))


@pytest.fixture
def bench():
    """Opens benches; closes them at the end."""
    opened: list[Bench] = []

    def open_(scripts: ScriptLike = "one two three", **context: int) -> Bench:
        opened.append(Bench(scripts, **context))
        return opened[-1]

    yield open_
    for each in opened:
        each.guard.close()


@pytest.fixture
def text_of() -> Callable[[RequestHandle], str]:
    """Reads a handle to its end."""

    def read(handle: RequestHandle) -> str:
        text = ""
        while chunks := handle.read():
            text += "".join(chunk.text for chunk in chunks)
        return text

    return read
