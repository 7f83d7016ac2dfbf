"""``llamaint inspect``: what a GGUF file says about itself."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from llamaint.cli import console, models

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

EXAMPLES = """\
llamaint inspect smollm2-135m
llamaint inspect model.gguf --all
llamaint inspect model.gguf --json | python -m json.tool
"""

# Shown name -> key of the metadata; {arch} is the architecture.
_KEYS = {
    "name": "general.name",
    "size label": "general.size_label",
    "licence": "general.license",
    "context": "{arch}.context_length",
    "embedding width": "{arch}.embedding_length",
    "layers": "{arch}.block_count",
    "heads": "{arch}.attention.head_count",
    "key-value heads": "{arch}.attention.head_count_kv",
    "feed-forward width": "{arch}.feed_forward_length",
    "experts": "{arch}.expert_count",
    "sliding window": "{arch}.attention.sliding_window",
    "pooling": "{arch}.pooling_type",
    "tokenizer": "tokenizer.ggml.model",
    "pre-tokenizer": "tokenizer.ggml.pre",
}
_POOLING = {0: "none", 1: "mean", 2: "cls", 3: "last", 4: "rank"}
_ARRAY = re.compile(r"<(\d+) values>")


def inspect(
    name: Annotated[str, typer.Argument(help="GGUF file, folder, alias, or hf:owner/repo[:file-or-quant].")],
    everything: Annotated[bool, typer.Option("--all", help="Print all metadata after the summary.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Show a model's facts without loading it: architecture, sizes, quantisation, context, tokenizer."""
    path = models.fetch(name)
    from llamaint.backend.llama_cpp import scan_gguf

    scan = scan_gguf(str(path))
    if as_json:
        console.write(json.dumps({"path": str(path), **scan}) + "\n")
        return
    console.facts(summary(path, scan))
    if everything:
        console.write("\n")
        console.facts([(key, _one_line(value)) for key, value in sorted(scan["metadata"].items())])


def summary(path: Path, scan: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The facts people look for, in words; those the file does not state are left out."""
    metadata, arch = scan["metadata"], scan["arch"]
    rows = [("file", str(path)), ("file size", console.megabytes(scan["file_bytes"]))]
    if metadata.get("split.count", 0) > 1:
        rows.append(("part", f"{metadata['split.no'] + 1} of {metadata['split.count']}"))
    rows += [
        ("architecture", arch),
        ("tensors", f"{scan['n_tensors']}, {console.megabytes(scan['tensor_bytes'])}"),
        ("types", _mix(scan["tensor_types"])),
    ]
    for shown, pattern in _KEYS.items():
        value = metadata.get(pattern.format(arch=arch))
        if value is not None:
            rows.append((shown, _POOLING.get(value, str(value)) if shown == "pooling" else _one_line(value)))
    tokens = _ARRAY.fullmatch(str(metadata.get("tokenizer.ggml.tokens", "")))
    if tokens:
        rows.append(("tokens", tokens[1]))
    rows.append(("chat template", "yes" if "tokenizer.chat_template" in metadata else "no"))
    return rows


def _mix(types: Mapping[str, int]) -> str:
    """Tensor types, the most frequent first."""
    ordered = sorted(types.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{count} {name}" for name, count in ordered)


def _one_line(value: object) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= 100 else text[:99] + "…"
