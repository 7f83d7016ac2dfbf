"""Fields of `Llamaint`: which model runs, with what memory, and how it answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from llama_index.core.base.llms.generic_utils import messages_to_prompt
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import default_completion_to_prompt
from pydantic import (
    ConfigDict,
    Field,
    PrivateAttr,
    field_validator,
    model_validator,
)
from typing_extensions import Self, override

import llamaint
from llamaint.errors import ConfigError
from llamaint.types import ContextParams, ModelParams, SamplingParams
from llamaint_llamaindex._lease import Lease
from llamaint_llamaindex._life import EngineLife
from llamaint_llamaindex._options import (
    check_settings,
    check_source,
    field_names,
    given,
    model_text,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

_ENGINE = field_names(ModelParams, ContextParams) - {"n_ctx", "n_parallel", "n_gpu_layers", "n_threads"}
_SAMPLING = field_names(SamplingParams) - {"temperature", "seed"}


def _take(model: str, settings: Mapping[str, Any]) -> llamaint.Llama:
    return llamaint.shared_llama(model, **settings)


class LlamaintFields(EngineLife, FunctionCallingLLM):
    """Which model runs and how it answers. ``None`` leaves a setting to the runtime.

    Attributes:
        model: path of a GGUF file, alias (``"smollm2-135m"``) or ``"hf:owner/repo[:quant]"``.
        llm: an engine of your own instead; it stays yours to close. Not serialised.
        n_ctx: tokens that all running requests together can hold.
        n_parallel: requests that generate at the same time.
        n_gpu_layers: layers to offload.
        n_threads: threads of one decode.
        chat_template: Jinja template instead of the model's own.
        engine_kwargs: any other field of `llamaint.types.ModelParams` and `ContextParams`.
        context_window: what ``metadata`` reports, in tokens; the engine's own if not given.
        temperature: 0 is greedy.
        max_tokens: longest answer in tokens; ``None`` means up to the end of the context.
        stop: strings that end the answer; they are not part of it. A call's ``stop`` replaces these.
        seed: 0 is a seed like any other; ``None`` draws a fresh one for each request.
        timeout: seconds for one request, waiting included; then `llamaint.errors.CancelledError`.
        logprobs: return log-probabilities with answers.
        top_logprobs: most likely alternatives of each token; needs ``logprobs``.
        reasoning: ask a reasoning model to think, or not to; ``None`` leaves it to the model.
        chat_template_kwargs: variables for the chat template.
        additional_kwargs: any other field of `llamaint.types.SamplingParams`.
    """

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    model: str = ""
    llm: llamaint.Llama | None = Field(default=None, exclude=True, repr=False)
    n_ctx: int | None = None
    n_parallel: int | None = None
    n_gpu_layers: int | Literal["auto", "all"] | None = None
    n_threads: int | Literal["auto"] | None = None
    chat_template: str | None = None
    engine_kwargs: dict[str, Any] = Field(default_factory=dict)
    context_window: int | None = Field(default=None, gt=0)
    temperature: float | None = None
    max_tokens: int | None = Field(default=None, ge=0)
    stop: list[str] | None = None
    seed: int | None = None
    timeout: float | None = Field(default=None, gt=0)
    logprobs: bool | None = None
    top_logprobs: int | None = Field(default=None, ge=0)
    reasoning: bool | None = None
    chat_template_kwargs: dict[str, Any] | None = None
    additional_kwargs: dict[str, Any] = Field(default_factory=dict)

    _lease: Lease[llamaint.Llama] = PrivateAttr(default_factory=lambda: Lease(_take))

    @field_validator("model", mode="before")
    @classmethod
    def _path_to_text(cls, model: object) -> object:
        return model_text(model)

    @model_validator(mode="after")
    def _check(self) -> Self:
        check_settings("engine_kwargs", self.engine_kwargs, _ENGINE)
        check_settings("additional_kwargs", self.additional_kwargs, _SAMPLING)
        check_source(self.model, self.llm, self._settings())
        if (
            self.messages_to_prompt is not messages_to_prompt
            or self.completion_to_prompt is not default_completion_to_prompt
        ):
            raise ConfigError("messages become a prompt by the model's template; use chat_template")
        if self.llm is not None:
            self.model = self.model or self.llm.name
        return self

    def _named_settings(self) -> dict[str, object]:
        return given(
            n_ctx=self.n_ctx,
            n_parallel=self.n_parallel,
            n_gpu_layers=self.n_gpu_layers,
            n_threads=self.n_threads,
            chat_template=self.chat_template,
        )

    def _settings(self) -> dict[str, object]:
        return {**self._named_settings(), **self.engine_kwargs}

    def _named_options(self) -> dict[str, object]:
        return given(
            temperature=self.temperature,
            max_tokens=self.max_tokens,
            stop=self.stop,
            seed=self.seed,
            timeout=self.timeout,
            logprobs=self.logprobs,
            top_logprobs=self.top_logprobs,
        )

    def _fixed_options(self) -> dict[str, object]:
        """Keywords of the runtime that the fields ask for."""
        return {**self._named_options(), **self.additional_kwargs}

    @override
    def _engine(self) -> llamaint.Llama:
        return self.llm or self._lease.get(self.model, self._settings())

    @override
    async def _aengine(self) -> llamaint.Llama:
        return self.llm or await self._lease.aget(self.model, self._settings())

    @override
    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        # The copy shares the engine: copying one would load the model again.
        memo = {} if memo is None else memo
        memo[id(self.llm)] = self.llm
        return super().__deepcopy__(memo)
