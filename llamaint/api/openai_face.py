"""The methods of `Llama` that speak OpenAI's shapes under llama-cpp-python's names."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, overload

from llamaint.api.openai import ChatChunks, CompletionChunks, Json, chat_dict, completion_dict
from llamaint.api.openai_params import chat_options, completion_options
from llamaint.errors import RequestError

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from llamaint.api.openai_params import OpenAIChatOptions, OpenAICompletionOptions
    from llamaint.api.options import ChatCallOptions, CompleteOptions
    from llamaint.api.pipeline import Messages, Prompt
    from llamaint.engine.stream import Stream
    from llamaint.types import ChatEvent, ChatResult, CompletionResult, Finish, TextDelta


class OpenAIFace(ABC):
    """Dicts in OpenAI's shapes, made from the typed results."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The model's name in results."""

    @abstractmethod
    def complete(self, prompt: Prompt, **options: Unpack[CompleteOptions]) -> CompletionResult:
        """Continue a prompt and wait for the result."""

    @abstractmethod
    def complete_stream(self, prompt: Prompt, **options: Unpack[CompleteOptions]) -> Stream[TextDelta | Finish]:
        """`complete`, yielding events as they come."""

    @abstractmethod
    def chat(self, messages: Messages, **options: Unpack[ChatCallOptions]) -> ChatResult:
        """Answer a conversation and wait for the result."""

    @abstractmethod
    def chat_stream(self, messages: Messages, **options: Unpack[ChatCallOptions]) -> Stream[ChatEvent]:
        """`chat`, yielding events as they come."""

    @overload
    def create_completion(
        self,
        prompt: Prompt,
        suffix: str | None = None,
        max_tokens: int | None = 16,
        *,
        stream: Literal[False] = False,
        stream_options: None = None,
        **options: Unpack[OpenAICompletionOptions],
    ) -> Json: ...

    @overload
    def create_completion(
        self,
        prompt: Prompt,
        suffix: str | None = None,
        max_tokens: int | None = 16,
        *,
        stream: Literal[True],
        stream_options: Mapping[str, bool] | None = None,
        **options: Unpack[OpenAICompletionOptions],
    ) -> Iterator[Json]: ...

    def create_completion(
        self,
        prompt: Prompt,
        suffix: str | None = None,
        max_tokens: int | None = 16,
        *,
        stream: bool = False,
        stream_options: Mapping[str, bool] | None = None,
        **options: Unpack[OpenAICompletionOptions],
    ) -> Json | Iterator[Json]:
        """A text completion as OpenAI's API returns it.

        Args:
            prompt: text or token ids.
            suffix: text after the gap to fill; needs a model with fill-in-the-middle tokens.
            max_tokens: OpenAI's default is 16; ``None`` goes on until the model ends.
            stream: return an iterator of chunks; leaving it cancels the request.
            stream_options: ``{"include_usage": True}`` adds a last chunk with token counts.
            options: ``logprobs``, ``echo``, ``stop``, ``n``, ``grammar``, ``logit_bias`` and every
                field of `SamplingParams`; see `OpenAICompletionOptions`.

        Raises:
            TypeError: an unknown keyword.
            LlamaintError: as `Llama.complete`.
        """
        call = completion_options("create_completion", options)
        call.update(suffix=suffix, max_tokens=max_tokens)
        include_usage = _include_usage(stream, stream_options)
        model = options.get("model") or self.name
        if not stream:
            return {**completion_dict(self.complete(prompt, **call)), "model": model}
        chunks = CompletionChunks(model=model, include_usage=include_usage)
        return _iterate(self.complete_stream(prompt, **call), chunks)

    @overload
    def __call__(
        self,
        prompt: Prompt,
        suffix: str | None = None,
        max_tokens: int | None = 16,
        *,
        stream: Literal[False] = False,
        stream_options: None = None,
        **options: Unpack[OpenAICompletionOptions],
    ) -> Json: ...

    @overload
    def __call__(
        self,
        prompt: Prompt,
        suffix: str | None = None,
        max_tokens: int | None = 16,
        *,
        stream: Literal[True],
        stream_options: Mapping[str, bool] | None = None,
        **options: Unpack[OpenAICompletionOptions],
    ) -> Iterator[Json]: ...

    def __call__(self, prompt: Prompt, *args: Any, **options: Any) -> Json | Iterator[Json]:
        """`create_completion`."""
        result: Json | Iterator[Json] = self.create_completion(prompt, *args, **options)
        return result

    @overload
    def create_chat_completion(
        self,
        messages: Messages,
        *,
        max_tokens: int | None = None,
        stream: Literal[False] = False,
        stream_options: None = None,
        **options: Unpack[OpenAIChatOptions],
    ) -> Json: ...

    @overload
    def create_chat_completion(
        self,
        messages: Messages,
        *,
        max_tokens: int | None = None,
        stream: Literal[True],
        stream_options: Mapping[str, bool] | None = None,
        **options: Unpack[OpenAIChatOptions],
    ) -> Iterator[Json]: ...

    def create_chat_completion(
        self,
        messages: Messages,
        *,
        max_tokens: int | None = None,
        stream: bool = False,
        stream_options: Mapping[str, bool] | None = None,
        **options: Unpack[OpenAIChatOptions],
    ) -> Json | Iterator[Json]:
        """A chat completion as OpenAI's API returns it.

        Args:
            messages: OpenAI-shaped dicts or `Message` objects.
            max_tokens: ``None`` goes on until the model ends.
            stream: return an iterator of chunks; leaving it cancels the request.
            stream_options: ``{"include_usage": True}`` adds a last chunk with token counts.
            options: ``logprobs`` with ``top_logprobs``, ``response_format``, ``stop``, ``n``,
                ``grammar``, ``logit_bias`` and every field of `SamplingParams`; see
                `OpenAIChatOptions`.

        Raises:
            TypeError: an unknown keyword.
            LlamaintError: as `Llama.chat`.
        """
        call = chat_options("create_chat_completion", options)
        if max_tokens is not None:
            if "max_tokens" in call:
                raise RequestError("max_tokens and max_completion_tokens are the same; give one")
            call["max_tokens"] = max_tokens
        include_usage = _include_usage(stream, stream_options)
        model = options.get("model") or self.name
        if not stream:
            return {**chat_dict(self.chat(messages, **call)), "model": model}
        chunks = ChatChunks(model=model, include_usage=include_usage)
        return _iterate(self.chat_stream(messages, **call), chunks)


def _iterate(stream: Stream[Any], chunks: CompletionChunks | ChatChunks) -> Iterator[Json]:
    with stream:
        for event in stream:
            yield from chunks.of(event)
    yield from chunks.last()


def _include_usage(stream: bool, options: Mapping[str, bool] | None) -> bool:
    if options is None:
        return False
    if not stream:
        raise RequestError("stream_options needs stream=True")
    if not isinstance(options, Mapping):
        raise RequestError(f"stream_options must be a mapping; it is {type(options).__name__}")
    for name in options.keys() - {"include_usage"}:
        raise RequestError(f"stream_options has an unknown key {name!r}")
    return bool(options.get("include_usage", False))
