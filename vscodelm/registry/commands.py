"""`vscodelm agents` in this process: listing, installing and configuring agents."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import attrs
import click
import trio
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

from agents.launchers import advice_on
from vscodelm.chat.answer_view import printable
from vscodelm.config_file import add_model, load_catalogue
from vscodelm.places import config_path
from vscodelm.signals import Signals

from .addresses import is_loopback
from .cache import CachedIndex, CacheError
from .entry import model_entry
from .fetch import FetchError
from .index import Archive, RegistryAgent
from .install import InstallError
from .launch import Distribution
from .local import Registry, RegistryError, acts_unasked, ready_offers
from .view import Overview, console

T = TypeVar("T")
ACTS_UNASKED = (
    "acts without asking: it changes files and runs commands, regardless of `permissions`."
)


@attrs.frozen
class OfferOptions:
    """The options of the command line for the registry."""

    cache_dir: Path | None = None
    url: str | None = None
    refresh: bool = False

    @property
    def registry(self) -> Registry:
        """The registry that is meant."""
        return Registry.of(self.cache_dir, self.url)


def list_here(options: OfferOptions, config: Path | None, *, as_json: bool) -> int:
    """List the configured models and the registry's agents; return 1 if a refresh failed."""
    registry = options.registry
    catalogue = load_catalogue(config)
    cached, problem, status = None, "", 0
    try:
        cached = _cached(registry, options)
    except FetchError as error:
        status = 1
        click.echo(f"Error: {_not_fetched(registry, error)}", err=True)
    try:
        cached = cached or registry.cache.load()
    except CacheError as error:
        problem = str(error)
    if cached is None and not problem:
        problem = "Its index was never fetched. Run `vscodelm agents --refresh`."
    offers = tuple(registry.offer(agent) for agent in cached.index.agents) if cached else ()
    tested = tuple(registry.offer(agent) for agent in ready_offers())
    overview = Overview(catalogue, cached, offers, time.time(), problem, tested)
    if as_json:
        sys.stdout.write(json.dumps(overview.as_json(), indent=2) + "\n")
    else:
        overview.show(console())
    return status


def add_here(
    options: OfferOptions, id_: str, kind: Distribution | None, *, config: Path | None, write: bool
) -> None:
    """Print the entry of the models' file for an agent, or add it; raises what a user can read."""
    registry = options.registry
    agent = _find(registry, options, id_, kind)
    launched = registry.launch(agent, kind)
    entry = model_entry(agent.id, agent.name, launched.spec)
    notes = _what_is_missing(registry, agent, launched.kind)
    if acts_unasked(agent):
        notes.append(f"{agent.name} {ACTS_UNASKED}")
    if write:
        path = config_path(config)
        add_model(path, entry)
        click.echo(f"Added to {path} as {agent.id}.")
    else:
        click.echo(entry, nl=False)
    for note in notes:
        click.echo(note, err=True)


def install_here(
    options: OfferOptions, id_: str, kind: Distribution | None, *, consent: bool
) -> None:
    """Install an agent, or see that its launcher is there; raises what a user can read."""
    registry = options.registry
    agent = _find(registry, options, id_, kind)
    launched = registry.launch(agent, kind)
    if launched.kind != "binary":
        if not registry.has(launched.kind):
            raise RegistryError(
                f"{agent.id} needs {launched.kind}, which was not found. {advice_on(launched.kind)}"
            )
        click.echo(
            f"{agent.id} needs no installation: {launched.kind} downloads "
            f"{agent.packages[launched.kind].package} at the first start."
        )
        return
    place = registry.shelf.place(agent.id, agent.version)
    archive = agent.archives[registry.platform]
    if registry.shelf.has(agent.id, agent.version, archive.cmd):
        click.echo(f"{agent.id} {agent.version} is installed in {place}.")
        return
    _ask(agent, archive, place, consent=consent)
    local = is_loopback(registry.url)  # a registry on this machine is one for tests
    _until_signalled(lambda: _install(registry, agent, archive, loopback=local))
    click.echo(f"{agent.id} {agent.version} is installed in {place}.")


def _ask(agent: RegistryAgent, archive: Archive, place: Path, *, consent: bool) -> None:
    """Tell what would be downloaded, and go on only if that is wanted."""
    checked = "and its SHA-256 checksum is checked"
    unchecked = "and the registry gives no checksum to check it by"
    for line in (
        f"This downloads the program {agent.name} {agent.version}:",
        f"  from  {archive.archive}",
        f"  to    {place}",
        f"It comes over https, {checked if archive.sha256 else unchecked}. Once started, it can do",
        "whatever you can do on this machine.",
    ):
        click.echo(printable(line), err=True)
    if consent:
        return
    if not sys.stdin.isatty():
        raise RegistryError("There is no terminal to confirm the download. Use --yes.")
    if not click.confirm("Download and install it?", err=True):
        raise RegistryError("Nothing was installed.")


async def _install(
    registry: Registry, agent: RegistryAgent, archive: Archive, *, loopback: bool
) -> None:
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    out = Console(stderr=True)
    with Progress(*columns, console=out, transient=True, disable=not out.is_terminal) as progress:
        task = progress.add_task(agent.id, total=None)

        def tell(got: int, whole: int | None) -> None:
            progress.update(task, completed=got, total=whole)

        await registry.shelf.install(agent.id, agent.version, archive, tell, loopback=loopback)


def _find(
    registry: Registry, options: OfferOptions, id_: str, kind: Distribution | None
) -> RegistryAgent:
    try:
        _cached(registry, options)
    except FetchError as error:
        raise RegistryError(_not_fetched(registry, error)) from None
    return registry.find(id_, kind)


def _cached(registry: Registry, options: OfferOptions) -> CachedIndex | None:
    """Fetch the index, if that is asked for."""
    return _until_signalled(registry.refresh) if options.refresh else None


def _not_fetched(registry: Registry, error: FetchError) -> str:
    return f"{registry.url} can't be fetched: {error}."


def _what_is_missing(registry: Registry, agent: RegistryAgent, kind: Distribution) -> list[str]:
    if kind == "binary":
        cmd = agent.archives[registry.platform].cmd
        if registry.shelf.has(agent.id, agent.version, cmd):
            return []
        return [f"It isn't installed yet. Run `vscodelm agents install {agent.id}`."]
    return [] if registry.has(kind) else [f"{kind} was not found. {advice_on(kind)}"]


def _until_signalled(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run something that Ctrl-C and SIGTERM end in good order."""
    return trio.run(_watched, work)


async def _watched(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    results: list[T] = []
    failures: list[Exception] = []
    async with trio.open_nursery() as nursery:
        signals = Signals(nursery.cancel_scope)
        await nursery.start(signals.watch)
        try:
            results.append(await work())
        except (FetchError, InstallError, CacheError) as error:
            failures.append(error)
        nursery.cancel_scope.cancel()
    if failures:
        raise failures[0]
    if not results:
        sys.exit(signals.status)
    return results[0]
