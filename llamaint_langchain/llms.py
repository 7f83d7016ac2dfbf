"""`Llamaint`: plain text completion as a LangChain LLM, without a chat template."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING, Any

from langchain_core.language_models.llms import BaseLLM
from langchain_core.outputs import Generation, GenerationChunk, LLMResult
from langchain_core.runnables.config import ContextThreadPoolExecutor
from pydantic import ConfigDict, model_validator
from typing_extensions import Self, override

import llamaint
from llamaint.types import CompletionResult, Finish, TextDelta
from llamaint_langchain import _retry
from llamaint_langchain._engine import EngineFields
from llamaint_langchain._errors import LlamaintUnsupportedError, langchain_errors
from llamaint_langchain._metadata import (
    PROVIDER,
    add_token_usage,
    last_metadata,
    openai_logprobs,
    token_usage,
)
from llamaint_langchain._sampling import SamplingFields, options

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping

    from langchain_core.callbacks import (
        AsyncCallbackManagerForLLMRun,
        CallbackManagerForLLMRun,
        Callbacks,
    )
    from langchain_core.language_models import LangSmithParams

_EXTRA = frozenset({"cache_prompt", "echo", "logits_processors", "suffix"})
# Keywords of ``generate`` that are LangChain's own.
_RUN = frozenset({"tags", "metadata", "run_name", "run_id"})


class Llamaint(BaseLLM, EngineFields, SamplingFields):
    """Continue a text with a GGUF model in this process.

    ```python
    llm = Llamaint(model="smollm2-135m", temperature=0, max_tokens=16)
    llm.invoke("The capital of France is")
    ```

    All prompts of a batch are under way together. Token counts stand in ``llm_output`` of
    ``generate``.
    """

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="after")
    def _set_llamaint_llm_version(self) -> Self:
        self._add_version("llamaint", llamaint.__version__)
        return self

    @property
    @override
    def _llm_type(self) -> str:
        return "llamaint"

    @property
    @override
    def _identifying_params(self) -> Mapping[str, Any]:
        fixed = options(self, None, {}, extra=_EXTRA)
        # Under its own name LangChain would overwrite it with the "stop" of the call.
        fixed["default_stop"] = fixed.pop("stop", None)
        return {**self._engine_identity(), **fixed}

    @classmethod
    @override
    def is_lc_serializable(cls) -> bool:
        """Whether ``dumps`` writes it; `llamaint_langchain.load` reads it back."""
        return True

    @override
    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> LangSmithParams:
        params = super()._get_ls_params(stop=stop or self.stop, **kwargs)
        params["ls_provider"] = PROVIDER
        return params

    # LangChain keys its cache without the keywords of the call, so calls that have some go past it.

    @override
    def generate(
        self,
        prompts: list[str],
        stop: list[str] | None = None,
        callbacks: Callbacks | list[Callbacks] | None = None,
        **kwargs: Any,
    ) -> LLMResult:
        """Complete all prompts together."""
        if self.cache is not False and kwargs.keys() - _RUN:
            uncached = self.model_copy(update={"cache": False})
            return uncached.generate(prompts, stop, callbacks, **kwargs)
        return super().generate(prompts, stop, callbacks, **kwargs)

    @override
    async def agenerate(
        self,
        prompts: list[str],
        stop: list[str] | None = None,
        callbacks: Callbacks | list[Callbacks] | None = None,
        **kwargs: Any,
    ) -> LLMResult:
        """Complete all prompts together."""
        if self.cache is not False and kwargs.keys() - _RUN:
            uncached = self.model_copy(update={"cache": False})
            return await uncached.agenerate(prompts, stop, callbacks, **kwargs)
        return await super().agenerate(prompts, stop, callbacks, **kwargs)

    def _plan(self, stop: list[str] | None, kwargs: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """Model and keywords of `llamaint.Llama.complete`."""
        rest = {name: value for name, value in kwargs.items() if name not in ("model", "stream")}
        return kwargs.get("model") or self.model, options(self, stop, rest, extra=_EXTRA)

    def _plan_stream(self, stop: list[str] | None, kwargs: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        model, keywords = self._plan(stop, kwargs)
        if keywords.get("n", 1) > 1:
            raise LlamaintUnsupportedError(f"{keywords['n']} answers cannot be merged into one stream")
        return model, keywords

    @override
    def _generate(
        self,
        prompts: list[str],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> LLMResult:
        model, keywords = self._plan(stop, kwargs)
        with langchain_errors():
            llm = self._engine(model)

            def complete(prompt: str) -> CompletionResult:
                return _retry.call(partial(llm.complete, prompt, **keywords), self.max_retries)

            if len(prompts) == 1:
                return _llm_result([complete(prompts[0])], model)
            with ContextThreadPoolExecutor(min(len(prompts), self._engine_parallelism())) as pool:
                return _llm_result(list(pool.map(complete, prompts)), model)

    @override
    async def _agenerate(
        self,
        prompts: list[str],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> LLMResult:
        model, keywords = self._plan(stop, kwargs)
        with langchain_errors():
            llm = await self._aengine(model)
            room = asyncio.Semaphore(self._engine_parallelism())

            async def complete(prompt: str) -> CompletionResult:
                async with room:
                    start = partial(llm.acomplete, prompt, **keywords)
                    return await _retry.acall(start, self.max_retries)

            results = await asyncio.gather(*(complete(prompt) for prompt in prompts))
        return _llm_result(results, model)

    @override
    def _stream(
        self,
        prompt: str,
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[GenerationChunk]:
        model, keywords = self._plan_stream(stop, kwargs)
        with langchain_errors():
            start = partial(self._engine(model).complete_stream, prompt, **keywords)
            for event in _retry.stream(start, self.max_retries):
                chunk = _chunk(event, model)
                if run_manager is not None:
                    run_manager.on_llm_new_token(chunk.text, chunk=chunk)
                yield chunk

    @override
    async def _astream(
        self,
        prompt: str,
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[GenerationChunk]:
        model, keywords = self._plan_stream(stop, kwargs)
        with langchain_errors():
            llm = await self._aengine(model)
            start = partial(llm.acomplete_stream, prompt, **keywords)
            async with aclosing(_retry.astream(start, self.max_retries)) as events:
                async for event in events:
                    chunk = _chunk(event, model)
                    if run_manager is not None:
                        await run_manager.on_llm_new_token(chunk.text, chunk=chunk)
                    yield chunk

    @override
    def get_token_ids(self, text: str) -> list[int]:
        """Token ids of a text by the model's own tokenizer, without begin-of-text."""
        if self.custom_get_token_ids is not None:
            return self.custom_get_token_ids(text)
        with langchain_errors():
            return self._engine(self.model).tokenize(text, add_bos=False)


def _llm_result(results: list[CompletionResult], model: str) -> LLMResult:
    generations = [
        [
            Generation(
                text=choice.text,
                generation_info={
                    "finish_reason": choice.finish_reason,
                    **openai_logprobs(choice.logprobs or None),
                },
            )
            for choice in result.choices
        ]
        for result in results
    ]
    outputs: list[dict[str, Any] | None] = [
        {"token_usage": token_usage(result.usage), "model_name": model} for result in results
    ]
    return LLMResult(generations=generations, llm_output=add_token_usage(outputs))


def _chunk(event: TextDelta | Finish, model: str) -> GenerationChunk:
    if isinstance(event, Finish):
        last = last_metadata(model, event.usage, event.timings)
        return GenerationChunk(text="", generation_info={"finish_reason": event.reason, **last})
    return GenerationChunk(text=event.text, generation_info=openai_logprobs(event.logprobs or None) or None)
