"""``llamaint pull``: fetch models ahead of time, or list and remove them."""

from __future__ import annotations

from typing import Annotated

import typer

from llamaint.cli import console, models

EXAMPLES = """\
llamaint pull
llamaint pull smollm2-135m minilm-l6
llamaint pull hf:owner/repo:Q4_K_M
llamaint pull --forget gemma-3-270m
"""


def pull(
    names: Annotated[list[str] | None, typer.Argument(help="Aliases, or hf:owner/repo[:file-or-quant].")] = None,
    forget: Annotated[bool, typer.Option("--forget", help="Delete the cached files of these aliases instead.")] = False,
) -> None:
    """Download models; without a name, list those that have an alias.

    Prints the path of each file.
    """
    if not names:
        if forget:
            raise typer.BadParameter("name the aliases to forget", param_hint="NAMES")
        list_aliases()
        return
    for name in names:
        if forget:
            from llamaint import hub

            console.note(f"{name}: {console.megabytes(hub.forget(name))} freed")
        else:
            console.write(f"{models.fetch(name)}\n")


def list_aliases() -> None:
    """Prints the table of aliases."""
    from llamaint import hub

    rows = [
        (
            model.alias,
            console.megabytes(model.size_bytes),
            "yes" if model.path else "no",
            model.licence,
            model.purpose,
        )
        for model in hub.list_models()
    ]
    console.table(("alias", "size", "cached", "licence", "purpose"), rows)
