"""Chunks of chat replies to content, reasoning and tool-call events."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from llamaint.reply.completion import FINISHED
from llamaint.reply.logprobs import logprobs_of
from llamaint.reply.usage import UsageCounter, timings_of
from llamaint.types import (
    Finish,
    ReasoningDelta,
    TextDelta,
    ToolArgsDelta,
    ToolCallEnd,
    ToolCallStart,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from llamaint.backend.protocols import Chunk, ReplyDelta, ReplyParser
    from llamaint.types import ChatEvent, FinishReason, TokenLogprob


class ChatReader:
    """One parser per choice; each choice ends with one `Finish`."""

    def __init__(
        self,
        *,
        n_prompt: int,
        make_parser: Callable[[], ReplyParser],
        piece: Callable[[int], bytes] | None = None,
    ) -> None:
        """Read one request.

        Args:
            n_prompt: tokens of the prompt.
            make_parser: called once per choice.
            piece: bytes of a token; given when log-probabilities were asked for.
        """
        self._counter = UsageCounter(n_prompt)
        self._make_parser = make_parser
        self._piece = piece
        self._choices: dict[int, _ChoiceReader] = {}

    def feed(self, chunks: Sequence[Chunk]) -> list[ChatEvent]:
        """Events of the chunks, in order."""
        events: list[ChatEvent] = []
        for chunk in chunks:
            self._counter.add(chunk)
            choice = self._choices.get(chunk.choice)
            if choice is None:
                choice = _ChoiceReader(chunk.choice, self._make_parser(), self._piece)
                self._choices[chunk.choice] = choice
            events.extend(choice.feed(chunk))
            if chunk.finish in FINISHED:
                events.append(
                    Finish(
                        reason=choice.finish_reason(cast("FinishReason", chunk.finish)),
                        index=chunk.choice,
                        stop_text=chunk.stop_text or None,
                        usage=self._counter.usage,
                        timings=timings_of(chunk),
                    )
                )
        return events


class _ChoiceReader:
    def __init__(self, index: int, parser: ReplyParser, piece: Callable[[int], bytes] | None) -> None:
        self._index = index
        self._parser = parser
        self._piece = piece
        self._tokens: list[int] = []  # decided, and not yet part of an event
        self._logprobs: list[TokenLogprob] = []
        self._calls: list[int] = []  # numbers of the tool calls seen, in order

    def feed(self, chunk: Chunk) -> list[ChatEvent]:
        self._tokens.extend(chunk.tokens)
        if self._piece is not None:
            self._logprobs.extend(logprobs_of(chunk, self._piece))
        final = chunk.finish in FINISHED
        return self._events(self._parser.feed(chunk.text, final), final)

    def finish_reason(self, reason: FinishReason) -> FinishReason:
        return "tool_calls" if reason == "stop" and self._calls else reason

    def _events(self, delta: ReplyDelta, final: bool) -> list[ChatEvent]:
        events: list[ChatEvent] = []
        if delta.reasoning:
            events.append(ReasoningDelta(text=delta.reasoning, index=self._index))
        # Every token belongs to some text event, also those that became reasoning or a call.
        if delta.content or (final and self._tokens):
            logprobs = tuple(self._logprobs) if self._piece is not None else None
            events.append(
                TextDelta(
                    text=delta.content,
                    index=self._index,
                    tokens=tuple(self._tokens),
                    logprobs=logprobs,
                )
            )
            self._tokens.clear()
            self._logprobs.clear()
        for call, id_, name, arguments in delta.tool_calls:
            if call not in self._calls:
                events.extend(self._end_last_call())
                self._calls.append(call)
                events.append(ToolCallStart(id=id_, name=name, call=call, index=self._index))
            if arguments:
                events.append(ToolArgsDelta(text=arguments, call=call, index=self._index))
        if final:
            events.extend(self._end_last_call())
        return events

    def _end_last_call(self) -> list[ToolCallEnd]:
        return [ToolCallEnd(call=call, index=self._index) for call in self._calls[-1:]]
