"""The command line."""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click


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
    from .serve import ServeOptions, serve  # here, so that --help and chat don't load it

    options = ServeOptions(log_level, trace_dir, config)
    context.obj = options
    if context.invoked_subcommand is None:
        from bridge.models import ConfigError

        try:
            sys.exit(serve(options))
        except (ConfigError, OSError) as error:
            raise click.ClickException(str(error)) from None
