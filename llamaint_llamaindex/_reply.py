"""Results and events of the runtime → LlamaIndex responses. Streamed ones are cumulative."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    CompletionResponse,
    ContentBlock,
    LogProb,
    MessageRole,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
)

from llamaint import types

if TYPE_CHECKING:
    from collections.abc import Sequence


def raw_reply(model: str, reason: str, usage: types.Usage, timings: types.Timings) -> dict[str, Any]:
    """What ``response.raw`` holds: JSON values only, ``usage`` under OpenAI's names."""
    return {
        "model": model,
        "finish_reason": reason,
        "usage": {
            "prompt_tokens": usage.prompt_tokens,
            "completion_tokens": usage.completion_tokens,
            "total_tokens": usage.total_tokens,
            "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
        },
        "timings": dataclasses.asdict(timings),
    }


def chat_response(result: types.ChatResult) -> ChatResponse:
    """A finished chat turn."""
    message = result.message
    content = message.content
    text = content if isinstance(content, str) else "".join(part.text for part in content)
    return ChatResponse(
        message=_message(text, message.reasoning or "", message.tool_calls),
        raw=raw_reply(result.model, result.finish_reason, result.usage, result.timings),
        logprobs=_logprobs(result.choices[0].logprobs),
    )


def completion_response(result: types.CompletionResult) -> CompletionResponse:
    """A finished completion."""
    return CompletionResponse(
        text=result.text,
        raw=raw_reply(result.model, result.finish_reason, result.usage, result.timings),
        logprobs=_logprobs(result.choices[0].logprobs),
    )


def as_completion(response: ChatResponse) -> CompletionResponse:
    """The answer to a prompt that was sent as one user turn."""
    return CompletionResponse(
        text=response.message.content or "",
        additional_kwargs=response.additional_kwargs,
        raw=response.raw,
        delta=response.delta,
        logprobs=response.logprobs,
    )


class ChatSoFar:
    """Folds the events of one chat into responses, each holding everything so far."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._text = ""
        self._thoughts = ""
        self._calls: dict[int, types.ToolCall] = {}
        self._logprobs: list[types.TokenLogprob] = []

    def add(self, event: types.ChatEvent) -> ChatResponse:
        """The response after one more event; the last one carries usage in ``raw``."""
        if isinstance(event, types.TextDelta):
            self._text += event.text
            self._logprobs.extend(event.logprobs or ())
            return self._response(delta=event.text)
        if isinstance(event, types.ReasoningDelta):
            self._thoughts += event.text
            return self._response(delta="", thinking_delta=event.text)
        if isinstance(event, types.Finish):
            raw = raw_reply(self._model, event.reason, event.usage, event.timings)
            return self._response(delta="", raw=raw)
        if isinstance(event, types.ToolCallStart):
            self._calls[event.call] = types.ToolCall(id=event.id, name=event.name, arguments="")
        elif isinstance(event, types.ToolArgsDelta):
            call = self._calls[event.call]
            self._calls[event.call] = dataclasses.replace(call, arguments=call.arguments + event.text)
        return self._response(delta="")

    def _response(self, *, delta: str, raw: dict[str, Any] | None = None, **additional: str) -> ChatResponse:
        return ChatResponse(
            message=_message(self._text, self._thoughts, list(self._calls.values())),
            delta=delta,
            raw=raw,
            logprobs=_logprobs(self._logprobs),
            additional_kwargs=additional,
        )


class CompletionSoFar:
    """The same for a completion."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._text = ""
        self._logprobs: list[types.TokenLogprob] = []

    def add(self, event: types.TextDelta | types.Finish) -> CompletionResponse:
        """The response after one more event; the last one carries usage in ``raw``."""
        raw: dict[str, Any] | None = None
        delta = ""
        if isinstance(event, types.Finish):
            raw = raw_reply(self._model, event.reason, event.usage, event.timings)
        else:
            delta = event.text
            self._text += delta
            self._logprobs.extend(event.logprobs or ())
        return CompletionResponse(text=self._text, delta=delta, raw=raw, logprobs=_logprobs(self._logprobs))


def _message(text: str, thoughts: str, calls: Sequence[types.ToolCall]) -> ChatMessage:
    blocks: list[ContentBlock] = []
    if thoughts:
        blocks.append(ThinkingBlock(content=thoughts))
    blocks.append(TextBlock(text=text))
    blocks.extend(
        ToolCallBlock(tool_call_id=call.id, tool_name=call.name, tool_kwargs=_arguments(call.arguments))
        for call in calls
    )
    return ChatMessage(role=MessageRole.ASSISTANT, blocks=blocks)


def _arguments(text: str) -> dict[str, Any] | str:
    """Parsed once they are whole; the JSON text while they are not."""
    try:
        arguments = json.loads(text or "{}")
    except json.JSONDecodeError:
        return text
    return arguments if isinstance(arguments, dict) else text


def _logprobs(items: Sequence[types.TokenLogprob] | None) -> list[list[LogProb]] | None:
    """For each token the one that was picked, then the most likely others."""
    if not items:
        return None
    return [
        [_logprob(item.bytes, item.logprob)]
        + [_logprob(raw, value) for token, raw, value in item.top if token != item.token]
        for item in items
    ]


def _logprob(raw: bytes, value: float) -> LogProb:
    return LogProb(token=raw.decode("utf-8", "replace"), logprob=value, bytes=list(raw))
