"""``llamaint demo``: things to see."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from llamaint.cli import options

demo = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Demonstrations on real models.")

EXAMPLES = """\
llamaint demo rag
llamaint demo rag --framework llamaindex "When does the boat sail to Skerry Vane?"
llamaint demo rag --docs ~/notes "What did we decide about the garden?"
"""


class Framework(str, Enum):
    """Who splits, stores and retrieves."""

    langchain = "langchain"
    llamaindex = "llamaindex"


@demo.callback()
def _group() -> None:
    """Demonstrations on real models."""


@demo.command(epilog=options.as_epilog(EXAMPLES))
def rag(
    question: Annotated[
        str, typer.Argument(help="What to ask the documents.")
    ] = "How does llamaint keep two requests apart?",
    framework: Annotated[Framework, typer.Option("--framework", help="Which framework runs it.")] = Framework.langchain,
    docs: Annotated[
        Path | None,
        typer.Option(
            "--docs", exists=True, file_okay=False, help="Folder of .md and .txt files; a bundled one if not given."
        ),
    ] = None,
    model: options.ChatModel = options.CHAT_ALIAS,
    embedding_model: Annotated[str, typer.Option("--embedding-model", help="As --model.")] = "minilm-l6",
    passages: Annotated[int, typer.Option("--passages", min=1, help="How many passages the model gets to read.")] = 2,
) -> None:
    """Answer a question from a folder of documents, and show where the answer comes from.

    The framework splits the files, keeps their vectors in memory and finds the passages; both models
    run in this process.
    """
    from llamaint.cli.rag import run_rag

    run_rag(
        question,
        framework=framework.value,
        folder=docs,
        model=model,
        embedding_model=embedding_model,
        n_passages=passages,
    )
