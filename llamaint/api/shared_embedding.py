"""`shared_embedding`: the same object for everybody who asks for the same file and settings."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from typing_extensions import override

from llamaint.api.embedding import LlamaEmbedding
from llamaint.api.options import names_of, refuse_unknown
from llamaint.engine.pool import Pool
from llamaint.types import EmbeddingParams, ModelParams
from llamaint.types.freeze import freeze

if TYPE_CHECKING:
    from collections.abc import Hashable
    from pathlib import Path

    from typing_extensions import Unpack

    from llamaint.types import KvOverride
    from llamaint.types.params import FlashAttention, LoadMode, Pooling, SplitMode


class EmbeddingSettings(TypedDict, total=False):
    """Keywords of `LlamaEmbedding`: every field of `ModelParams` and `EmbeddingParams`, and one more."""

    n_gpu_layers: int | Literal["auto", "all"]
    split_mode: SplitMode
    main_gpu: int
    tensor_split: Sequence[float]
    devices: Sequence[str]
    load_mode: LoadMode
    vocab_only: bool
    check_tensors: bool
    use_extra_bufts: bool
    no_host: bool
    load_mtp: bool
    cpu_moe: bool
    n_cpu_moe: int
    tensor_buft_overrides: Mapping[str, str]
    kv_overrides: Mapping[str, KvOverride]
    n_ctx: int
    n_ubatch: int
    pooling: Pooling
    pack_tokens: int | None
    n_threads: int | Literal["auto"]
    flash_attn: FlashAttention
    progress: Callable[[str, float], None] | None


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
    model_path: str | os.PathLike[str],
    *,
    keep_alive: float | None = None,
    **settings: Unpack[EmbeddingSettings],
) -> LlamaEmbedding:
    """Load a model, or join those who have loaded it with the same settings.

    Each call counts one user, and each `LlamaEmbedding.close` releases one; the last release frees the
    engine. It is freed, too, once nobody holds the object any more. Thread-safe; a forked child starts
    with an empty registry.

    Args:
        model_path: as for `LlamaEmbedding`.
        keep_alive: seconds the engine stays loaded after the last release, so that asking again within
            them costs nothing; ``None`` frees it at once.
        settings: the keywords of `LlamaEmbedding`.

    Raises:
        TypeError: an unknown keyword.
        LlamaintError: as for `LlamaEmbedding`.
    """
    refuse_unknown("shared_embedding", settings, names_of(EmbeddingSettings))
    from llamaint import hub

    path = hub.resolve(model_path, progress=settings.get("progress"))

    def load() -> SharedEmbedding:
        return SharedEmbedding(model_path, **settings)

    shared = _POOL.acquire(_key(path, settings), load)
    if keep_alive is not None:
        shared._keep_alive = max(keep_alive, shared._keep_alive or 0.0)
    return shared


def _key(path: Path, settings: Mapping[str, Any]) -> Hashable:
    """Equal for equal files and settings, defaults filled in; a replaced file is another one."""
    stat = path.stat()
    filled = {**asdict(ModelParams()), **asdict(EmbeddingParams()), **settings}
    filled.pop("progress", None)
    return (os.path.realpath(path), stat.st_mtime_ns, stat.st_size, freeze(filled))


def _share_again(arguments: dict[str, Any], keep_alive: float | None) -> LlamaEmbedding:
    return shared_embedding(keep_alive=keep_alive, **arguments)
