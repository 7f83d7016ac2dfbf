"""`shared_llama`: the same object for everybody who asks for the same file and settings."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from llamaint.api.llama import Llama
from llamaint.api.options import names_of, refuse_unknown
from llamaint.api.settings import LoadSettings
from llamaint.api.sharing import sharing_key
from llamaint.engine.pool import Pool
from llamaint.types import ContextParams, ModelParams

if TYPE_CHECKING:
    from typing_extensions import Unpack


class SharedLlama(Llama):
    """A `Llama` of the process-wide registry; made by `shared_llama`."""

    _keep_alive: float | None = None

    @override
    def close(self) -> None:
        """Release one reference; the last one frees the engine."""
        _POOL.release(self, self._keep_alive)

    @override
    def __reduce__(self) -> tuple[object, ...]:
        return (_share_again, (self._arguments, self._keep_alive))


_POOL: Pool[SharedLlama] = Pool(close=lambda shared: Llama.close(shared))


def shared_llama(
    model_path: str | os.PathLike[str], *, keep_alive: float | None = None, **settings: Unpack[LoadSettings]
) -> Llama:
    """Load a model, or join those who have loaded it with the same settings.

    Each call counts one user, and each `Llama.close` releases one; the last release frees the
    engine. It is freed, too, once nobody holds the object any more. Thread-safe; a forked child
    starts with an empty registry.

    Args:
        model_path: as for `Llama`.
        keep_alive: seconds the engine stays loaded after the last release, so that asking again
            within them costs nothing; ``None`` frees it at once.
        settings: the keywords of `Llama`.

    Raises:
        TypeError: an unknown keyword.
        LlamaintError: as for `Llama`.
    """
    refuse_unknown("shared_llama", settings, names_of(LoadSettings))
    from llamaint import hub

    path = hub.resolve(model_path, progress=settings.get("progress"))
    key = sharing_key(path, settings, ModelParams(), ContextParams())
    shared = _POOL.acquire(key, lambda: SharedLlama(model_path, **settings))
    if keep_alive is not None:
        shared._keep_alive = max(keep_alive, shared._keep_alive or 0.0)
    return shared


def _share_again(arguments: dict[str, Any], keep_alive: float | None) -> Llama:
    return shared_llama(keep_alive=keep_alive, **arguments)
