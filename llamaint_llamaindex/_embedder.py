"""What the embeddings need of an engine, so that a fake one can stand in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


@runtime_checkable
class Embedder(Protocol):
    """Satisfied by `llamaint.LlamaEmbedding` and `llamaint.testing.FakeEmbedding`."""

    @property
    def closed(self) -> bool: ...

    def close(self) -> None: ...

    def embed(
        self, texts: str | Sequence[str], *, normalize: int | float | bool = 2, truncate: bool = False
    ) -> npt.NDArray[np.float32]: ...

    async def aembed(
        self, texts: str | Sequence[str], *, normalize: int | float | bool = 2, truncate: bool = False
    ) -> npt.NDArray[np.float32]: ...
