"""`shared_embedding`: the same object for everybody who asks for the same file and settings."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from llamaint.api.embedding import LlamaEmbedding
from llamaint.api.options import names_of, refuse_unknown
from llamaint.api.settings import EmbeddingSettings
from llamaint.api.sharing import sharing_key
from llamaint.engine.pool import Pool
from llamaint.types import EmbeddingParams, ModelParams

if TYPE_CHECKING:
    from typing_extensions import Unpack


class SharedEmbedding(LlamaEmbedding):
    """A `LlamaEmbedding` of the process-wide registry; made by `shared_embedding`."""

    _keep_alive: float | None = None

    @override
    def close(self) -> None:
        """Release one reference; the last one frees the engine."""
        _POOL.release(self, self._keep_alive)

    @override
    def __reduce__(self) -> tuple[object, ...]:
        return (_share_again, (self._arguments, self._keep_alive))


_POOL: Pool[SharedEmbedding] = Pool(close=lambda shared: LlamaEmbedding.close(shared))


def shared_embedding(
    model_path: str | os.PathLike[str], *, keep_alive: float | None = None, **settings: Unpack[EmbeddingSettings]
) -> LlamaEmbedding:
    """Load an embedding model, or join those who have loaded it with the same settings.

    Counting, freeing and forks are as for `shared_llama`.

    Args:
        model_path: as for `LlamaEmbedding`.
        keep_alive: seconds the engine stays loaded after the last release; ``None`` frees it at once.
        settings: the keywords of `LlamaEmbedding`.

    Raises:
        TypeError: an unknown keyword.
        LlamaintError: as for `LlamaEmbedding`.
    """
    refuse_unknown("shared_embedding", settings, names_of(EmbeddingSettings))
    from llamaint import hub

    path = hub.resolve(model_path, progress=settings.get("progress"))
    key = sharing_key(path, settings, ModelParams(), EmbeddingParams())
    shared = _POOL.acquire(key, lambda: SharedEmbedding(model_path, **settings))
    if keep_alive is not None:
        shared._keep_alive = max(keep_alive, shared._keep_alive or 0.0)
    return shared


def _share_again(arguments: dict[str, Any], keep_alive: float | None) -> LlamaEmbedding:
    return shared_embedding(keep_alive=keep_alive, **arguments)
