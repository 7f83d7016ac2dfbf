"""The methods of `LlamaEmbedding` over deterministic vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llamaint.engine.embed_handle import EmbedRequestHandle
from llamaint.engine.guard import EngineGuard
from llamaint.errors import PromptTooLongError
from llamaint.testing.fake_backend import FakeBackend
from llamaint.types import EmbeddingParams, Embeddings, ModelParams

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    import numpy as np
    import numpy.typing as npt
    from typing_extensions import Self

    from llamaint.backend.protocols import EmbedEngine
    from llamaint.types.params import Pooling

    Array = npt.NDArray[np.float32]


class FakeEmbedding:
    """Equal words share directions, so texts with words in common are similar. 64 dimensions."""

    def __init__(self, *, name: str = "fake-embedding", n_ctx: int = 0, pooling: Pooling = "auto") -> None:
        """Start a fake engine; the settings act as they do on `LlamaEmbedding`."""
        self.name = name
        self._arguments = {"name": name, "n_ctx": n_ctx, "pooling": pooling}
        backend = FakeBackend()
        self._model = backend.load_model(name, ModelParams(), None)
        engine = backend.open_embed_engine(self._model, EmbeddingParams(n_ctx=n_ctx, pooling=pooling))
        self._guard: EngineGuard[EmbedEngine] = EngineGuard(engine, f"FakeEmbedding({name})")

    def embed(self, texts: str | Sequence[str], *, normalize: int | float | bool = 2, truncate: bool = False) -> Array:
        """float32 ``[n_texts, 64]``, or ``[64]`` for one text."""
        vectors = self.embed_full(texts, normalize=normalize, truncate=truncate).vectors
        return vectors[0] if isinstance(texts, str) else vectors  # type: ignore[return-value]

    def embed_full(
        self, texts: str | Sequence[str], *, normalize: int | float | bool = 2, truncate: bool = False
    ) -> Embeddings:
        """Vectors, token counts and which texts were cut."""
        tokens, truncated = self._tokens(texts, truncate)
        return _embeddings(EmbedRequestHandle(self._guard, tokens).result(), tokens, truncated, normalize)

    async def aembed(
        self, texts: str | Sequence[str], *, normalize: int | float | bool = 2, truncate: bool = False
    ) -> Array:
        """`embed` for an event loop."""
        vectors = (await self.aembed_full(texts, normalize=normalize, truncate=truncate)).vectors
        return vectors[0] if isinstance(texts, str) else vectors  # type: ignore[return-value]

    async def aembed_full(
        self, texts: str | Sequence[str], *, normalize: int | float | bool = 2, truncate: bool = False
    ) -> Embeddings:
        """`embed_full` for an event loop."""
        tokens, truncated = self._tokens(texts, truncate)
        vectors = await EmbedRequestHandle(self._guard, tokens).aresult()
        return _embeddings(vectors, tokens, truncated, normalize)

    @property
    def n_embd_out(self) -> int:
        """Width of a vector."""
        return int(self._guard.engine.info()["n_embd_out"])

    @property
    def info(self) -> dict[str, object]:
        """Facts of the model and the engine."""
        return {"model": self.name, **self._model.info(), **self._guard.engine.info()}

    def close(self) -> None:
        """Free the engine. Idempotent."""
        self._guard.close()

    @property
    def closed(self) -> bool:
        """Whether the object can no longer be used in this process."""
        return self._guard.closed

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _tokens(self, texts: str | Sequence[str], truncate: bool) -> tuple[list[list[int]], tuple[int, ...]]:
        many = [texts] if isinstance(texts, str) else texts
        tokens = [self._model.tokenize(text, False, False) for text in many]
        limit = int(self._guard.engine.info()["max_tokens"])
        long = tuple(i for i, ids in enumerate(tokens) if len(ids) > limit)
        if long and not truncate:
            n = len(tokens[long[0]])
            raise PromptTooLongError(
                f"text {long[0]} has {n} tokens; the model takes {limit}", index=long[0], n_prompt=n, n_ctx=limit
            )
        return [ids[:limit] for ids in tokens], long


def _embeddings(
    vectors: Array | Sequence[Array], tokens: list[list[int]], truncated: tuple[int, ...], normalize: float
) -> Embeddings:
    import numpy as np

    rows = list(vectors)
    if normalize:
        norms = [np.linalg.norm(row, ord=2 if normalize is True else normalize, axis=-1, keepdims=True) for row in rows]
        rows = [(row / np.where(norm > 0, norm, 1)).astype(np.float32) for row, norm in zip(rows, norms, strict=True)]
    pooled = np.array(rows, dtype=np.float32) if isinstance(vectors, np.ndarray) else tuple(rows)
    return Embeddings(vectors=pooled, n_tokens=tuple(map(len, tokens)), truncated=truncated)
