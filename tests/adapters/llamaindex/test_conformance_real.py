"""The suites over SmolLM2 and MiniLM, and an answer from an index."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from llama_index.core import Document, VectorStoreIndex
from llama_index.core.ingestion import IngestionPipeline

from llamaint_llamaindex import Llamaint, LlamaintEmbedding
from tests.adapters.llamaindex.conformance import EmbeddingConformance, LLMConformance

pytestmark = pytest.mark.native

# The promise that nothing else in the engine changes an answer holds for this setting.
ENGINE: dict[str, Any] = {"n_ctx": 4096, "engine_kwargs": {"deterministic": True}}


@pytest.fixture(scope="module")
def shared_llm(smollm2: Path) -> Iterator[Llamaint]:
    """Holds the engine, so that the objects of all tests share one."""
    with Llamaint(model=smollm2, **ENGINE).warmup() as llm:
        yield llm


@pytest.fixture(scope="module")
def shared_embed_model(minilm: Path) -> Iterator[LlamaintEmbedding]:
    """Holds the engine, so that the objects of all tests share one."""
    with LlamaintEmbedding(model_name=minilm).warmup() as embed_model:
        yield embed_model


class TestSmolLM2(LLMConformance):
    @pytest.fixture
    def llm(self, shared_llm: Llamaint) -> Llamaint:
        return Llamaint(model=shared_llm.model, **ENGINE, temperature=0, max_tokens=24)


class TestMiniLM(EmbeddingConformance):
    @pytest.fixture
    def embed_model(self, shared_embed_model: LlamaintEmbedding) -> LlamaintEmbedding:
        return LlamaintEmbedding(model_name=shared_embed_model.model_name)


DOCUMENTS = [
    Document(text="The engine is a C++ thread that never holds the interpreter lock."),
    Document(text="Bread needs flour, water, salt and time."),
]


async def test_query_engine_answers_from_the_right_text(
    shared_llm: Llamaint, shared_embed_model: LlamaintEmbedding
) -> None:
    llm = Llamaint(model=shared_llm.model, **ENGINE, temperature=0, max_tokens=32)
    embed_model = LlamaintEmbedding(model_name=shared_embed_model.model_name)
    index = VectorStoreIndex.from_documents(DOCUMENTS, embed_model=embed_model)
    engine = index.as_query_engine(llm=llm, similarity_top_k=1)
    answer = engine.query("What does bread need?")
    assert str(answer)
    assert answer.source_nodes[0].text == DOCUMENTS[1].text
    assert str(await engine.aquery("What does bread need?")) == str(answer)
    streaming = index.as_query_engine(llm=llm, similarity_top_k=1, streaming=True)
    assert "".join(streaming.query("What does bread need?").response_gen) == str(answer)


def test_worker_processes_load_their_own_model(shared_embed_model: LlamaintEmbedding) -> None:
    embed_model = LlamaintEmbedding(model_name=shared_embed_model.model_name).warmup()
    want = IngestionPipeline(transformations=[embed_model]).run(documents=DOCUMENTS)
    nodes = IngestionPipeline(transformations=[embed_model]).run(documents=DOCUMENTS, num_workers=2)
    assert {node.text: node.embedding for node in nodes} == {node.text: node.embedding for node in want}
