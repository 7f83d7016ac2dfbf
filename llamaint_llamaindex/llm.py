"""`Llamaint`: any GGUF model, in this process, as a LlamaIndex LLM."""

from __future__ import annotations

from contextlib import aclosing, closing
from typing import TYPE_CHECKING, Any, cast

from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseAsyncGen,
    ChatResponseGen,
    CompletionResponse,
    CompletionResponseAsyncGen,
    CompletionResponseGen,
    LLMMetadata,
    MessageRole,
)
from llama_index.core.constants import DEFAULT_NUM_OUTPUTS
from llama_index.core.llms.callbacks import llm_chat_callback, llm_completion_callback
from pydantic import PrivateAttr
from typing_extensions import override

from llamaint.errors import UnsupportedError
from llamaint_llamaindex._convert import to_messages
from llamaint_llamaindex._fields import LlamaintFields
from llamaint_llamaindex._options import CHAT, COMPLETE, call_options, model_name
from llamaint_llamaindex._reply import (
    ChatSoFar,
    CompletionSoFar,
    as_completion,
    chat_response,
    completion_response,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from llama_index.core.tools.types import BaseTool


class Llamaint(LlamaintFields):
    """Chat and completion with a GGUF model in this process. Nothing is loaded until first use.

    ```python
    llm = Llamaint(model="smollm2-135m", temperature=0)
    llm.complete("Why is the sky blue?")
    ```

    Objects with equal settings share one engine, which answers any number of calls at once, from
    threads and from event loops. Cancelling a task or leaving a stream frees its place at once.

    ``complete(prompt)`` sends the prompt as one user turn through the model's chat template;
    ``complete(prompt, formatted=True)`` continues the text as it is.
    """

    _window: int | None = PrivateAttr(default=None)

    @classmethod
    @override
    def class_name(cls) -> str:
        """The name under which it is serialised."""
        return "Llamaint"

    @property
    @override
    def metadata(self) -> LLMMetadata:
        """What prompt helpers and agents ask for.

        The first access loads the engine unless ``context_window`` was given; on an event loop,
        ``await awarmup()`` first.
        """
        if self._window is None:
            self._window = self.context_window or cast("int", self._engine().info["n_ctx"])
        return LLMMetadata(
            context_window=self._window,
            num_output=self.max_tokens or DEFAULT_NUM_OUTPUTS,
            is_chat_model=True,
            is_function_calling_model=False,
            model_name=model_name(self.model),
        )

    @override
    def to_payload(self) -> dict[str, Any]:
        """What tracing sees: no paths, and nothing that would load the engine."""
        return {
            "class_name": self.class_name(),
            "model_name": model_name(self.model),
            **self._named_options(),
        }

    @property
    def tokenizer(self) -> Callable[[str], list[int]]:
        """The model's own tokenizer, for ``Settings.tokenizer`` and text splitters."""
        return self._tokenize

    def _tokenize(self, text: str) -> list[int]:
        return self._engine().tokenize(text, add_bos=False)

    def count_tokens(self, messages: Sequence[ChatMessage]) -> int:
        """Tokens of the rendered conversation, as a request would send it."""
        return self._engine().count_tokens(to_messages(messages))

    def _chat_options(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        fixed = {
            **self._fixed_options(),
            "chat_template_kwargs": self.chat_template_kwargs,
            "enable_thinking": self.reasoning,
        }
        return call_options(fixed, kwargs, CHAT)

    def _complete_options(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        return call_options(self._fixed_options(), kwargs, COMPLETE)

    # Chat

    @override
    @llm_chat_callback()
    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """Answer a conversation. ``kwargs`` override the fields for this call."""
        return self._chat(messages, kwargs)

    @override
    @llm_chat_callback()
    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """`chat` on the event loop, without a thread."""
        return await self._achat(messages, kwargs)

    @override
    @llm_chat_callback()
    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:
        """Responses that hold everything so far; ``delta`` is what is new."""
        return self._stream_chat(messages, kwargs)

    @override
    @llm_chat_callback()
    async def astream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseAsyncGen:
        """`stream_chat` on the event loop, without a thread."""
        return await self._astream_chat(messages, kwargs)

    def _chat(self, messages: Sequence[ChatMessage], kwargs: dict[str, Any]) -> ChatResponse:
        options = self._chat_options(kwargs)
        return chat_response(self._engine().chat(to_messages(messages), **options))

    async def _achat(self, messages: Sequence[ChatMessage], kwargs: dict[str, Any]) -> ChatResponse:
        options = self._chat_options(kwargs)
        llm = await self._aengine()
        return chat_response(await llm.achat(to_messages(messages), **options))

    def _stream_chat(self, messages: Sequence[ChatMessage], kwargs: dict[str, Any]) -> ChatResponseGen:
        options = self._chat_options(kwargs)
        request = to_messages(messages)
        llm = self._engine()

        def responses() -> ChatResponseGen:
            so_far = ChatSoFar(llm.name)
            with closing(llm.chat_stream(request, **options)) as events:
                for event in events:
                    yield so_far.add(event)

        return responses()

    async def _astream_chat(self, messages: Sequence[ChatMessage], kwargs: dict[str, Any]) -> ChatResponseAsyncGen:
        options = self._chat_options(kwargs)
        request = to_messages(messages)
        llm = await self._aengine()

        async def responses() -> ChatResponseAsyncGen:
            so_far = ChatSoFar(llm.name)
            async with aclosing(llm.achat_stream(request, **options)) as events:
                async for event in events:
                    yield so_far.add(event)

        return responses()

    # Completion

    @override
    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """Answer a prompt as one user turn, or continue it as it is if ``formatted``."""
        if not formatted:
            return as_completion(self._chat(_user_turn(prompt), kwargs))
        options = self._complete_options(kwargs)
        return completion_response(self._engine().complete(prompt, **options))

    @override
    @llm_completion_callback()
    async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """`complete` on the event loop, without a thread."""
        if not formatted:
            return as_completion(await self._achat(_user_turn(prompt), kwargs))
        options = self._complete_options(kwargs)
        llm = await self._aengine()
        return completion_response(await llm.acomplete(prompt, **options))

    @override
    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        """Responses that hold everything so far; ``delta`` is what is new."""
        if not formatted:
            return (as_completion(r) for r in self._stream_chat(_user_turn(prompt), kwargs))
        options = self._complete_options(kwargs)
        llm = self._engine()

        def responses() -> CompletionResponseGen:
            so_far = CompletionSoFar(llm.name)
            with closing(llm.complete_stream(prompt, **options)) as events:
                for event in events:
                    yield so_far.add(event)

        return responses()

    @override
    @llm_completion_callback()
    async def astream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseAsyncGen:
        """`stream_complete` on the event loop, without a thread."""
        if not formatted:
            chat = await self._astream_chat(_user_turn(prompt), kwargs)
            return _as_completions(chat)
        options = self._complete_options(kwargs)
        llm = await self._aengine()

        async def responses() -> CompletionResponseAsyncGen:
            so_far = CompletionSoFar(llm.name)
            async with aclosing(llm.acomplete_stream(prompt, **options)) as events:
                async for event in events:
                    yield so_far.add(event)

        return responses()

    # Not in this version

    @override
    def _prepare_chat_with_tools(
        self,
        tools: Sequence[BaseTool],
        user_msg: str | ChatMessage | None = None,
        chat_history: list[ChatMessage] | None = None,
        verbose: bool = False,
        allow_parallel_tool_calls: bool = False,
        tool_required: bool = False,
        **kwargs: Any,
    ) -> dict[str, Any]:
        raise UnsupportedError("this version of llamaint_llamaindex has no tool calling")


def _user_turn(prompt: str) -> list[ChatMessage]:
    return [ChatMessage(role=MessageRole.USER, content=prompt)]


async def _as_completions(chat: ChatResponseAsyncGen) -> CompletionResponseAsyncGen:
    async with aclosing(chat) as responses:
        async for response in responses:
            yield as_completion(response)
