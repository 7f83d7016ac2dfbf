"""Fields that say which engine runs, shared by the chat model and the completion model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, cast

from langchain_core.utils import from_env
from pydantic import Field, PrivateAttr, field_validator, model_validator
from typing_extensions import Self, override

import llamaint
from llamaint.types import ContextParams, ModelParams
from llamaint_langchain._lease import Lease
from llamaint_langchain._life import (
    EngineLife,
    check_settings,
    check_source,
    field_names,
    given,
    model_text,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

_FIELDS = frozenset({"n_ctx", "n_parallel", "n_gpu_layers", "n_threads"})
_KNOWN = field_names(ModelParams, ContextParams) - _FIELDS


def _take(model: str, settings: Mapping[str, Any]) -> llamaint.Llama:
    return llamaint.shared_llama(model, **settings)


class EngineFields(EngineLife):
    """Which model runs, with what memory and threads. Nothing is loaded until first use.

    Objects with equal settings share one engine. ``None`` leaves a setting to the runtime.

    Attributes:
        model: path of a GGUF file, alias (``"smollm2-135m"``) or ``"hf:owner/repo[:quant]"``;
            the environment variable ``LLAMAINT_MODEL`` if not given.
        llm: an engine of your own instead; it stays yours to close. Not serialised.
        n_ctx: tokens that all running requests together can hold.
        n_parallel: requests that generate at the same time.
        n_gpu_layers: layers to offload.
        n_threads: threads of one decode.
        engine_kwargs: any other field of `llamaint.types.ModelParams` and `ContextParams`.
    """

    model: str = Field(default_factory=from_env("LLAMAINT_MODEL", default=""))
    llm: llamaint.Llama | None = Field(default=None, exclude=True, repr=False)
    n_ctx: int | None = None
    n_parallel: int | None = None
    n_gpu_layers: int | Literal["auto", "all"] | None = None
    n_threads: int | Literal["auto"] | None = None
    engine_kwargs: dict[str, Any] = Field(default_factory=dict)

    _lease: Lease[llamaint.Llama] = PrivateAttr(default_factory=lambda: Lease(_take))

    @field_validator("model", mode="before")
    @classmethod
    def _path_to_text(cls, model: object) -> object:
        return model_text(model)

    @model_validator(mode="after")
    def _check_engine(self) -> Self:
        check_settings(self.engine_kwargs, _KNOWN)
        check_source(self.model, self.llm, self._engine_settings(), "LLAMAINT_MODEL")
        if self.llm is not None:
            self.model = self.model or self.llm.name
        return self

    def _named_settings(self) -> dict[str, object]:
        """Engine settings that are fields of their own."""
        return given(
            n_ctx=self.n_ctx,
            n_parallel=self.n_parallel,
            n_gpu_layers=self.n_gpu_layers,
            n_threads=self.n_threads,
        )

    def _engine_settings(self) -> dict[str, object]:
        return {**self._named_settings(), **self.engine_kwargs}

    def _engine_identity(self) -> dict[str, object]:
        """What decides which engine answers; answers of different ones must not share a cache."""
        # What pickling stores of an engine are the arguments it was loaded with.
        own = {} if self.llm is None else {"llm": repr(self.llm.__reduce_ex__(4)[1])}
        return {"model": self.model, **self._engine_settings(), **own}

    def _engine(self, model: str) -> llamaint.Llama:
        if self.llm is not None and model == self.model:
            return self.llm
        return self._lease.get(model, self._engine_settings())

    async def _aengine(self, model: str) -> llamaint.Llama:
        if self.llm is not None and model == self.model:
            return self.llm
        return await self._lease.aget(model, self._engine_settings())

    @override
    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        # The copy shares the engine: copying one would load the model again.
        memo = {} if memo is None else memo
        memo[id(self.llm)] = self.llm
        return super().__deepcopy__(memo)

    @override
    def _own_engine(self) -> llamaint.Llama:
        return self._engine(self.model)

    @override
    async def _aown_engine(self) -> llamaint.Llama:
        return await self._aengine(self.model)

    def _engine_parallelism(self) -> int:
        """Requests worth having under way at once: those that run and as many waiting."""
        default = ContextParams()
        n_parallel = self.n_parallel or default.n_parallel
        if self.llm is not None:
            n_parallel = cast("int", self.llm.info["n_parallel"])
        max_queue: int = self.engine_kwargs.get("max_queue", default.max_queue)
        return min(2 * n_parallel, max_queue)
