"""The command line."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from . import collector
from .options import chat_options, nearest


class _Commands(click.Group):
    """Loads a command of another folder when it is named: a server needs none of them."""

    _FOLDERS = (
        ("agents", "vscodelm.registry.cli"),
        ("doctor", "vscodelm.doctor.cli"),
        ("serve-http", "vscodelm.http_server.cli"),
    )

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return sorted([*super().list_commands(ctx), *(name for name, _ in self._FOLDERS)])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by its name."""
        module = dict(self._FOLDERS).get(cmd_name)
        if module is None:
            return super().get_command(ctx, cmd_name)
        return getattr(import_module(module), cmd_name.replace("-", "_"))


@click.group(cls=_Commands, invoke_without_command=True)
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
    with collector.paused():  # here, so that --help and chat don't load it
        from bridge.models import ConfigError

        from .serve import ServeOptions, serve

    try:
        sys.exit(serve(ServeOptions(log_level, trace_dir, config, state_dir)))
    except (ConfigError, OSError) as error:
        raise click.ClickException(str(error)) from None


@main.command()
@chat_options
@click.option(
    "--model", default="eliza", show_default=True, metavar="ID", help="The model that answers."
)
@click.pass_context
def chat(context: click.Context, model: str, **shared: Any) -> None:
    """Chat in the terminal, over the protocol that an editor speaks.

    If standard input is no terminal, each of its lines is a message or a command. If standard
    output is no terminal, it gets only the answers; everything else goes to standard error.
    """
    from vscodelm.chat.loop import (
        ChatError,  # here, so that an editor doesn't wait for the modules of the terminal
    )
    from vscodelm.chat.terminal import chat_here

    try:
        sys.exit(chat_here(_server_options(context, shared), model))
    except ChatError as error:
        raise click.ClickException(str(error)) from None


@main.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--labels",
    type=click.Path(path_type=Path),
    help="The file with the expected decisions. The default is labels.json beside FILE.",
)
@click.option(
    "--html",
    "page",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="PAGE",
    help="Write a page that draws the chats into this file, instead of printing.",
)
def replay(file: Path, labels: Path | None, page: Path | None) -> None:
    """Tell what is decided about each request of FILE, a recording or a trace, and why.

    The exit status is 0, or 1 if labels say something else, or 2 if a file can't be read.
    """
    from vscodelm.replay.command import ReplayError, draw_file, explain_file

    try:
        if page is not None:
            if labels is not None:
                raise click.UsageError("--html can't be used with --labels.")
            events = draw_file(file, page)
            click.echo(f"{page}: {events} {'event is' if events == 1 else 'events are'} drawn.")
            return
        explanation = explain_file(file, labels)
    except ReplayError as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(2)
    # UTF-8, regardless of the console's encoding: a message may have any character.
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
