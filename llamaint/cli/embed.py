"""``llamaint embed``: texts to vectors."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from llamaint.cli import console, models, options

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    import numpy.typing as npt

    from llamaint import LlamaEmbedding

# Texts of one request: enough to fill decodes, few enough for progress and memory.
_BATCH = 256

EXAMPLES = """\
llamaint embed "a red apple" "a green pear"
llamaint embed --file sentences.txt --output vectors.npy
cut -f2 table.tsv | llamaint embed > vectors.jsonl
"""


def embed(
    texts: Annotated[
        list[str] | None, typer.Argument(help="Texts; lines of stdin if neither these nor --file are given.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--file", "-f", exists=True, dir_okay=False, help="One text a line.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="FILE.npy (float32 [n_texts, dim]) or FILE.jsonl; JSON lines on stdout if not given."
        ),
    ] = None,
    model: options.EmbeddingModel = options.EMBEDDING_ALIAS,
    normalize: Annotated[
        float, typer.Option("--normalize", min=0.0, help="2 for unit length, p for a p-norm, 0 for raw.")
    ] = 2.0,
    truncate: Annotated[
        bool, typer.Option("--truncate", help="Cut texts that are too long instead of failing.")
    ] = False,
    pooling: Annotated[str | None, typer.Option("--pooling", help="auto, mean, cls or last.")] = None,
    n_threads: options.NThreads = None,
    n_gpu_layers: options.NGpuLayers = None,
) -> None:
    """Embed texts, in order."""
    if texts and file is not None:
        raise typer.BadParameter("give texts or --file, not both")
    if output is not None and output.suffix not in (".npy", ".jsonl"):
        raise typer.BadParameter(f"{output} must end with .npy or .jsonl", param_hint="--output")
    if pooling not in (None, "auto", "mean", "cls", "last"):
        raise typer.BadParameter(f"{pooling!r} is not auto, mean, cls or last", param_hint="--pooling")
    wanted = texts or _lines(file)
    if not wanted:
        raise typer.BadParameter("there is no text to embed")
    settings = options.given(pooling=pooling, n_threads=n_threads, n_gpu_layers=n_gpu_layers)
    with models.open_embedding(model, settings) as embedder:
        _write(wanted, _vectors(embedder, wanted, normalize, truncate), output)


def _lines(file: Path | None) -> list[str]:
    if file is None and sys.stdin.isatty():
        raise typer.BadParameter("give texts, --file, or pipe lines in")
    content = sys.stdin.read() if file is None else file.read_text("utf-8")
    lines = content.replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _vectors(
    embedder: LlamaEmbedding, texts: list[str], normalize: float, truncate: bool
) -> Iterator[npt.NDArray[np.float32]]:
    """float32 ``[n, dim]`` for each batch of texts."""
    n_cut = 0
    with console.progress() as report:
        for start in range(0, len(texts), _BATCH):
            batch = texts[start : start + _BATCH]
            found = embedder.embed_full(batch, normalize=normalize, truncate=truncate)
            n_cut += len(found.truncated)
            report(f"embed {len(texts)} texts", min(start + _BATCH, len(texts)) / len(texts))
            yield found.vectors  # type: ignore[misc] # one array: pooling "none" is not offered
    if n_cut:
        console.note(f"{n_cut} of {len(texts)} texts were cut to the model's window")


def _write(texts: list[str], batches: Iterator[npt.NDArray[np.float32]], output: Path | None) -> None:
    if output is not None and output.suffix == ".npy":
        import numpy as np

        np.save(output, np.concatenate(list(batches)))
        return
    remaining = iter(texts)
    if output is None:
        for batch in batches:
            console.write("".join(_json_line(next(remaining), vector) for vector in batch))
        return
    with output.open("w", encoding="utf-8") as stream:
        for batch in batches:
            stream.writelines(_json_line(next(remaining), vector) for vector in batch)


def _json_line(text: str, vector: npt.NDArray[np.float32]) -> str:
    numbers = ", ".join(f"{value:.9g}" for value in vector.tolist())  # 9 digits give every float32 back
    return f'{{"text": {json.dumps(text)}, "embedding": [{numbers}]}}\n'
