"""What a failed command prints, and its exit code."""

from __future__ import annotations

from llamaint import errors
from llamaint.cli import console

INTERRUPTED = 130
FAILED = 1

# What a person at a command line can do about it, where the message does not say so itself.
_HINTS: dict[type[errors.LlamaintError], str] = {
    errors.PromptTooLongError: "shorten the prompt, or give --ctx a larger number",
    errors.CapacityError: "a smaller --ctx needs less memory",
    errors.TemplateError: "`llamaint complete` works without a chat template",
}


def report(error: errors.LlamaintError) -> None:
    """Prints the error as one red line, and a hint if there is one."""
    console.styled(f"error: {' '.join(str(error).split())}", "red")
    for kind, hint in _HINTS.items():
        if isinstance(error, kind):
            console.note(f"hint: {hint}")
