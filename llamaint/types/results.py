"""What a finished request returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from llamaint.types.messages import Message

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from llamaint.types.events import FinishReason, TokenLogprob
    from llamaint.types.usage import Timings, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One of the n answers to a request.

    Attributes:
        text: the text, without the stop string that ended it.
        tokens: generated token ids, the end-of-generation token excluded.
        stop_text: the stop string found, if one ended the text.
        logprobs: one entry per token when asked for.
        message: chat only; content, reasoning and tool calls apart.
    """

    index: int = 0
    text: str = ""
    tokens: tuple[int, ...] = ()
    finish_reason: FinishReason = "stop"
    stop_text: str | None = None
    logprobs: tuple[TokenLogprob, ...] | None = None
    message: Message | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Result:
    id: str
    model: str
    created: int
    choices: tuple[Choice, ...]
    usage: Usage
    timings: Timings

    @property
    def text(self) -> str:
        """Text of the first choice."""
        return self.choices[0].text

    @property
    def finish_reason(self) -> FinishReason:
        """Why the first choice ended."""
        return self.choices[0].finish_reason


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionResult(_Result):
    """A finished completion. ``created`` is Unix time in seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatResult(_Result):
    """A finished chat turn. ``created`` is Unix time in seconds."""

    @property
    def message(self) -> Message:
        """The assistant's message of the first choice."""
        message = self.choices[0].message
        return message if message is not None else Message(role="assistant", content=self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Embeddings:
    """Vectors of a batch of texts, in the order given.

    Attributes:
        vectors: float32 ``[n_texts, n_embd_out]``; with pooling ``"none"`` a tuple of
            ``[n_tokens, n_embd_out]`` arrays.
        n_tokens: tokens of each text that were evaluated.
        truncated: indices of texts that were cut, empty unless truncation was asked for.
    """

    vectors: npt.NDArray[np.float32] | tuple[npt.NDArray[np.float32], ...]
    n_tokens: tuple[int, ...]
    truncated: tuple[int, ...] = field(default=())
