"""200 damaged model files: each is loaded and used in a child process, which must answer and live."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.support import tiny_models
from tests.support.mutations import damaged_copies
from tests.support.worker_pool import LoadWorker

_MODELS = (
    tiny_models.llama,
    tiny_models.llama_spm,
    tiny_models.llama_q4_0,
    tiny_models.gemma3,
    tiny_models.qwen35_mtp,
    tiny_models.mamba,
    tiny_models.bert_mean,
    tiny_models.gemma_embedding,
)
_EACH = 25
# Codes that fit a damaged file; "template" and "request": its damage lies in the template or the vocabulary.
_EXPECTED = {"ok", "model_load", "unsupported", "config", "capacity", "numeric", "template", "request", "grammar"}


def kind(answer: str) -> str:
    """The code in a worker's answer; errors of a request carry it behind the class's name."""
    return answer.split(": ")[-1]


@pytest.mark.parametrize("make", _MODELS, ids=lambda make: make.__name__)
def test_a_damaged_model_is_an_error_or_works_and_never_ends_the_process(make, tmp_path: Path) -> None:
    worker = LoadWorker(tmp_path / "stderr.txt")
    answers: Counter[str] = Counter()
    deaths = []
    path = tmp_path / "damaged.gguf"
    for damaged in damaged_copies(make(), _EACH, seed=7):
        path.write_bytes(damaged.content)
        outcome = worker.run(path)
        if outcome.died:
            deaths.append(f"{damaged.what}: exit {outcome.exit_code}: {outcome.stderr}")
        else:
            answers[kind(str(outcome.answer))] += 1
    worker.close()
    assert not deaths, "\n".join(deaths)
    assert answers.total() == _EACH
    assert set(answers) <= _EXPECTED
    assert answers["model_load"] > 0


def test_the_same_seed_damages_the_same_way() -> None:
    first, second = (list(damaged_copies(tiny_models.llama(), 5, seed=1)) for _ in range(2))
    assert first == second
    assert first != list(damaged_copies(tiny_models.llama(), 5, seed=2))


def test_a_worker_that_dies_is_noticed(tmp_path: Path) -> None:
    worker = LoadWorker(tmp_path / "stderr.txt")
    assert worker.run(tiny_models.llama()).answer == "ok"
    worker.kill()
    outcome = worker.run(tiny_models.llama())
    assert outcome.died
    assert outcome.exit_code == -9
    assert worker.run(tiny_models.llama()).answer == "ok"
    worker.close()
