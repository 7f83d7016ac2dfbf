"""One model at a time: our engine and llama.cpp's server on the same file with the same settings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from llamaint import Llama
from tests.support import tiny_models
from tests.support.llama_server import Completion, LlamaServer
from tests.support.parity import Parting, prompts
from tests.support.row_noise import RowNoise

# One thread: two that wait for each other are slow on a busy machine, and the bits are the same.
SETTINGS = {"n_threads": 1, "n_batch": 2048, "n_ubatch": 512, "flash_attn": "on"}
N_CTX = 4096
N_PREDICT = 32
TEXT_MODELS = ("smollm2", *tiny_models.text_models())

_report: list[str] = []


def model_path(name: str) -> Path:
    """A model of the zoo, or a real one by its alias."""
    if name == "smollm2":
        from llamaint import hub

        return hub.resolve("smollm2-135m")
    return tiny_models.text_models()[name]


@pytest.fixture(scope="module")
def model(request: pytest.FixtureRequest) -> str:
    """The name of the model under test; parametrised by the module."""
    return request.param


@pytest.fixture(scope="module")
def server(model: str) -> Iterator[LlamaServer]:
    with LlamaServer(model_path(model), n_ctx=N_CTX, **SETTINGS) as running:
        yield running


@pytest.fixture(scope="module")
def noise_of(model: str) -> Iterator[RowNoise]:
    with RowNoise(model_path(model), n_ctx=N_CTX) as asked:
        yield asked


@pytest.fixture(scope="module")
def greedy(model: str) -> dict[str, object]:
    """Keywords of `Llama.complete` for greedy tokens; random weights may end anywhere, so they must go on."""
    return {"max_tokens": N_PREDICT, "temperature": 0.0, "ignore_eos": model != "smollm2"}


@pytest.fixture(scope="module")
def reference(model: str, server: LlamaServer) -> list[Completion]:
    """The server's greedy answers to all prompts, one request at a time."""
    return [server.complete(prompt, max_tokens=N_PREDICT, ignore_eos=model != "smollm2") for prompt in prompts()]


@pytest.fixture(scope="module")
def open_llama(model: str) -> Iterator[Callable[..., Llama]]:
    """Opens the model with the server's settings and those given; closes it after the module."""
    opened = []

    def opener(**settings: object) -> Llama:
        opened.append(Llama(model_path(model), **{"n_ctx": N_CTX, **SETTINGS, **settings}))
        return opened[-1]

    yield opener
    for llm in opened:
        llm.close()


def _excess(place: tuple[int, Parting]) -> float:
    return 2 * place[1].noise - place[1].gap


@pytest.fixture
def check_partings(model: str, request: pytest.FixtureRequest) -> Callable[[dict[int, Parting]], None]:
    """Notes the partings (prompt number -> parting) for the summary and fails on one without excuse."""

    def check(found: dict[int, Parting]) -> None:
        closest = [f"prompt {number} at {one}" for number, one in sorted(found.items(), key=_excess)]
        if found:
            _report.append(f"{request.node.name}: {len(found)} prompts, the tightest: {closest[0]}")
        assert [f"prompt {number} at {one}" for number, one in found.items() if not one.excused] == []

    return check


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how often equal prompts parted, and where."""
    if _report:
        terminalreporter.section("partings excused by llama.cpp's own difference")
        for line in _report:
            terminalreporter.write_line(line)
