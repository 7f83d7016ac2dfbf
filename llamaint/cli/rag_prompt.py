"""The prompt of the RAG demonstration, written for a model of 135 million parameters.

One example turn shows what is wanted better than any instruction does, and the best passage stands
last, next to the question.
"""

from __future__ import annotations

from collections.abc import Sequence

from llamaint.types import Message

MAX_TOKENS = 120
STOP = ("\n\n",)

_SYSTEM = "You answer questions with facts from the given text, in one or two sentences."
_EXAMPLE_TEXT = (
    "The library of Orrin opens at nine in the morning. Members may borrow five books for three weeks. "
    "A late book costs ten cents a day."
)
_EXAMPLE_QUESTION = "How many books may a member borrow?"
_EXAMPLE_ANSWER = "A member may borrow five books for three weeks."


def messages(question: str, passages: Sequence[str]) -> list[Message]:
    """The conversation to be answered; ``passages`` come best first."""
    text = "\n\n".join(_prose(passage) for passage in reversed(passages))
    return [
        Message(role="system", content=_SYSTEM),
        Message(role="user", content=_ask(_EXAMPLE_TEXT, _EXAMPLE_QUESTION)),
        Message(role="assistant", content=_EXAMPLE_ANSWER),
        Message(role="user", content=_ask(text, question)),
    ]


def _prose(passage: str) -> str:
    """The passage without headings, which a small model takes for answers, as one paragraph."""
    lines = (line.strip() for line in passage.splitlines())
    return " ".join(line for line in lines if line and not line.startswith("#")) or passage


def _ask(text: str, question: str) -> str:
    return f"{text}\n\nAnswer from the text above: {question}"
