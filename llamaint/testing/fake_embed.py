"""Deterministic vectors: equal words share directions, so similar texts are similar."""

from __future__ import annotations

import hashlib
import itertools
from typing import TYPE_CHECKING, Any

from llamaint.errors import ClosedError, PromptTooLongError
from llamaint.testing.fake_handle import Notifier

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt

    from llamaint.testing.fake_model import FakeModel
    from llamaint.types import EmbeddingParams

    Array = npt.NDArray[np.float32]

DIM = 64


class FakeEmbedHandle:
    """A request that is finished as soon as it is submitted."""

    def __init__(self, id_: int, vectors: Array | list[Array], notifier: Notifier) -> None:
        self.id = id_
        self._vectors = vectors
        self._notifier = notifier

    def wait(self, timeout_s: float) -> bool:
        """Always finished."""
        return True

    def result(self) -> Array | list[Array]:
        """float32 ``[n_texts, 64]``; one ``[n_tokens, 64]`` per text with pooling "none"."""
        return self._vectors

    def cancel(self) -> None:
        """Nothing is left to cancel."""

    def watch(self) -> None:
        """Announce it at once."""
        self._notifier.add(self.id)


class FakeEmbedEngine:
    """Satisfies `llamaint.backend.protocols.EmbedEngine`."""

    def __init__(self, model: FakeModel, params: EmbeddingParams) -> None:
        self._model = model
        self._max_tokens = params.n_ctx or int(model.info()["n_ctx_train"])
        self._pooling = "mean" if params.pooling == "auto" else params.pooling
        self._notifier = Notifier()
        self._ids = itertools.count(1)
        self._closed = False
        self._n_texts = 0

    def submit(self, texts: Sequence[Sequence[int]]) -> FakeEmbedHandle:
        """Embed at once."""
        if self._closed:
            raise ClosedError("the engine was closed")
        import numpy as np

        for index, tokens in enumerate(texts):
            if len(tokens) > self._max_tokens:
                raise PromptTooLongError(
                    f"text {index} has {len(tokens)} tokens; the model takes {self._max_tokens}",
                    index=index,
                    n_prompt=len(tokens),
                    n_ctx=self._max_tokens,
                )
        self._n_texts += len(texts)
        rows = [np.stack([self._vector(t) for t in tokens] or [_zero()]) for tokens in texts]
        vectors: Array | list[Array] = rows
        if self._pooling != "none":
            pick = {"mean": lambda r: r.mean(axis=0), "cls": lambda r: r[0], "last": lambda r: r[-1]}
            pooled = [pick[self._pooling](row) for row in rows]
            vectors = np.array(pooled, dtype=np.float32).reshape(len(rows), DIM)
        return FakeEmbedHandle(next(self._ids), vectors, self._notifier)

    def wait_ready(self, timeout_s: float) -> Sequence[int]:
        """Ids of watched handles with news."""
        return self._notifier.wait(timeout_s)

    def info(self) -> dict[str, Any]:
        """Facts of the running engine."""
        return {
            "n_embd_out": DIM,
            "pooling": self._pooling,
            "n_ctx": self._max_tokens,
            "max_tokens": self._max_tokens,
            "causal": False,
            "pack_tokens": 0,
        }

    def metrics(self) -> dict[str, float]:
        """Counters since start."""
        return {"n_texts": float(self._n_texts)}

    def close(self) -> None:
        """Refuse further texts."""
        self._closed = True
        self._notifier.close()

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed

    def _vector(self, token: int) -> Array:
        import numpy as np

        # Hash the word, not its id: ids depend on what was seen first.
        word = self._model.token_to_piece(token, True).strip().lower()
        digest = hashlib.blake2b(word, digest_size=DIM).digest()
        return (np.frombuffer(digest, dtype=np.uint8).astype(np.float32) - 127.5) / 127.5


def _zero() -> Array:
    import numpy as np

    return np.zeros(DIM, dtype=np.float32)
