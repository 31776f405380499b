"""The command `agents`; what it needs is loaded when it runs."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from vscodelm.options import CACHE_DIR, CONFIG, JSON, nearest

if TYPE_CHECKING:
    from collections.abc import Generator

    from .commands import OfferOptions
    from .launch import Distribution

_KIND = click.option(
    "--kind",
    type=click.Choice(["npx", "uvx", "binary"]),
    help="The distribution to use; else the first that works here.",
)


def _registry_options(command: Any) -> Any:
    """Add the options of all commands that look into the registry."""
    for option in (
        click.option("--refresh", is_flag=True, help="Fetch the registry's index first."),
        click.option(
            "--registry-url",
            metavar="URL",
            help="The address of the index, only https. Default: VSCODELM_REGISTRY_URL, or the "
            "public one.",
        ),
        CACHE_DIR,
    ):
        command = option(command)
    return command


@click.group(invoke_without_command=True)
@_registry_options
@CONFIG
@JSON
@click.pass_context
def agents(context: click.Context, as_json: bool, **_given: Any) -> None:
    """List the agents that are configured, and those that the registry of ACP agents offers.

    The registry's index is fetched with --refresh only; else the one that was fetched last is
    read. The exit status is 1 if it can't be fetched.
    """
    if context.invoked_subcommand is not None:
        return
    from .commands import list_here

    with errors_in_a_line():
        config = nearest(context, "config")
        sys.exit(list_here(_offer_options(context), config, as_json=as_json))


@agents.command()
@click.argument("id_", metavar="ID")
@_registry_options
@_KIND
@CONFIG
@click.option("--write", is_flag=True, help="Write the entry into the file instead of printing it.")
@click.pass_context
def add(
    context: click.Context, id_: str, kind: Distribution | None, write: bool, **_given: Any
) -> None:
    """Print the entry that adds agent ID to the models' file."""
    from .commands import add_here

    with errors_in_a_line():
        config = nearest(context, "config")
        add_here(_offer_options(context), id_, kind, config=config, write=write)


@agents.command()
@click.argument("id_", metavar="ID")
@_registry_options
@_KIND
@click.option("--yes", is_flag=True, help="Agree to the download; for scripts.")
@click.pass_context
def install(
    context: click.Context, id_: str, kind: Distribution | None, yes: bool, **_given: Any
) -> None:
    """Download the registry's agent ID, if it is a program to download.

    Shows the address of the download and asks you. For an agent that npx or uvx starts, only
    checks that npx or uvx is installed.
    """
    from .commands import install_here

    with errors_in_a_line():
        install_here(_offer_options(context), id_, kind, consent=yes)


def _offer_options(context: click.Context) -> OfferOptions:
    from .commands import OfferOptions

    names = ("cache_dir", "registry_url", "refresh")
    return OfferOptions(*(nearest(context, name) for name in names))


@contextmanager
def errors_in_a_line(*others: type[Exception]) -> Generator[None]:
    """Turn what a user can mend into an error of the command; `others` as well."""
    from bridge.models import ConfigError

    from .cache import CacheError
    from .install import InstallError
    from .local import RegistryError

    known = (CacheError, ConfigError, InstallError, OSError, RegistryError, *others)
    try:
        yield
    except known as error:
        raise click.ClickException(str(error)) from None
