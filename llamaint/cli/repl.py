"""The prompt of ``llamaint chat``."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from llamaint.cli import console, errors
from llamaint.errors import ClosedError, RequestError

if TYPE_CHECKING:
    from llamaint.cli.conversation import Conversation

_HELP = """\
/help   this list
/reset  forget the conversation; the system prompt stays
/quit   leave (so does Ctrl-D)
A line that ends with \\ goes on in the next one. Ctrl-C stops an answer."""


def run_repl(conversation: Conversation) -> None:
    """Reads questions until the user leaves.

    Raises:
        KeyboardInterrupt: Ctrl-C at the prompt.
    """
    with contextlib.suppress(ImportError):  # editing and history, where the platform has it
        import readline  # noqa: F401
    console.note("/help lists the commands")
    while (text := _read()) is not None:
        command = text.strip()
        if not command:
            continue
        if command == "/quit":
            return
        if command == "/help":
            console.note(_HELP)
        elif command == "/reset":
            conversation.reset()
            console.note("(forgotten)")
        elif command.startswith("/") and " " not in command:
            console.note(f"there is no command {command}; /help lists them")
        else:
            _answer(conversation, text)


def _answer(conversation: Conversation, text: str) -> None:
    try:
        conversation.ask(text)
    except KeyboardInterrupt:
        console.note("\n(stopped)")
    except ClosedError:
        raise
    except RequestError as error:  # this question is at fault; the next one may do
        errors.report(error)
        console.note("/reset makes room by forgetting the conversation")


def _read() -> str | None:
    """A question, continued while lines end with a backslash; None at the end of input."""
    lines: list[str] = []
    prompt = "> "
    while True:
        try:
            line = input(prompt)
        except EOFError:
            return None
        if not line.endswith("\\"):
            return "\n".join([*lines, line])
        lines.append(line[:-1])
        prompt = "… "
