"""`LlamaEmbedding` over deterministic vectors."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from llamaint.api.embedding import LlamaEmbedding
from llamaint.api.options import names_of, refuse_unknown
from llamaint.api.settings import EmbeddingSettings
from llamaint.testing.fake_backend import FakeBackend
from llamaint.types import EmbeddingParams, ModelParams

if TYPE_CHECKING:
    from typing_extensions import Unpack


class FakeEmbedding(LlamaEmbedding):
    """Equal words share directions, so texts with words in common are similar. 64 dimensions.

    The vector of a text is the same in every object and process.
    """

    def __init__(self, *, name: str = "fake-embedding", **settings: Unpack[EmbeddingSettings]) -> None:
        """Start a fake engine.

        Args:
            name: the model's name in results.
            settings: the keywords of `LlamaEmbedding`; ``n_ctx``, ``pooling`` and ``progress`` act as
                they do there.
        """
        refuse_unknown("FakeEmbedding", settings, names_of(EmbeddingSettings))
        progress = settings.pop("progress", None)
        self._arguments = {**asdict(ModelParams()), **asdict(EmbeddingParams()), **settings, "name": name}
        model_params, embedding_params = self._params()
        self._open(FakeBackend(), Path(name), name, model_params, embedding_params, progress)
