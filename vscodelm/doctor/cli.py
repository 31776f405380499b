"""The command `doctor`; what it needs is loaded when it runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from vscodelm.options import CACHE_DIR, JSON, nearest, shared_options
from vscodelm.registry.cli import errors_in_a_line


class _Doctor(click.Command):
    """Takes what follows `--` as a command, options and all."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Set the command apart."""
        if "--" in args:
            at = args.index("--")
            ctx.meta[_COMMAND] = tuple(args[at + 1 :])
            args = args[:at]
        return super().parse_args(ctx, args)


_COMMAND = "vscodelm.doctor.command"


@click.command(cls=_Doctor, options_metavar="[OPTIONS]")
@click.argument("agent", required=False, metavar="AGENT | -- COMMAND [ARGUMENTS]...")
@click.option(
    "--prompt", metavar="TEXT", help="Also send it this message; every permission is denied."
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=120.0,
    show_default=True,
    metavar="SECONDS",
    help="The longest time of each step.",
)
@JSON
@CACHE_DIR
@shared_options
@click.pass_context
def doctor(
    context: click.Context,
    agent: str | None,
    prompt: str | None,
    timeout: float,
    as_json: bool,
    cache_dir: Path | None,
    **_given: Any,
) -> None:
    """Start an agent, and tell what it can do, how fast it starts, and what is wrong with it.

    AGENT is a model of the configuration, or an agent of the registry. A command that starts one
    may be given instead, after two dashes.

    The exit status is 0 only if the agent can be used.
    """
    command: tuple[str, ...] = context.meta.get(_COMMAND, ())
    if (agent is None) is (not command):
        raise click.UsageError("Name one agent, or give a command after two dashes.")
    from .command import DoctorOptions, SubjectError, doctor_here

    with errors_in_a_line(SubjectError):
        options = DoctorOptions(
            agent,
            command,
            timeout,
            prompt,
            as_json,
            nearest(context, "config"),
            cache_dir,
            nearest(context, "log_level"),
            nearest(context, "trace_dir"),
        )
        sys.exit(doctor_here(options))
