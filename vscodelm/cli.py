"""The command line."""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource


def _shared_options(command: Any) -> Any:
    """Add the options that every command has."""
    for option in (
        click.option(
            "--log-level",
            type=click.Choice(["debug", "info", "warning", "error"]),
            default="warning",
            show_default=True,
            help="How much to log, to stderr; info is one line per decision.",
        ),
        click.option(
            "--trace-dir",
            type=click.Path(file_okay=False, path_type=Path),
            help="Write every wire line to a file in this folder, secrets redacted.",
        ),
        click.option(
            "--config",
            type=click.Path(dir_okay=False, path_type=Path),
            help="The models' TOML file; else VSCODELM_CONFIG, else the user's own.",
        ),
    ):
        command = option(command)
    return command


@click.group(invoke_without_command=True)
@_shared_options
@click.version_option(version("vscodelm"), prog_name="vscodelm")
@click.pass_context
def main(
    context: click.Context, log_level: str, trace_dir: Path | None, config: Path | None
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
        sys.exit(serve(ServeOptions(log_level, trace_dir, config)))
    except (ConfigError, OSError) as error:
        raise click.ClickException(str(error)) from None


@main.command()
@_shared_options
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


def _server_options(context: click.Context, given: dict[str, Any]) -> list[str]:
    """Return the shared options as a server's arguments, from before or after the command's name.

    Where one is given in both places, the one that stands nearer to the command counts.
    """
    before = context.parent.params if context.parent else {}
    arguments: list[str] = []
    for name, value in given.items():
        is_default = context.get_parameter_source(name) is ParameterSource.DEFAULT
        chosen = before.get(name, value) if is_default else value
        if chosen is not None:
            arguments += [f"--{name.replace('_', '-')}", str(chosen)]
    return arguments
