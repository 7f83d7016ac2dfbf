"""Loading for commands: with progress on the terminal, and terms of use before a download."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llamaint.cli import console

if TYPE_CHECKING:
    from pathlib import Path

    from llamaint import Llama, LlamaEmbedding


def fetch(name: str) -> Path:
    """The local file of a model, downloaded if it must be."""
    from llamaint import hub

    show_terms(name)
    with console.progress() as report:
        return hub.resolve(name, progress=report)


def open_llm(name: str, settings: dict[str, Any]) -> Llama:
    """A loaded model; ``settings`` are keywords of `Llama`."""
    import llamaint

    show_terms(name)
    with console.progress() as report:
        return llamaint.Llama(name, progress=report, **settings)


def open_embedding(name: str, settings: dict[str, Any]) -> LlamaEmbedding:
    """A loaded embedding model; ``settings`` are keywords of `LlamaEmbedding`."""
    import llamaint

    show_terms(name)
    with console.progress() as report:
        return llamaint.LlamaEmbedding(name, progress=report, **settings)


def show_terms(name: str) -> None:
    """Prints the terms of use of an alias that is about to be downloaded."""
    from llamaint import hub

    for model in hub.list_models():
        if model.alias == name and model.terms is not None and model.path is None:
            console.note(f"{model.alias}: {model.terms}")
