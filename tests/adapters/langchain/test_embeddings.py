"""Embeddings."""

from __future__ import annotations

import asyncio
import copy
import pickle
from typing import Any

import numpy as np
import pytest
from langchain_core import exceptions as lc
from langchain_core.vectorstores import InMemoryVectorStore
from pydantic import ValidationError

from llamaint.testing import FakeEmbedding
from llamaint_langchain import LlamaintEmbeddings


class Recording(FakeEmbedding):
    """Remembers what it was asked."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.calls: list[tuple[list[str], dict[str, Any]]] = []

    def embed(self, texts: Any, **options: Any) -> Any:
        self.calls.append((texts, options))
        return super().embed(texts, **options)

    async def aembed(self, texts: Any, **options: Any) -> Any:
        self.calls.append((texts, options))
        return await super().aembed(texts, **options)


async def test_every_way_gives_the_same_vectors() -> None:
    embeddings = LlamaintEmbeddings(embedder=FakeEmbedding())
    texts = ["one", "", "two words", "one"]
    vectors = embeddings.embed_documents(texts)
    assert vectors == await embeddings.aembed_documents(texts)
    assert vectors[0] == vectors[3] == embeddings.embed_query("one") == await embeddings.aembed_query("one")
    assert vectors[0] != vectors[2]


async def test_vectors_are_lists_of_python_floats_of_unit_length() -> None:
    embeddings = LlamaintEmbeddings(embedder=FakeEmbedding())
    for vector in (embeddings.embed_query("one two"), await embeddings.aembed_query("one two")):
        assert type(vector) is list
        assert {type(value) for value in vector} == {float}
        assert np.linalg.norm(vector) == pytest.approx(1)


async def test_no_texts_give_no_vectors() -> None:
    embeddings = LlamaintEmbeddings(embedder=FakeEmbedding())
    assert embeddings.embed_documents([]) == await embeddings.aembed_documents([]) == []


async def test_instructions_stand_before_queries_and_documents() -> None:
    engine = Recording()
    embeddings = LlamaintEmbeddings(embedder=engine, query_instruction="query: ", document_instruction="passage: ")
    embeddings.embed_query("a")
    embeddings.embed_documents(["b"])
    await embeddings.aembed_query("c")
    await embeddings.aembed_documents(["d"])
    assert [texts for texts, _ in engine.calls] == [["query: a"], ["passage: b"], ["query: c"], ["passage: d"]]


async def test_batch_size_bounds_requests_and_keeps_the_order() -> None:
    engine = Recording()
    texts = [f"text {n}" for n in range(7)]
    at_once = LlamaintEmbeddings(embedder=engine).embed_documents(texts)
    embeddings = LlamaintEmbeddings(embedder=engine, batch_size=3)
    assert embeddings.embed_documents(texts) == await embeddings.aembed_documents(texts) == at_once
    assert [len(texts) for texts, _ in engine.calls] == [7, 3, 3, 1, 3, 3, 1]


def test_normalize_and_truncate_reach_the_engine() -> None:
    engine = Recording()
    LlamaintEmbeddings(embedder=engine, normalize=0, truncate=True).embed_query("x")
    assert engine.calls[0][1] == {"normalize": 0, "truncate": True}


def test_text_longer_than_the_window_is_context_overflow_unless_cut() -> None:
    engine = FakeEmbedding(n_ctx=3)
    with pytest.raises(lc.ContextOverflowError) as caught:
        LlamaintEmbeddings(embedder=engine).embed_documents(["short", "one two three four"])
    assert caught.value.numbers == {"index": 1, "n_prompt": 4, "n_ctx": 3}
    embeddings = LlamaintEmbeddings(embedder=engine, truncate=True)
    assert embeddings.embed_query("one two three four") == embeddings.embed_query("one two three")


def test_building_loads_nothing_and_settings_reach_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[tuple[str, dict[str, Any]]] = []

    def take(model: str, **settings: Any) -> FakeEmbedding:
        taken.append((model, settings))
        return FakeEmbedding()

    monkeypatch.setattr("llamaint.shared_embedding", take)
    embeddings = LlamaintEmbeddings(
        model="m", pooling="cls", n_ctx=64, n_threads=2, n_gpu_layers=0, engine_kwargs={"n_ubatch": 64}
    )
    assert taken == []
    embeddings.embed_query("x")
    embeddings.embed_query("y")
    settings = {"pooling": "cls", "n_ctx": 64, "n_threads": 2, "n_gpu_layers": 0, "n_ubatch": 64}
    assert taken == [("m", settings)]
    assert pickle.loads(pickle.dumps(embeddings)) == embeddings
    assert copy.deepcopy(embeddings).embed_query("x") == embeddings.embed_query("x")


async def test_engine_is_given_back_and_taken_again(monkeypatch: pytest.MonkeyPatch) -> None:
    engines: list[FakeEmbedding] = []

    def take(model: str) -> FakeEmbedding:
        engines.append(FakeEmbedding())
        return engines[-1]

    monkeypatch.setattr("llamaint.shared_embedding", take)
    async with LlamaintEmbeddings(model="m") as embeddings:
        await embeddings.awarmup()
        assert not engines[0].closed
    assert engines[0].closed
    with embeddings:
        embeddings.warmup().embed_query("x")
    assert [engine.closed for engine in engines] == [True, True]


@pytest.mark.parametrize(
    "fields",
    [
        {"modle": "x"},
        {"engine_kwargs": {"n_ctxx": 1}},
        {"engine_kwargs": {"n_ctx": 1}},
        {"batch_size": 0},
        {"pooling": "none"},
        {"embedder": FakeEmbedding(), "n_ctx": 5},
        {"embedder": "no engine"},
    ],
    ids=lambda fields: " ".join(fields),
)
def test_setting_that_cannot_work_is_refused_when_built(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        LlamaintEmbeddings(model="m", **fields)


def test_no_model_at_all_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LLAMAINT_EMBEDDING_MODEL", raising=False)
    with pytest.raises(ValidationError, match="LLAMAINT_EMBEDDING_MODEL"):
        LlamaintEmbeddings()


async def test_store_finds_the_nearest_text() -> None:
    store = InMemoryVectorStore(LlamaintEmbeddings(embedder=FakeEmbedding()))
    await store.aadd_texts(["the cat sat", "a dog ran", "green tea"])
    found = await store.asimilarity_search("where is the cat", k=1)
    assert found[0].page_content == "the cat sat"


async def test_many_callers_share_the_engine() -> None:
    embeddings = LlamaintEmbeddings(embedder=FakeEmbedding())
    vectors = await asyncio.gather(*(embeddings.aembed_query(f"text {n}") for n in range(50)))
    assert vectors == embeddings.embed_documents([f"text {n}" for n in range(50)])
