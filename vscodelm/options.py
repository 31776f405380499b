"""Options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

LOG_LEVEL = click.option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    default="warning",
    show_default=True,
    help="The level of the log on stderr; info has one line per decision.",
)
TRACE_DIR = click.option(
    "--trace-dir",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write every wire line to a file in this folder, secrets redacted.",
)
CONFIG = click.option(
    "--config",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The models' file, in TOML or JSON. Default: VSCODELM_CONFIG, or your own file.",
)
STATE_DIR = click.option(
    "--state-dir",
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder for the memory of sessions. Default: VSCODELM_STATE_DIR, or your own folder.",
)
CACHE_DIR = click.option(
    "--cache-dir",
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder for the index and installed agents. Default: VSCODELM_CACHE_DIR, or your "
    "own folder.",
)
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")


def shared_options(command: Any) -> Any:
    """Add the options of every command that talks to agents."""
    for option in (LOG_LEVEL, TRACE_DIR, CONFIG):
        command = option(command)
    return command


def chat_options(command: Any) -> Any:
    """Add the options of every command that leads chats."""
    return shared_options(STATE_DIR(command))


def nearest(context: click.Context, name: str) -> Any:
    """Return an option's value, given after or before the command's name, or else its default.

    If both are given, the one nearer to the command counts.
    """
    default = context.params.get(name)
    above: click.Context | None = context
    while above is not None:
        source = above.get_parameter_source(name)
        if source is not None and source is not click.core.ParameterSource.DEFAULT:
            return above.params[name]
        above = above.parent
    return default
