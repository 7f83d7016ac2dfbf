"""The RAG demonstration: documents, a framework, two models, an answer with its sources."""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from llamaint.cli import console, models
from llamaint.errors import ConfigError, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from llamaint import Llama, LlamaEmbedding

BUNDLED = Path(__file__).parent / "demo_docs"

PASSAGE_CHARS = 200
"""Longest passage. Small: SmolLM2 loses its thread in longer ones."""

_N_CTX = 4096
_EXCERPT_CHARS = 72


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A file of the folder; ``name`` is its path below it."""

    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A piece of a document that fits the question; ``score`` is the cosine similarity."""

    document: str
    text: str
    score: float


class RagFramework(Protocol):
    """What a framework's side of the demonstration can do."""

    def index(self, documents: Sequence[Document]) -> int:
        """Splits and embeds the documents; returns the number of passages."""
        ...

    def retrieve(self, question: str, n_passages: int) -> list[Passage]:
        """The passages nearest to the question, best first."""
        ...

    def answer(self, question: str, passages: Sequence[Passage]) -> Iterator[str]:
        """The answer, piece by piece."""
        ...


def run_rag(
    question: str, *, framework: str, folder: Path | None, model: str, embedding_model: str, n_passages: int
) -> None:
    """Prints a streamed answer and the table of its sources.

    Raises:
        ConfigError: the folder holds no text.
        UnsupportedError: the framework is not installed.
        LlamaintError: a model cannot be loaded, or fails.
    """
    make = _import(framework)
    documents = read_documents(folder or BUNDLED)
    with (
        models.open_embedding(embedding_model, {}) as embedder,
        models.open_llm(model, {"n_parallel": 1, "n_ctx": _N_CTX}) as llm,
    ):
        side = make(llm, embedder)
        n_indexed = side.index(documents)
        console.note(f"{framework}: {len(documents)} files, {n_indexed} passages\n")
        passages = side.retrieve(question, n_passages)
        for piece in side.answer(question, passages):
            console.write(piece)
    console.write("\n\n")
    console.table(
        ("score", "source", "passage"),
        [(f"{passage.score:.2f}", passage.document, _excerpt(passage.text)) for passage in passages],
    )


class _Make(Protocol):
    def __call__(self, llm: Llama, embedder: LlamaEmbedding) -> RagFramework: ...


def _import(framework: str) -> _Make:
    if framework == "langchain" and sys.version_info < (3, 11):
        raise UnsupportedError("LangChain needs Python 3.11 or newer; --framework llamaindex works with this one")
    try:
        module = importlib.import_module(f"llamaint.cli.rag_{framework}")
    except ImportError as error:
        raise UnsupportedError(
            f"{error.name} is not installed; get it with `pip install 'llamaint[{framework}]'`"
        ) from error
    make: _Make = module.make
    return make


def read_documents(folder: Path) -> list[Document]:
    """The .md and .txt files of a folder and the folders in it, by name; empty ones are left out.

    Raises:
        ConfigError: there is none.
    """
    files = sorted(file for file in folder.rglob("*") if file.suffix in (".md", ".txt") and file.is_file())
    documents = [
        Document(name=file.relative_to(folder).as_posix(), text=text)
        for file in files
        if (text := file.read_text("utf-8", errors="replace")).strip()
    ]
    if not documents:
        raise ConfigError(f"{folder} holds no .md or .txt file with text", n_files=len(files))
    return documents


def _excerpt(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _EXCERPT_CHARS else line[: _EXCERPT_CHARS - 1].rstrip() + "…"
