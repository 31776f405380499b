"""The command line."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from .agents_cli import agents, doctor
from .options import chat_options, nearest


@click.group(invoke_without_command=True)
@chat_options
@click.version_option(package_name="vscodelm", prog_name="vscodelm")
@click.pass_context
def main(
    context: click.Context,
    log_level: str,
    trace_dir: Path | None,
    config: Path | None,
    state_dir: Path | None,
) -> None:
    """Use stateful agents as VS Code language models.

    Alone, it is the subprocess that an editor starts: it speaks JSON-RPC on standard input and
    output.
    """
    if context.invoked_subcommand is not None:
        return
    from bridge.models import ConfigError

    from .serve import ServeOptions, serve  # here, so that --help and chat don't load it

    try:
        sys.exit(serve(ServeOptions(log_level, trace_dir, config, state_dir)))
    except (ConfigError, OSError) as error:
        raise click.ClickException(str(error)) from None


main.add_command(agents)
main.add_command(doctor)


@main.command()
@chat_options
@click.option(
    "--model", default="eliza", show_default=True, metavar="ID", help="The model that answers."
)
@click.pass_context
def chat(context: click.Context, model: str, **shared: Any) -> None:
    """Chat in the terminal, over the protocol that an editor speaks.

    Where standard input is no terminal, each of its lines is a message or a command. Where standard
    output is none, it gets the answers alone; everything else goes to standard error.
    """
    from .chat import ChatError  # here, so that an editor doesn't wait for what a terminal needs
    from .terminal import chat_here

    try:
        sys.exit(chat_here(_server_options(context, shared), model))
    except ChatError as error:
        raise click.ClickException(str(error)) from None


@main.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--labels",
    type=click.Path(path_type=Path),
    help="What should have been decided; else labels.json beside FILE, if it knows FILE.",
)
def replay(file: Path, labels: Path | None) -> None:
    """Tell what is decided about each request of FILE, a recording or a trace, and why.

    The exit status is 0, or 1 if labels say something else, or 2 if a file can't be read.
    """
    from .replay import ReplayError, explain_file

    try:
        explanation = explain_file(file, labels)
    except ReplayError as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(2)
    # UTF-8 whatever the console's encoding: what was said may hold any character.
    click.echo("\n".join(explanation.lines).encode())
    sys.exit(1 if explanation.is_different else 0)


def _server_options(context: click.Context, given: dict[str, Any]) -> list[str]:
    """Return the shared options as a server's arguments."""
    arguments: list[str] = []
    for name in given:
        chosen = nearest(context, name)
        if chosen is not None:
            arguments += [f"--{name.replace('_', '-')}", str(chosen)]
    return arguments
