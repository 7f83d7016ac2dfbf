"""``llamaint inspect``: what a GGUF file says about itself."""

from __future__ import annotations

from typing import Annotated

import typer

EXAMPLES = """\
llamaint inspect smollm2-135m
"""


def inspect(
    name: Annotated[str, typer.Argument(help="GGUF file, alias, or hf: name.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Show a model's facts."""
    raise SystemExit(name)
