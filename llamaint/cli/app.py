"""The tree of commands, and what they have in common: logging, errors, exit codes."""

from __future__ import annotations

import logging
from typing import Annotated

import typer
from typer.core import TyperGroup
from typing_extensions import override

from llamaint.cli import chat, complete, demo, doctor, embed, errors, inspect, options, pull
from llamaint.errors import LlamaintError


class CommandTree(TyperGroup):
    """Turns errors into one line and an exit code: 1 failed, 2 used wrongly, 130 interrupted."""

    @override
    def invoke(self, ctx: typer.Context) -> object:  # type: ignore[override]
        """Runs a command."""
        try:
            return super().invoke(ctx)
        except LlamaintError as error:
            errors.report(error)
            raise typer.Exit(errors.FAILED) from error
        except KeyboardInterrupt:
            raise typer.Exit(errors.INTERRUPTED) from None


app = typer.Typer(
    cls=CommandTree,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Run language and embedding models in this process: any GGUF file, no server.",
)
for module, command in (
    (chat, chat.chat),
    (complete, complete.complete),
    (embed, embed.embed),
    (inspect, inspect.inspect),
    (pull, pull.pull),
    (doctor, doctor.doctor),
):
    app.command(epilog=options.as_epilog(module.EXAMPLES))(command)
app.add_typer(demo.demo, name="demo")


def _show_version(wanted: bool) -> None:
    if wanted:
        from llamaint import __version__

        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def common(
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show the log, llama.cpp's lines included.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Settings of every command."""
    if verbose:
        from rich.console import Console
        from rich.logging import RichHandler

        handler = RichHandler(console=Console(stderr=True), show_path=False)
        logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s", handlers=[handler])
        logging.getLogger("llamaint").setLevel(logging.DEBUG)
