"""`Llama` over scripts."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from llamaint.api.llama import Llama
from llamaint.api.options import names_of, refuse_unknown
from llamaint.api.settings import LoadSettings
from llamaint.testing.fake_backend import FakeBackend
from llamaint.testing.fake_engine import FakeEngine
from llamaint.types import ContextParams, ModelParams

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from llamaint.backend.requests import EngineRequest
    from llamaint.testing.script import ScriptLike


class FakeLlama(Llama):
    """Answers from scripts, with everything else as in `Llama`.

    It can be pickled if its scripts can.
    """

    def __init__(
        self,
        scripts: ScriptLike = "This is a scripted answer.",
        *,
        name: str = "fake",
        **settings: Unpack[LoadSettings],
    ) -> None:
        """Start a fake engine.

        Args:
            scripts: a text or `Script` for every request; a sequence of them, one per choice in
                the order of submission, the last one repeating; or a function of the prompt.
            name: the model's name in results.
            settings: the keywords of `Llama`; ``n_ctx``, ``n_parallel``, ``max_queue``,
                ``chat_template`` and ``progress`` act as they do there.
        """
        refuse_unknown("FakeLlama", settings, names_of(LoadSettings))
        progress = settings.pop("progress", None)
        defaults = {**asdict(ModelParams()), **asdict(ContextParams()), "chat_template": None}
        self._arguments = {**defaults, **settings, "scripts": scripts, "name": name}
        model_params, context_params = self._params()
        backend = FakeBackend(scripts)
        self._open(backend, Path(name), name, model_params, context_params, progress)

    @property
    def requests(self) -> list[EngineRequest]:
        """Every request the engine was asked, oldest first."""
        engine = self._guard.engine
        assert isinstance(engine, FakeEngine)
        return engine.requests

    @property
    def prompts(self) -> list[str]:
        """The prompt text of each request."""
        return [
            self._model.detokenize(request.prompt, True, True).decode(errors="replace") for request in self.requests
        ]
