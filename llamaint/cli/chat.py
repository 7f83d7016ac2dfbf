"""``llamaint chat``: a conversation in the terminal, or one answer in a pipeline."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from llamaint.cli import models, options
from llamaint.cli.conversation import Conversation
from llamaint.cli.repl import run_repl

EXAMPLES = """\
llamaint chat
llamaint chat -m model.gguf --system "You answer in one sentence."
llamaint chat --once "Why is the sky blue?" --temperature 0
git diff | llamaint chat --system "Describe this change."
"""


def chat(
    model: options.ChatModel = options.CHAT_ALIAS,
    once: Annotated[str | None, typer.Option("--once", help="Answer this and exit.")] = None,
    system: Annotated[str | None, typer.Option("--system", "-s", help="System prompt.")] = None,
    max_tokens: Annotated[int, typer.Option("--max-tokens", "-n", min=1, help="Longest answer in tokens.")] = 1024,
    stats: Annotated[bool, typer.Option("--stats", help="Show token counts and speed after each answer.")] = False,
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
    """Talk to a model. With piped input, answer it and exit.

    Ctrl-C stops an answer and keeps what was said; at the prompt it leaves.
    """
    request = options.given(
        max_tokens=max_tokens,
        stop=stop,
        temperature=temperature,
        top_p=top_p,
        top_k=top_k,
        min_p=min_p,
        repeat_penalty=repeat_penalty,
        seed=seed,
    )
    settings = options.given(n_ctx=n_ctx, n_threads=n_threads, n_gpu_layers=n_gpu_layers)
    question = once if once is not None else None if sys.stdin.isatty() else sys.stdin.read()
    with models.open_llm(model, {"n_parallel": 1, **settings}) as llm:
        conversation = Conversation(llm, system=system, options=request, stats=stats)
        if question is None:
            run_repl(conversation)
        else:
            conversation.ask(question)
