"""Options that several commands share. ``None`` leaves a setting to the runtime."""

from __future__ import annotations

from typing import Annotated, Any

import typer

CHAT_ALIAS = "smollm2-135m"
EMBEDDING_ALIAS = "minilm-l6"

_ENGINE = "Engine"
_SAMPLING = "Sampling"
_MODEL_HELP = "GGUF file, alias (see `llamaint pull`), or hf:owner/repo[:file-or-quant]."

ChatModel = Annotated[str, typer.Option("--model", "-m", envvar="LLAMAINT_MODEL", help=_MODEL_HELP)]
EmbeddingModel = Annotated[str, typer.Option("--model", "-m", envvar="LLAMAINT_EMBEDDING_MODEL", help=_MODEL_HELP)]

NCtx = Annotated[int | None, typer.Option("--ctx", min=0, help="Context window in tokens.", rich_help_panel=_ENGINE)]
NThreads = Annotated[int | None, typer.Option("--threads", min=1, help="Threads of a decode.", rich_help_panel=_ENGINE)]
NGpuLayers = Annotated[
    int | None,
    typer.Option(
        "--gpu-layers", min=0, help="Layers to offload; as many as fit if not given.", rich_help_panel=_ENGINE
    ),
]

Temperature = Annotated[
    float | None, typer.Option("--temperature", min=0.0, help="0 is greedy.", rich_help_panel=_SAMPLING)
]
TopP = Annotated[float | None, typer.Option("--top-p", min=0.0, max=1.0, rich_help_panel=_SAMPLING)]
TopK = Annotated[int | None, typer.Option("--top-k", min=0, rich_help_panel=_SAMPLING)]
MinP = Annotated[float | None, typer.Option("--min-p", min=0.0, max=1.0, rich_help_panel=_SAMPLING)]
RepeatPenalty = Annotated[float | None, typer.Option("--repeat-penalty", min=0.0, rich_help_panel=_SAMPLING)]
Seed = Annotated[int | None, typer.Option("--seed", min=0, help="Same seed, same answer.", rich_help_panel=_SAMPLING)]
Stop = Annotated[
    list[str] | None,
    typer.Option("--stop", help="Text that ends the answer; may be given again.", rich_help_panel=_SAMPLING),
]


def given(**settings: object) -> dict[str, Any]:
    """Those settings that the user gave."""
    return {name: value for name, value in settings.items() if value is not None and value != []}


def as_epilog(examples: str) -> str:
    """Examples for the end of a help text, kept line by line."""
    indented = "".join(f"  {line}\n" for line in examples.splitlines())
    return f"\b\nExamples:\n{indented}"
