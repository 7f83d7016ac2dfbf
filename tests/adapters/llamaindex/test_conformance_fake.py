"""The suites over the fake engine."""

from __future__ import annotations

import pytest

from llamaint.testing import FakeEmbedding, FakeLlama
from llamaint_llamaindex import Llamaint, LlamaintEmbedding
from tests.adapters.llamaindex.conformance import EmbeddingConformance, LLMConformance


class TestFakeLLM(LLMConformance):
    @pytest.fixture
    def llm(self) -> Llamaint:
        return Llamaint(llm=FakeLlama("The capital of France is Paris, I am told."))


class TestFakeEmbedding(EmbeddingConformance):
    @pytest.fixture
    def embed_model(self) -> LlamaintEmbedding:
        return LlamaintEmbedding(embedder=FakeEmbedding())
