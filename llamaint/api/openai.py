"""OpenAI-shaped dicts of results and events. Used by `Llama.create_*` and by the server."""

from __future__ import annotations

import math
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from llamaint.reply.fold import new_id
from llamaint.types import (
    Finish,
    ReasoningDelta,
    TextDelta,
    ToolArgsDelta,
    ToolCallStart,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from llamaint.types import (
        ChatEvent,
        ChatResult,
        Choice,
        CompletionResult,
        Message,
        Timings,
        TokenLogprob,
        Usage,
    )

Json = dict[str, Any]
_LEAST_LOGPROB = -9999.0  # OpenAI's stand-in for minus infinity, which JSON cannot express


def usage_dict(usage: Usage) -> Json:
    """Token counts by OpenAI's names."""
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.total_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
    }


def timings_dict(timings: Timings) -> dict[str, float]:
    """The fields of `Timings`; an addition to OpenAI's shape."""
    return asdict(timings)


def message_dict(message: Message) -> Json:
    """An assistant message, ready to be sent back in the next request."""
    content = message.content
    result: Json = {"role": "assistant", "content": content, "refusal": None}
    if message.reasoning is not None:
        result["reasoning_content"] = message.reasoning
    if message.tool_calls:
        result["content"] = content or None
        result["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in message.tool_calls
        ]
    return result


def chat_logprobs(logprobs: Sequence[TokenLogprob] | None) -> Json | None:
    """``choices[i].logprobs`` of a chat completion."""
    if logprobs is None:
        return None
    return {
        "content": [
            {
                **_token_entry(entry.bytes, entry.logprob),
                "top_logprobs": [_token_entry(piece, logprob) for _, piece, logprob in entry.top],
            }
            for entry in logprobs
        ],
        "refusal": None,
    }


class LegacyLogprobs:
    """``choices[i].logprobs`` of a text completion; offsets run on over the chunks of a stream."""

    def __init__(self, n_chars: int = 0) -> None:
        """``n_chars`` characters stand before the first token (an echoed prompt)."""
        self._bytes = b""
        self._n_before = n_chars

    def of(self, logprobs: Sequence[TokenLogprob] | None) -> Json | None:
        """The shape for the next tokens."""
        if logprobs is None:
            return None
        result: Json = {"tokens": [], "token_logprobs": [], "top_logprobs": [], "text_offset": []}
        for entry in logprobs:
            offset = self._n_before + len(self._bytes.decode(errors="ignore"))
            result["text_offset"].append(offset)
            result["tokens"].append(token_text(entry.bytes))
            result["token_logprobs"].append(_finite(entry.logprob))
            result["top_logprobs"].append({token_text(piece): _finite(logprob) for _, piece, logprob in entry.top})
            self._bytes += entry.bytes
        return result


def token_text(piece: bytes) -> str:
    r"""A token as text; ``bytes:\xe2\x80`` when it is only part of a character."""
    try:
        return piece.decode()
    except UnicodeDecodeError:
        return "bytes:" + "".join(f"\\x{byte:02x}" for byte in piece)


def completion_dict(result: CompletionResult) -> Json:
    """A finished text completion."""
    return {
        "id": result.id,
        "object": "text_completion",
        "created": result.created,
        "model": result.model,
        "choices": [
            {
                "index": choice.index,
                "text": choice.text,
                "finish_reason": choice.finish_reason,
                "logprobs": LegacyLogprobs().of(choice.logprobs),
            }
            for choice in result.choices
        ],
        "usage": usage_dict(result.usage),
        "timings": timings_dict(result.timings),
    }


def chat_dict(result: ChatResult) -> Json:
    """A finished chat completion."""
    return {
        "id": result.id,
        "object": "chat.completion",
        "created": result.created,
        "model": result.model,
        "choices": [_chat_choice(choice) for choice in result.choices],
        "usage": usage_dict(result.usage),
        "timings": timings_dict(result.timings),
    }


class _Chunks:
    """The fields that all chunks of one stream share."""

    def __init__(self, *, object_: str, kind: str, model: str, include_usage: bool) -> None:
        self._base = {
            "id": new_id(kind),
            "object": object_,
            "created": int(time.time()),
            "model": model,
        }
        self._include_usage = include_usage
        self._last: Finish | None = None

    def _chunk(self, choices: list[Json], usage: Usage | None = None) -> Json:
        chunk: Json = {**self._base, "choices": choices}
        if self._include_usage:
            chunk["usage"] = usage_dict(usage) if usage is not None else None
        return chunk

    def last(self) -> Iterable[Json]:
        """The chunk after the last event: usage of the whole request, if it was asked for."""
        if self._include_usage and self._last is not None:
            yield {
                **self._chunk([], self._last.usage),
                "timings": timings_dict(self._last.timings),
            }


class CompletionChunks(_Chunks):
    """Events of a text completion to stream chunks."""

    def __init__(self, *, model: str, include_usage: bool) -> None:
        super().__init__(object_="text_completion", kind="cmpl", model=model, include_usage=include_usage)
        self._logprobs: dict[int, LegacyLogprobs] = {}

    def of(self, event: TextDelta | Finish) -> Iterable[Json]:
        """Chunks of one event."""
        choice: Json = {"index": event.index, "text": "", "finish_reason": None, "logprobs": None}
        if isinstance(event, TextDelta):
            logprobs = self._logprobs.setdefault(event.index, LegacyLogprobs())
            choice["text"] = event.text
            choice["logprobs"] = logprobs.of(event.logprobs)
            if not event.text and not event.logprobs:
                return
        else:
            choice["finish_reason"] = event.reason
            self._last = event
        yield self._chunk([choice])


class ChatChunks(_Chunks):
    """Events of a chat to stream chunks."""

    def __init__(self, *, model: str, include_usage: bool) -> None:
        super().__init__(
            object_="chat.completion.chunk",
            kind="chatcmpl",
            model=model,
            include_usage=include_usage,
        )
        self._begun: set[int] = set()

    def of(self, event: ChatEvent) -> Iterable[Json]:
        """Chunks of one event; the first of each choice carries the role."""
        if event.index not in self._begun:
            self._begun.add(event.index)
            yield self._delta(event.index, {"role": "assistant", "content": ""})
        if isinstance(event, TextDelta):
            logprobs = chat_logprobs(event.logprobs)
            if event.text or event.logprobs:
                yield self._delta(event.index, {"content": event.text}, logprobs=logprobs)
        elif isinstance(event, ReasoningDelta):
            yield self._delta(event.index, {"reasoning_content": event.text})
        elif isinstance(event, ToolCallStart):
            call: Json = {
                "index": event.call,
                "id": event.id,
                "type": "function",
                "function": {"name": event.name, "arguments": ""},
            }
            yield self._delta(event.index, {"tool_calls": [call]})
        elif isinstance(event, ToolArgsDelta):
            call = {"index": event.call, "function": {"arguments": event.text}}
            yield self._delta(event.index, {"tool_calls": [call]})
        elif isinstance(event, Finish):
            self._last = event
            yield self._delta(event.index, {}, reason=event.reason)

    def _delta(self, index: int, delta: Json, *, reason: str | None = None, logprobs: Json | None = None) -> Json:
        choice = {"index": index, "delta": delta, "finish_reason": reason, "logprobs": logprobs}
        return self._chunk([choice])


def _chat_choice(choice: Choice) -> Json:
    assert choice.message is not None  # chat results always carry one
    return {
        "index": choice.index,
        "message": message_dict(choice.message),
        "finish_reason": choice.finish_reason,
        "logprobs": chat_logprobs(choice.logprobs),
    }


def _token_entry(piece: bytes, logprob: float) -> Json:
    return {
        "token": piece.decode(errors="replace"),
        "logprob": _finite(logprob),
        "bytes": list(piece),
    }


def _finite(logprob: float) -> float:
    return logprob if math.isfinite(logprob) else _LEAST_LOGPROB
