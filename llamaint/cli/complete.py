"""``llamaint complete``: continue a text."""

from __future__ import annotations

import json
from contextlib import closing
from typing import Annotated

import typer

from llamaint.cli import console, models, options
from llamaint.cli.stdin import text_or_stdin

EXAMPLES = """\
llamaint complete "Once upon a time" -n 64
llamaint complete --temperature 0 --stop "." "The capital of France is"
llamaint complete -m gemma-3-270m --json < prompt.txt
"""


def complete(
    prompt: Annotated[
        str | None, typer.Argument(help="Text to continue; stdin if not given.", show_default=False)
    ] = None,
    model: options.ChatModel = options.CHAT_ALIAS,
    max_tokens: Annotated[int, typer.Option("--max-tokens", "-n", min=0, help="Longest continuation in tokens.")] = 256,
    echo: Annotated[bool, typer.Option("--echo", help="Print the prompt before the continuation.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print an OpenAI-shaped result instead of text.")] = False,
    stop: options.Stop = None,
    temperature: options.Temperature = None,
    top_p: options.TopP = None,
    top_k: options.TopK = None,
    min_p: options.MinP = None,
    repeat_penalty: options.RepeatPenalty = None,
    seed: options.Seed = None,
    n_ctx: options.NCtx = None,
    n_threads: options.NThreads = None,
    n_gpu_layers: options.NGpuLayers = None,
) -> None:
    """Continue a text with any model, no chat template involved."""
    text = text_or_stdin(prompt, "prompt")
    request = options.given(
        stop=stop,
        temperature=temperature,
        top_p=top_p,
        top_k=top_k,
        min_p=min_p,
        repeat_penalty=repeat_penalty,
        seed=seed,
    )
    settings = options.given(n_ctx=n_ctx, n_threads=n_threads, n_gpu_layers=n_gpu_layers)
    with models.open_llm(model, {"n_parallel": 1, **settings}) as llm:
        if as_json:
            result = llm.create_completion(text, max_tokens=max_tokens, echo=echo, **request)
            console.write(json.dumps(result) + "\n")
            return
        with closing(llm.complete_stream(text, max_tokens=max_tokens, echo=echo, **request)) as stream:
            for event in stream:
                console.write(getattr(event, "text", ""))
        console.write("\n")
