"""Settings, sharing and copies of the embedding model."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from llama_index.core.storage.kvstore import SimpleKVStore
from pydantic import ValidationError

from llamaint.errors import PromptTooLongError
from llamaint.testing import FakeEmbedding
from llamaint_llamaindex import LlamaintEmbedding


class Recording(FakeEmbedding):
    """Remembers what it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[list[str], dict[str, Any]]] = []

    def embed(self, texts: Any, **options: Any) -> Any:
        self.calls.append((texts, options))
        return super().embed(texts, **options)

    async def aembed(self, texts: Any, **options: Any) -> Any:
        self.calls.append((texts, options))
        return await super().aembed(texts, **options)


async def test_instructions_stand_before_queries_and_texts() -> None:
    engine = Recording()
    model = LlamaintEmbedding(embedder=engine, query_instruction="query: ", text_instruction="passage: ")
    model.get_query_embedding("a")
    model.get_text_embedding("b")
    model.get_text_embedding_batch(["c"])
    await model.aget_query_embedding("d")
    await model.aget_text_embedding("e")
    await model.aget_text_embedding_batch(["f"])
    asked = [texts[0] for texts, _ in engine.calls]
    assert asked == ["query: a", "passage: b", "passage: c", "query: d", "passage: e", "passage: f"]


async def test_batches_are_one_request_each() -> None:
    engine = Recording()
    model = LlamaintEmbedding(embedder=engine, embed_batch_size=3)
    texts = [f"text {n}" for n in range(7)]
    assert model.get_text_embedding_batch(texts) == await model.aget_text_embedding_batch(texts)
    assert sorted(len(texts) for texts, _ in engine.calls) == [1, 1, 3, 3, 3, 3]


def test_normalize_and_truncate_reach_the_engine() -> None:
    engine = Recording()
    LlamaintEmbedding(embedder=engine, normalize=0, truncate=True).get_text_embedding("x")
    assert engine.calls[0][1] == {"normalize": 0, "truncate": True}


def test_vectors_have_unit_length() -> None:
    vector = LlamaintEmbedding(embedder=FakeEmbedding()).get_text_embedding("one two")
    assert np.linalg.norm(vector) == pytest.approx(1)


def test_text_longer_than_the_window_is_refused_unless_cut() -> None:
    engine = FakeEmbedding(n_ctx=3)
    with pytest.raises(PromptTooLongError):
        LlamaintEmbedding(embedder=engine).get_text_embedding("one two three four")
    assert LlamaintEmbedding(embedder=engine, truncate=True).get_text_embedding("one two three four")


def test_cache_that_would_mix_up_queries_and_texts_is_refused() -> None:
    with pytest.raises(ValidationError, match="embeddings_cache"):
        LlamaintEmbedding(model_name="m", query_instruction="query: ", embeddings_cache=SimpleKVStore())


def test_cache_answers_the_second_time() -> None:
    engine = Recording()
    model = LlamaintEmbedding(embedder=engine, embeddings_cache=SimpleKVStore())
    assert model.get_text_embedding("x") == model.get_text_embedding("x")
    assert len(engine.calls) == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"model": "x"},
        {"engine_kwargs": {"n_ctxx": 1}},
        {"engine_kwargs": {"n_ctx": 1}},
        {"pooling": "none"},
        {"embed_batch_size": 0},
        {"embedder": FakeEmbedding(), "n_ctx": 5},
        {"embedder": "no engine"},
    ],
    ids=lambda fields: " ".join(fields),
)
def test_setting_that_cannot_work_is_refused_when_built(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        LlamaintEmbedding(model_name="m", **fields)


def test_engine_is_taken_once_with_its_settings_and_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[tuple[str, dict[str, Any], FakeEmbedding]] = []

    def take(model: str, **settings: Any) -> FakeEmbedding:
        taken.append((model, settings, FakeEmbedding()))
        return taken[-1][2]

    monkeypatch.setattr("llamaint.shared_embedding", take)
    model = LlamaintEmbedding(model_name="m", pooling="cls", engine_kwargs={"n_ubatch": 64})
    assert taken == []
    model.get_text_embedding("x")
    model.get_text_embedding("y")
    assert [(name, settings) for name, settings, _ in taken] == [("m", {"pooling": "cls", "n_ubatch": 64})]
    model.close()
    assert taken[0][2].closed


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_copies_give_the_same_vectors(copied: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = FakeEmbedding()
    monkeypatch.setattr("llamaint.shared_embedding", lambda model, **settings: engine)
    model = LlamaintEmbedding(model_name="m", query_instruction="query: ", embed_batch_size=7).warmup()
    again = copied(model)
    assert again.to_dict() == model.to_dict()
    assert again.get_query_embedding("x") == model.get_query_embedding("x")


def test_tracing_sees_no_path() -> None:
    payload = LlamaintEmbedding(model_name="/some/where/m.gguf").to_payload()
    assert payload == {"class_name": "LlamaintEmbedding", "model_name": "m.gguf", "embed_batch_size": 32}
