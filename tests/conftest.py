"""Markers by folder, and the models that most suites use."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.support import tiny_models

_HERE = Path(__file__).parent
# Folder below tests/ -> marker of everything in it.
_MARKERS = {"native": "native", "parity": "parity"}


# A shell that runs the tests in the background has them ignore Ctrl-C, and the programs they start too.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by the folder they live in, so that none forgets."""
    for item in items:
        if _HERE in item.path.parents:
            marker = _MARKERS.get(item.path.relative_to(_HERE).parts[0])
            if marker is not None:
                item.add_marker(marker)


@pytest.fixture(scope="session")
def tiny_llama() -> Path:
    """A llama of 800 kB with random weights."""
    return tiny_models.llama()


@pytest.fixture(scope="session")
def cycle_llama() -> Path:
    """A llama whose greedy answer to ``"abc"`` is ``"defghijklmnopabc..."``, one letter per token."""
    return tiny_models.llama_cycle()


@pytest.fixture(scope="session")
def tiny_bert() -> Path:
    """A BERT of 400 kB with random weights, mean pooling and a window of 128 tokens."""
    return tiny_models.bert_mean()


@pytest.fixture(scope="session")
def smollm2() -> Path:
    """SmolLM2-135M-Instruct Q4_1 (98 MB), pulled once through `llamaint.hub`."""
    from llamaint import hub

    return hub.resolve("smollm2-135m")


@pytest.fixture(scope="session")
def minilm() -> Path:
    """all-MiniLM-L6-v2 as a GGUF, pulled and converted once through `llamaint.hub`."""
    from llamaint import hub

    return hub.resolve("minilm-l6")
