"""The command line over fakes: `llamaint.Llama` and `llamaint.LlamaEmbedding` answer from scripts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import llamaint
from llamaint.cli.app import app
from llamaint.testing import FakeEmbedding, FakeLlama


class RecordingLlama(FakeLlama):
    """A fake whose requests can be read after a command has closed it."""

    _closed_requests: list[Any] | None = None

    @property
    def requests(self) -> list[Any]:
        return super().requests if self._closed_requests is None else self._closed_requests

    def close(self) -> None:
        if not self.closed:
            self._closed_requests = list(super().requests)
        super().close()


@dataclass
class Fakes:
    """What the commands load instead of models.

    Attributes:
        script: what the language model answers.
        opened: (name, settings) of each load.
        llm: the language model loaded last.
    """

    script: Any = "The answer is 42."
    opened: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    llm: RecordingLlama | None = None

    def note(self, name: str, settings: dict[str, Any]) -> None:
        self.opened.append((name, {key: value for key, value in settings.items() if key != "progress"}))


@pytest.fixture(autouse=True)
def quiet_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("LLAMAINT_CACHE", str(tmp_path / "cache"))
    for name in ("LLAMAINT_MODEL", "LLAMAINT_EMBEDDING_MODEL", "LLAMAINT_OFFLINE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def fakes(monkeypatch) -> Fakes:
    fakes = Fakes()

    class Llama(RecordingLlama):
        def __init__(self, name: str, **settings: Any) -> None:
            fakes.note(name, settings)
            fakes.llm = self
            super().__init__(fakes.script, name=name, **settings)

    class LlamaEmbedding(FakeEmbedding):
        def __init__(self, name: str, **settings: Any) -> None:
            fakes.note(name, settings)
            super().__init__(name=name, **settings)

    monkeypatch.setattr(llamaint, "Llama", Llama)
    monkeypatch.setattr(llamaint, "LlamaEmbedding", LlamaEmbedding)
    return fakes


@pytest.fixture
def run() -> Callable[..., Result]:
    """Runs a command: ``run("chat", "--once", "Hi", input="")``."""

    def call(*arguments: str, **settings: Any) -> Result:
        return CliRunner().invoke(app, list(arguments), catch_exceptions=False, **settings)

    return call
