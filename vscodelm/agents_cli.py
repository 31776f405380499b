"""The commands `agents` and `doctor`; what they need is loaded when they run."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .options import CONFIG, nearest, shared_options

if TYPE_CHECKING:
    from collections.abc import Generator

    from agents.registry.launch import Kind

    from .offers import OfferOptions

_CACHE_DIR = click.option(
    "--cache-dir",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where the index and installed agents are; else VSCODELM_CACHE_DIR, else the user's own.",
)
_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
_KIND = click.option(
    "--kind",
    type=click.Choice(["npx", "uvx", "binary"]),
    help="How to have it, if there are several ways; else the first that works here.",
)


def _registry_options(command: Any) -> Any:
    """Add the options of all commands that look into the registry."""
    for option in (
        click.option("--refresh", is_flag=True, help="Fetch the registry's index first."),
        click.option(
            "--registry-url",
            metavar="URL",
            help="Where the index is fetched from; else VSCODELM_REGISTRY_URL, else the public "
            "one. Only https.",
        ),
        _CACHE_DIR,
    ):
        command = option(command)
    return command


@click.group(invoke_without_command=True)
@_registry_options
@CONFIG
@_JSON
@click.pass_context
def agents(context: click.Context, as_json: bool, **_given: Any) -> None:
    """List the agents that are configured, and those that the registry of ACP agents offers.

    The registry's index is fetched with --refresh only; else the one that was fetched last is
    read. The exit status is 1 if it can't be fetched.
    """
    if context.invoked_subcommand is not None:
        return
    from .offers import list_here

    with _errors_in_a_line():
        config = nearest(context, "config")
        sys.exit(list_here(_offer_options(context), config, as_json=as_json))


@agents.command()
@click.argument("id_", metavar="ID")
@_registry_options
@_KIND
@CONFIG
@click.option("--write", is_flag=True, help="Add it to the file instead of printing it.")
@click.pass_context
def add(context: click.Context, id_: str, kind: Kind | None, write: bool, **_given: Any) -> None:
    """Print what to put into the models' file to have the registry's agent ID as a model."""
    from .offers import add_here

    with _errors_in_a_line():
        config = nearest(context, "config")
        add_here(_offer_options(context), id_, kind, config=config, write=write)


@agents.command()
@click.argument("id_", metavar="ID")
@_registry_options
@_KIND
@click.option("--yes", is_flag=True, help="Agree to the download; for scripts.")
@click.pass_context
def install(context: click.Context, id_: str, kind: Kind | None, yes: bool, **_given: Any) -> None:
    """Download the registry's agent ID, if it is a program to download.

    It is shown what comes from where, and asked whether that is wanted. Of an agent that npx or
    uvx starts, it is only checked whether that is there.
    """
    from .offers import install_here

    with _errors_in_a_line():
        install_here(_offer_options(context), id_, kind, consent=yes)


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
    "--prompt", metavar="TEXT", help="Lead one turn with it, too; whatever it asks for is denied."
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=120.0,
    show_default=True,
    metavar="SECONDS",
    help="How long each step may take.",
)
@_JSON
@_CACHE_DIR
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
    from .doctor.here import DoctorOptions, doctor_here

    with _errors_in_a_line():
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


def _offer_options(context: click.Context) -> OfferOptions:
    from .offers import OfferOptions

    names = ("cache_dir", "registry_url", "refresh")
    return OfferOptions(*(nearest(context, name) for name in names))


@contextmanager
def _errors_in_a_line() -> Generator[None]:
    from agents.registry.cache import CacheError
    from agents.registry.install import InstallError
    from bridge.models import ConfigError

    from .doctor.subject import SubjectError
    from .registry import RegistryError

    known = (CacheError, ConfigError, InstallError, OSError, RegistryError, SubjectError)
    try:
        yield
    except known as error:
        raise click.ClickException(str(error)) from None
