"""`ChatLlamaint`: any GGUF chat model, in this process, as a LangChain chat model."""

from __future__ import annotations

import json
import logging
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic import ConfigDict, Field, SecretStr, model_validator
from typing_extensions import Self, override

import llamaint
from llamaint_langchain import _retry
from llamaint_langchain._batching import BatchingChatModel
from llamaint_langchain._call import CallFields, ChatCall, plan
from llamaint_langchain._convert import to_messages
from llamaint_langchain._engine import EngineFields
from llamaint_langchain._errors import LlamaintUnsupportedError, langchain_errors
from llamaint_langchain._metadata import PROVIDER, add_token_usage
from llamaint_langchain._profile import loaded_profile, unloaded_profile
from llamaint_langchain._reply import chat_result, chunk

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence

    from langchain_core.callbacks import (
        AsyncCallbackManagerForLLMRun,
        CallbackManagerForLLMRun,
    )
    from langchain_core.language_models import LangSmithParams, ModelProfile
    from langchain_core.messages import BaseMessage
    from langchain_core.outputs import ChatGenerationChunk, ChatResult
    from langchain_core.runnables import Runnable

_log = logging.getLogger(__name__)


class ChatLlamaint(BatchingChatModel, EngineFields, CallFields):
    """Chat with a GGUF model in this process.

    ```python
    chat = ChatLlamaint(model="smollm2-135m", temperature=0)
    chat.invoke("Why is the sky blue?")
    ```

    Sync and async methods run on the engine's own events: any number of calls share one engine,
    cancelling a task or leaving a stream frees its place at once, and streamed answers equal whole
    ones. ``invoke(..., model="other.gguf")`` uses another model for one call.

    Attributes:
        chat_template: Jinja template instead of the model's own.
        streaming: ``invoke`` streams inside, so that token callbacks fire; ``False`` never streams.
        api_key: without meaning, because a local model has no key. Taken, with a line in the log, so that
            code which builds any provider's chat model can build this one.
    """

    model_config = ConfigDict(extra="forbid")

    chat_template: str | None = None
    streaming: bool = False
    api_key: SecretStr | None = Field(default=None, exclude=True, repr=False)

    @model_validator(mode="after")
    def _set_llamaint_version(self) -> Self:
        self._add_version("llamaint", llamaint.__version__)
        return self

    @model_validator(mode="after")
    def _drop_api_key(self) -> Self:
        if self.api_key is not None:
            _log.info("api_key is not used: %s runs in this process", self.model)
            self.api_key = None
        return self

    # What it is: tracing, serialisation, caching

    @property
    @override
    def _llm_type(self) -> str:
        return "chat-llamaint"

    @property
    @override
    def _identifying_params(self) -> Mapping[str, Any]:
        return {**self._engine_identity(), **self._options(None, {})}

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

    @override
    def _get_llm_string(self, stop: list[str] | None = None, **kwargs: Any) -> str:
        # LangChain's own keeps what it first wrote and misses fields that were changed since.
        return json.dumps([self.asdict(), {**kwargs, "stop": stop}], sort_keys=True, default=repr)

    @override
    def _combine_llm_outputs(self, outputs: list[dict[str, Any] | None], /) -> dict[str, Any]:
        return add_token_usage(outputs)

    @override
    def _resolve_model_profile(self) -> ModelProfile | None:
        return unloaded_profile() if self.llm is None else loaded_profile(self.llm)

    # The engine

    @override
    def _named_settings(self) -> dict[str, object]:
        template = {} if self.chat_template is None else {"chat_template": self.chat_template}
        return {**super()._named_settings(), **template}

    @override
    def _engine(self, model: str) -> llamaint.Llama:
        return self._know(model, super()._engine(model))

    @override
    async def _aengine(self, model: str) -> llamaint.Llama:
        return self._know(model, await super()._aengine(model))

    def _know(self, model: str, llm: llamaint.Llama) -> llamaint.Llama:
        if model == self.model and self.profile == unloaded_profile():
            self.profile = loaded_profile(llm)
        return llm

    @override
    def _parallelism(self) -> int:
        return self._engine_parallelism()

    # Answers

    @override
    def _streaming_disabled(self, **kwargs: Any) -> bool:
        # LangChain would merge the chunks of several answers into one message.
        n = kwargs.get("n", self.n) or 1
        return n > 1 or super()._streaming_disabled(**kwargs)

    def _stream_call(
        self, messages: Sequence[BaseMessage], stop: list[str] | None, kwargs: Mapping[str, Any]
    ) -> ChatCall:
        call = plan(self, self.model, messages, stop, kwargs)
        if call.n > 1:
            raise LlamaintUnsupportedError(f"{call.n} answers cannot be merged into one stream")
        return call

    @override
    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        call = plan(self, self.model, messages, stop, kwargs)
        with langchain_errors():
            start = partial(self._engine(call.model).chat, call.messages, **call.options)
            result = _retry.call(start, self.max_retries)
        return chat_result(result, model=call.model, with_usage=self.stream_usage)

    @override
    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        call = plan(self, self.model, messages, stop, kwargs)
        with langchain_errors():
            llm = await self._aengine(call.model)
            start = partial(llm.achat, call.messages, **call.options)
            result = await _retry.acall(start, self.max_retries)
        return chat_result(result, model=call.model, with_usage=self.stream_usage)

    # LangChain itself fires on_llm_new_token for each chunk of the two methods below.

    @override
    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        call = self._stream_call(messages, stop, kwargs)
        with langchain_errors():
            start = partial(self._engine(call.model).chat_stream, call.messages, **call.options)
            for event in _retry.stream(start, self.max_retries):
                yield chunk(event, model=call.model, with_usage=self.stream_usage)

    @override
    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        call = self._stream_call(messages, stop, kwargs)
        with langchain_errors():
            llm = await self._aengine(call.model)
            start = partial(llm.achat_stream, call.messages, **call.options)
            async with aclosing(_retry.astream(start, self.max_retries)) as events:
                async for event in events:
                    yield chunk(event, model=call.model, with_usage=self.stream_usage)

    # Counting tokens

    @override
    def get_token_ids(self, text: str) -> list[int]:
        """Token ids of a text by the model's own tokenizer, without begin-of-text."""
        if self.custom_get_token_ids is not None:
            return self.custom_get_token_ids(text)
        with langchain_errors():
            return self._engine(self.model).tokenize(text, add_bos=False)

    @override
    def get_num_tokens_from_messages(self, messages: list[BaseMessage], tools: Sequence[Any] | None = None) -> int:
        """Tokens of the rendered conversation, as a request would send it."""
        if tools:
            raise LlamaintUnsupportedError("this version of llamaint_langchain has no tool calling")
        with langchain_errors():
            return self._engine(self.model).count_tokens(to_messages(messages))

    # Not in this version

    @override
    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | Any],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[Any, Any]:
        """Raises LlamaintUnsupportedError."""
        raise LlamaintUnsupportedError("this version of llamaint_langchain has no tool calling")

    @override
    def with_structured_output(
        self, schema: dict[str, Any] | type, *, include_raw: bool = False, **kwargs: Any
    ) -> Runnable[Any, Any]:
        """Raises LlamaintUnsupportedError."""
        raise LlamaintUnsupportedError(
            "this version of llamaint_langchain has no structured output;"
            " llamaint.Llama.chat(json_schema=...) answers in JSON"
        )
