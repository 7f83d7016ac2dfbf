"""`LlamaEmbedding` over deterministic vectors."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from typing_extensions import override

from llamaint.api.embedding import LlamaEmbedding
from llamaint.api.options import names_of, refuse_unknown
from llamaint.api.settings import EmbeddingSettings
from llamaint.testing.fake_backend import FakeBackend
from llamaint.testing.fake_model import FakeModel
from llamaint.types import EmbeddingParams, ModelParams

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Unpack


class FakeEmbedding(LlamaEmbedding):
    """Equal words share directions, so texts with words in common are similar. 64 dimensions.

    Everything else is as in `LlamaEmbedding`: input checks, truncation, normalisation, event loops.
    """

    def __init__(self, *, name: str = "fake-embedding", **settings: Unpack[EmbeddingSettings]) -> None:
        """Start a fake engine.

        Args:
            name: the model's name in results.
            settings: the keywords of `LlamaEmbedding`; ``n_ctx``, ``pooling`` and ``progress`` act as they do
                there.
        """
        refuse_unknown("FakeEmbedding", settings, names_of(EmbeddingSettings))
        progress = settings.pop("progress", None)
        self._arguments = {**asdict(ModelParams()), **asdict(EmbeddingParams()), **settings, "name": name}
        model_params, embedding_params = self._params()
        self._open(_PlainBackend(), Path(name), name, model_params, embedding_params, progress)


class _PlainModel(FakeModel):
    @override
    def tokenize(self, text: str, add_special: bool, parse_special: bool) -> list[int]:
        # A token that all texts share would make all texts similar.
        return super().tokenize(text, False, parse_special)


class _PlainBackend(FakeBackend):
    @override
    def load_model(self, path: str, params: ModelParams, progress: Callable[[float], bool] | None) -> FakeModel:
        super().load_model(path, params, progress)
        return _PlainModel(path)
