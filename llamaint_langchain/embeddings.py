"""`LlamaintEmbeddings`: texts to vectors, in this process, for LangChain's vector stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from langchain_core.embeddings import Embeddings
from langchain_core.utils import from_env
from pydantic import (
    Field,
    PrivateAttr,
    field_validator,
    model_validator,
)
from typing_extensions import Self, override

import llamaint
from llamaint.types import EmbeddingParams, ModelParams
from llamaint_langchain._embedder import Embedder  # noqa: TC001 - pydantic reads the annotation
from llamaint_langchain._errors import langchain_errors
from llamaint_langchain._lease import Lease
from llamaint_langchain._life import (
    EngineLife,
    check_settings,
    check_source,
    field_names,
    given,
    model_text,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

_FIELDS = frozenset({"pooling", "n_ctx", "n_threads", "n_gpu_layers"})
_KNOWN = field_names(ModelParams, EmbeddingParams) - _FIELDS


def _take(model: str, settings: Mapping[str, Any]) -> Embedder:
    return llamaint.shared_embedding(model, **settings)


class LlamaintEmbeddings(EngineLife, Embeddings):
    """Embed texts with a GGUF model in this process. Nothing is loaded until first use.

    ```python
    embeddings = LlamaintEmbeddings(model="minilm-l6")
    vector = embeddings.embed_query("Why is the sky blue?")
    ```

    Objects with equal settings share one engine. ``None`` leaves a setting to the runtime.

    Attributes:
        model: path of a GGUF file, alias (``"minilm-l6"``) or ``"hf:owner/repo[:quant]"``; the
            environment variable ``LLAMAINT_EMBEDDING_MODEL`` if not given.
        embedder: an engine of your own instead; it stays yours to close.
        query_instruction: put before a query, as some models ask (``"query: "``).
        document_instruction: put before each document.
        normalize: 2 or ``True`` for unit length, ``False`` for raw vectors; others as `llamaint.LlamaEmbedding.embed`.
        truncate: cut texts longer than the model's window; otherwise they raise
            `LlamaintContextOverflowError`.
        batch_size: texts in one request; ``None`` sends all at once. Smaller ones let other callers in between.
        pooling, n_ctx, n_threads, n_gpu_layers: see `llamaint.types.EmbeddingParams` and `ModelParams`.
        engine_kwargs: any other field of those two.
    """

    model: str = Field(default_factory=from_env("LLAMAINT_EMBEDDING_MODEL", default=""))
    embedder: Embedder | None = Field(default=None, exclude=True, repr=False)
    query_instruction: str = ""
    document_instruction: str = ""
    normalize: bool | int | float = 2
    truncate: bool = False
    batch_size: int | None = Field(default=None, ge=1)
    pooling: Literal["auto", "mean", "cls", "last"] | None = None
    n_ctx: int | None = None
    n_threads: int | Literal["auto"] | None = None
    n_gpu_layers: int | Literal["auto", "all"] | None = None
    engine_kwargs: dict[str, Any] = Field(default_factory=dict)

    _lease: Lease[Embedder] = PrivateAttr(default_factory=lambda: Lease(_take))

    @field_validator("model", mode="before")
    @classmethod
    def _path_to_text(cls, model: object) -> object:
        return model_text(model)

    @model_validator(mode="after")
    def _check_engine(self) -> Self:
        check_settings(self.engine_kwargs, _KNOWN)
        check_source(self.model, self.embedder, self._settings(), "LLAMAINT_EMBEDDING_MODEL")
        return self

    def _named_settings(self) -> dict[str, object]:
        return given(
            pooling=self.pooling,
            n_ctx=self.n_ctx,
            n_threads=self.n_threads,
            n_gpu_layers=self.n_gpu_layers,
        )

    def _settings(self) -> dict[str, object]:
        return {**self._named_settings(), **self.engine_kwargs}

    @override
    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        # The copy shares the engine: copying one would load the model again.
        memo = {} if memo is None else memo
        memo[id(self.embedder)] = self.embedder
        return super().__deepcopy__(memo)

    @override
    def _own_engine(self) -> Embedder:
        return self.embedder or self._lease.get(self.model, self._settings())

    @override
    async def _aown_engine(self) -> Embedder:
        return self.embedder or await self._lease.aget(self.model, self._settings())

    def _batches(self, texts: list[str]) -> list[list[str]]:
        size = self.batch_size or len(texts) or 1
        return [texts[start : start + size] for start in range(0, len(texts), size)]

    def _embed(self, texts: list[str]) -> list[list[float]]:
        vectors: list[list[float]] = []
        with langchain_errors():
            for batch in self._batches(texts):
                found = self._own_engine().embed(batch, normalize=self.normalize, truncate=self.truncate)
                vectors.extend(found.tolist())
        return vectors

    async def _aembed(self, texts: list[str]) -> list[list[float]]:
        vectors: list[list[float]] = []
        with langchain_errors():
            for batch in self._batches(texts):
                engine = await self._aown_engine()
                found = await engine.aembed(batch, normalize=self.normalize, truncate=self.truncate)
                vectors.extend(found.tolist())
        return vectors

    @override
    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """One vector of Python floats for each text, in order."""
        return self._embed([self.document_instruction + text for text in texts])

    @override
    def embed_query(self, text: str) -> list[float]:
        """The vector of a query, comparable with those of documents."""
        return self._embed([self.query_instruction + text])[0]

    @override
    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        """`embed_documents` without a thread."""
        return await self._aembed([self.document_instruction + text for text in texts])

    @override
    async def aembed_query(self, text: str) -> list[float]:
        """`embed_query` without a thread."""
        return (await self._aembed([self.query_instruction + text]))[0]
