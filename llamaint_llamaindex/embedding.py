"""`LlamaintEmbedding`: texts to vectors, in this process, for LlamaIndex."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from llama_index.core.base.embeddings.base import BaseEmbedding, Embedding
from pydantic import (
    ConfigDict,
    Field,
    PrivateAttr,
    field_validator,
    model_validator,
)
from typing_extensions import Self, override

import llamaint
from llamaint.errors import ConfigError
from llamaint.types import EmbeddingParams, ModelParams
from llamaint_llamaindex._embedder import Embedder  # noqa: TC001 - pydantic reads the annotation
from llamaint_llamaindex._lease import Lease
from llamaint_llamaindex._life import EngineLife
from llamaint_llamaindex._options import (
    check_settings,
    check_source,
    field_names,
    given,
    model_name,
    model_text,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

_ENGINE = field_names(ModelParams, EmbeddingParams) - {"pooling", "n_ctx", "n_threads", "n_gpu_layers"}


def _take(model: str, settings: Mapping[str, Any]) -> Embedder:
    return llamaint.shared_embedding(model, **settings)


class LlamaintEmbedding(EngineLife, BaseEmbedding):
    """Embed texts with a GGUF model in this process. Nothing is loaded until first use.

    ```python
    embed_model = LlamaintEmbedding(model_name="minilm-l6")
    embed_model.get_query_embedding("Why is the sky blue?")
    ```

    Components with equal settings share one engine, copies and unpickled ones too; a worker process
    loads its own on first use. ``None`` leaves a setting to the runtime.

    Attributes:
        model_name: path of a GGUF file, alias (``"minilm-l6"``) or ``"hf:owner/repo[:quant]"``.
        embedder: an engine of your own instead; it stays yours to close. Not serialised.
        embed_batch_size: texts in one request; the engine packs them into as few decodes as it can.
        query_instruction: put before a query, as some models ask (``"query: "``).
        text_instruction: put before each text of a node.
        normalize: 2 or ``True`` for unit length, ``False`` for raw vectors; others as `llamaint.LlamaEmbedding.embed`.
        truncate: cut texts longer than the model's window; otherwise they raise
            `llamaint.errors.PromptTooLongError`.
        pooling, n_ctx, n_threads, n_gpu_layers: see `llamaint.types.EmbeddingParams` and `ModelParams`.
        engine_kwargs: any other field of those two.
    """

    model_config = ConfigDict(
        extra="forbid",
        arbitrary_types_allowed=True,
        protected_namespaces=("pydantic_model_",),
    )

    model_name: str = ""
    embedder: Embedder | None = Field(default=None, exclude=True, repr=False)
    embed_batch_size: int = Field(default=32, gt=0, le=2048)
    query_instruction: str = ""
    text_instruction: str = ""
    normalize: bool | int | float = 2
    truncate: bool = False
    pooling: Literal["auto", "mean", "cls", "last"] | None = None
    n_ctx: int | None = None
    n_threads: int | Literal["auto"] | None = None
    n_gpu_layers: int | Literal["auto", "all"] | None = None
    engine_kwargs: dict[str, Any] = Field(default_factory=dict)

    _lease: Lease[Embedder] = PrivateAttr(default_factory=lambda: Lease(_take))

    @field_validator("model_name", mode="before")
    @classmethod
    def _path_to_text(cls, model: object) -> object:
        return model_text(model)

    @model_validator(mode="after")
    def _check(self) -> Self:
        check_settings("engine_kwargs", self.engine_kwargs, _ENGINE)
        check_source(self.model_name, self.embedder, self._settings())
        if self.embeddings_cache is not None and self.query_instruction != self.text_instruction:
            raise ConfigError(
                "LlamaIndex keys its embeddings_cache by the text alone and would give a query the"
                " vector of an equal document; leave out the cache or the instructions"
            )
        return self

    @classmethod
    @override
    def class_name(cls) -> str:
        """The name under which it is serialised."""
        return "LlamaintEmbedding"

    @override
    def to_payload(self) -> dict[str, Any]:
        """What tracing sees: no paths."""
        return {**super().to_payload(), "model_name": model_name(self.model_name)}

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
    def _engine(self) -> Embedder:
        return self.embedder or self._lease.get(self.model_name, self._settings())

    @override
    async def _aengine(self) -> Embedder:
        return self.embedder or await self._lease.aget(self.model_name, self._settings())

    def _embed(self, texts: list[str]) -> list[Embedding]:
        engine = self._engine()
        vectors: list[Embedding] = engine.embed(texts, normalize=self.normalize, truncate=self.truncate).tolist()
        return vectors

    async def _aembed(self, texts: list[str]) -> list[Embedding]:
        engine = await self._aengine()
        found = await engine.aembed(texts, normalize=self.normalize, truncate=self.truncate)
        vectors: list[Embedding] = found.tolist()
        return vectors

    @override
    def _get_query_embedding(self, query: str) -> Embedding:
        return self._embed([self.query_instruction + query])[0]

    @override
    async def _aget_query_embedding(self, query: str) -> Embedding:
        return (await self._aembed([self.query_instruction + query]))[0]

    @override
    def _get_text_embedding(self, text: str) -> Embedding:
        return self._embed([self.text_instruction + text])[0]

    @override
    async def _aget_text_embedding(self, text: str) -> Embedding:
        return (await self._aembed([self.text_instruction + text]))[0]

    @override
    def _get_text_embeddings(self, texts: list[str]) -> list[Embedding]:
        return self._embed([self.text_instruction + text for text in texts])

    @override
    async def _aget_text_embeddings(self, texts: list[str]) -> list[Embedding]:
        return await self._aembed([self.text_instruction + text for text in texts])

    @override
    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        # The copy shares the engine: copying one would load the model again.
        memo = {} if memo is None else memo
        memo[id(self.embedder)] = self.embedder
        return super().__deepcopy__(memo)
