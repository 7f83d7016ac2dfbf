"""A conversation whose answers appear while they are generated."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

from llamaint.cli import console
from llamaint.types import Finish, Message, ReasoningDelta, TextDelta

if TYPE_CHECKING:
    from collections.abc import Mapping

    from llamaint import Llama


class Conversation:
    """What was said so far, and the model that answers.

    Args:
        options: keywords of `Llama.chat_stream` for every answer.
        stats: note token counts and speed after each answer.
    """

    def __init__(self, llm: Llama, *, system: str | None, options: Mapping[str, Any], stats: bool) -> None:
        self._llm = llm
        self._options = options
        self._stats = stats
        self._opening = [Message(role="system", content=system)] if system else []
        self._messages = list(self._opening)

    def reset(self) -> None:
        """Forgets everything but the system prompt."""
        self._messages = list(self._opening)

    def ask(self, text: str) -> None:
        """Answers on stdout. What an interrupted answer said so far stays part of the conversation.

        Raises:
            KeyboardInterrupt: the user stopped the answer; the request is cancelled.
            LlamaintError: nothing was answered; the conversation is as before.
        """
        asked = [*self._messages, Message(role="user", content=text)]
        answer: list[str] = []
        try:
            with closing(self._llm.chat_stream(asked, **self._options)) as stream:
                for event in stream:
                    if isinstance(event, TextDelta):
                        answer.append(event.text)
                        console.write(event.text)
                    elif isinstance(event, ReasoningDelta):
                        console.thought(event.text)
                    elif isinstance(event, Finish):
                        self._finished(event)
        finally:
            if answer:
                self._messages = [*asked, Message(role="assistant", content="".join(answer))]

    def _finished(self, finish: Finish) -> None:
        console.write("\n")
        if finish.reason == "length":
            console.note("(cut: --max-tokens or the context window was reached)")
        if self._stats:
            usage, timings = finish.usage, finish.timings
            console.note(
                f"({usage.prompt_tokens} tokens read, {usage.cached_tokens} of them cached, "
                f"{usage.completion_tokens} written; first after {timings.ttft_s:.2f} s, "
                f"then {timings.decode_per_s:.1f} per second)"
            )
