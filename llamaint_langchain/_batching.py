"""As many requests at once as the engine runs, where LangChain would run six or one."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from langchain_core.language_models import BaseChatModel
from langchain_core.outputs import LLMResult, RunInfo
from langchain_core.runnables.config import ContextThreadPoolExecutor, get_config_list
from typing_extensions import override

if TYPE_CHECKING:
    import uuid
    from collections.abc import AsyncIterator, Iterator, Sequence

    from langchain_core.callbacks import Callbacks
    from langchain_core.language_models import LanguageModelInput
    from langchain_core.messages import AIMessage, BaseMessage
    from langchain_core.runnables import RunnableConfig


class BatchingChatModel(BaseChatModel):
    """A chat model whose batches fill the engine. ``max_concurrency`` of a config still wins."""

    @abstractmethod
    def _parallelism(self) -> int:
        """Requests worth having under way at once."""

    def _configs(self, config: Any, n: int) -> list[RunnableConfig]:
        configs = get_config_list(config, n)
        if configs and configs[0].get("max_concurrency") is None:
            configs[0] = {**configs[0], "max_concurrency": self._parallelism()}
        return configs

    @override
    def batch(
        self,
        inputs: list[LanguageModelInput],
        config: RunnableConfig | list[RunnableConfig] | None = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any,
    ) -> list[AIMessage]:
        """Answers in the order of ``inputs``."""
        configs = self._configs(config, len(inputs))
        return super().batch(inputs, configs, return_exceptions=return_exceptions, **kwargs)

    @override
    def batch_as_completed(
        self,
        inputs: Sequence[LanguageModelInput],
        config: RunnableConfig | Sequence[RunnableConfig] | None = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any,
    ) -> Iterator[tuple[int, Any]]:
        """(index, answer) pairs as they finish."""
        configs = self._configs(config, len(inputs))
        # Both overloads at once.
        return super().batch_as_completed(  # type: ignore[call-overload, no-any-return]
            inputs, configs, return_exceptions=return_exceptions, **kwargs
        )

    @override
    async def abatch(
        self,
        inputs: list[LanguageModelInput],
        config: RunnableConfig | list[RunnableConfig] | None = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any,
    ) -> list[AIMessage]:
        """Answers in the order of ``inputs``."""
        configs = self._configs(config, len(inputs))
        return await super().abatch(inputs, configs, return_exceptions=return_exceptions, **kwargs)

    @override
    def abatch_as_completed(
        self,
        inputs: Sequence[LanguageModelInput],
        config: RunnableConfig | Sequence[RunnableConfig] | None = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any,
    ) -> AsyncIterator[tuple[int, Any]]:
        """(index, answer) pairs as they finish."""
        configs = self._configs(config, len(inputs))
        return super().abatch_as_completed(  # type: ignore[call-overload, no-any-return]
            inputs, configs, return_exceptions=return_exceptions, **kwargs
        )

    @override
    def generate(
        self,
        messages: list[list[BaseMessage]],
        stop: list[str] | None = None,
        callbacks: Callbacks = None,
        *,
        run_id: uuid.UUID | None = None,
        **kwargs: Any,
    ) -> LLMResult:
        """All prompts under way together; LangChain's own would wait for each in turn.

        Raises the first error, in the order of the prompts, when the others have ended too.
        """
        if len(messages) < 2:
            return super().generate(messages, stop, callbacks, run_id=run_id, **kwargs)
        one = super().generate
        with ContextThreadPoolExecutor(min(len(messages), self._parallelism())) as pool:
            futures = [
                pool.submit(one, [prompt], stop, callbacks, run_id=None if n else run_id, **kwargs)
                for n, prompt in enumerate(messages)
            ]
        return self._together([future.result() for future in futures])

    def _together(self, results: list[LLMResult]) -> LLMResult:
        runs: list[RunInfo] = [run for result in results for run in result.run or []]
        return LLMResult(
            generations=[result.generations[0] for result in results],
            llm_output=self._combine_llm_outputs([result.llm_output for result in results]),
            run=runs or None,
        )
