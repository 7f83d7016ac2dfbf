"""Events to results. A result is the fold of exactly the events a stream would have yielded."""

from __future__ import annotations

import time
import uuid
from typing import TYPE_CHECKING

from llamaint.types import (
    ChatResult,
    Choice,
    CompletionResult,
    Finish,
    Message,
    ReasoningDelta,
    TextDelta,
    Timings,
    ToolArgsDelta,
    ToolCall,
    ToolCallStart,
    Usage,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from llamaint.types import ChatEvent, FinishReason, TokenLogprob


class _ChoiceFold:
    def __init__(self) -> None:
        self.text: list[str] = []
        self.reasoning: list[str] = []
        self.tokens: list[int] = []
        self.logprobs: list[TokenLogprob] | None = None
        self.calls: dict[int, ToolCallStart] = {}
        self.arguments: dict[int, list[str]] = {}
        self.reason: FinishReason = "stop"
        self.stop_text: str | None = None

    def add(self, event: ChatEvent) -> None:
        if isinstance(event, TextDelta):
            self.text.append(event.text)
            self.tokens.extend(event.tokens)
            if event.logprobs is not None:
                self.logprobs = [*(self.logprobs or ()), *event.logprobs]
        elif isinstance(event, ReasoningDelta):
            self.reasoning.append(event.text)
        elif isinstance(event, ToolCallStart):
            self.calls[event.call] = event
            self.arguments[event.call] = []
        elif isinstance(event, ToolArgsDelta):
            self.arguments[event.call].append(event.text)
        elif isinstance(event, Finish):
            self.reason = event.reason
            self.stop_text = event.stop_text

    def choice(self, index: int, *, chat: bool) -> Choice:
        text = "".join(self.text)
        return Choice(
            index=index,
            text=text,
            tokens=tuple(self.tokens),
            finish_reason=self.reason,
            stop_text=self.stop_text,
            logprobs=tuple(self.logprobs) if self.logprobs is not None else None,
            message=self._message(text) if chat else None,
        )

    def _message(self, text: str) -> Message:
        return Message(
            role="assistant",
            content=text,
            reasoning="".join(self.reasoning) or None,
            tool_calls=tuple(
                ToolCall(id=start.id, name=start.name, arguments="".join(self.arguments[call]))
                for call, start in self.calls.items()
            ),
        )


class Fold:
    """Collects the events of one request."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._choices: dict[int, _ChoiceFold] = {}
        self._usage = Usage()
        self._timings = Timings()

    def add(self, event: ChatEvent) -> None:
        """Take one event, in the order of the stream."""
        choice = self._choices.get(event.index)
        if choice is None:
            choice = self._choices[event.index] = _ChoiceFold()
        choice.add(event)
        if isinstance(event, Finish):
            self._usage = event.usage
            self._timings = event.timings

    def completion(self) -> CompletionResult:
        """What the events amount to."""
        return CompletionResult(
            id=new_id("cmpl"),
            model=self._model,
            created=int(time.time()),
            choices=self._collect(chat=False),
            usage=self._usage,
            timings=self._timings,
        )

    def chat(self) -> ChatResult:
        """What the events amount to."""
        return ChatResult(
            id=new_id("chatcmpl"),
            model=self._model,
            created=int(time.time()),
            choices=self._collect(chat=True),
            usage=self._usage,
            timings=self._timings,
        )

    def _collect(self, *, chat: bool) -> tuple[Choice, ...]:
        return tuple(self._choices[index].choice(index, chat=chat) for index in sorted(self._choices))


def fold_completion(events: Iterable[TextDelta | Finish], model: str) -> CompletionResult:
    """The result of a finished stream of completion events."""
    fold = Fold(model)
    for event in events:
        fold.add(event)
    return fold.completion()


def fold_chat(events: Iterable[ChatEvent], model: str) -> ChatResult:
    """The result of a finished stream of chat events."""
    fold = Fold(model)
    for event in events:
        fold.add(event)
    return fold.chat()


def new_id(kind: str) -> str:
    """A fresh id in OpenAI's form, e.g. ``chatcmpl-9f...``."""
    return f"{kind}-{uuid.uuid4().hex}"
