"""The fake behind the seam: satisfies `llamaint.backend.protocols.Backend`."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from llamaint.testing.fake_embed import FakeEmbedEngine
from llamaint.testing.fake_engine import FakeEngine
from llamaint.testing.fake_model import FakeModel, FakeTemplates
from llamaint.testing.script import Playbook

if TYPE_CHECKING:
    from collections.abc import Callable

    from llamaint.backend.protocols import ChatTemplates, Model
    from llamaint.testing.script import ScriptLike
    from llamaint.types import ContextParams, EmbeddingParams, ModelParams


class FakeBackend:
    """Opens fakes. Files are not looked at."""

    def __init__(self, scripts: ScriptLike = "") -> None:
        self._playbook = Playbook(scripts)

    def load_model(self, path: str, params: ModelParams, progress: Callable[[float], bool] | None) -> FakeModel:
        """A vocabulary; progress goes from 0 to 1 at once."""
        for fraction in (0.0, 1.0):
            if progress is not None:
                progress(fraction)
        return FakeModel(path)

    def open_templates(self, model: Model, source: str) -> ChatTemplates:
        """The plain template."""
        return FakeTemplates(cast("FakeModel", model), source)

    def open_engine(self, model: Model, params: ContextParams) -> FakeEngine:
        """A player of the scripts."""
        return FakeEngine(cast("FakeModel", model), params, self._playbook)

    def open_embed_engine(self, model: Model, params: EmbeddingParams) -> FakeEmbedEngine:
        """An engine of deterministic vectors."""
        return FakeEmbedEngine(cast("FakeModel", model), params)
