"""`vscodelm` alone: the subprocess on stdio that an editor starts."""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import attrs
import trio

from actors.inspection.statistics import AgentCounts
from actors.system import run_system
from actors.trace import Trace, trace_or_none
from agents.activities import Activities
from agents.base import Agent
from agents.directory import AgentDirectory, DirectoryOptions, open_directory
from bridge.known_secrets import KnownSecrets
from bridge.models import AgentChoice, Catalogue
from bridge.stdio import open_stdio
from bridge.wire import ListedSession
from vscodelm.store.lazy import LEARNED, OFFERED, PICTURES, LateMemory, open_memory

from . import collector
from .config_file import load_catalogue, with_editor_endpoints
from .log_setup import set_up_logging
from .places import cache_folder, state_folder
from .signals import Signals

log = logging.getLogger("vscodelm")


@attrs.frozen(eq=False, repr=False)
class ServeOptions:
    """The options of the command line."""

    log_level: str = "warning"
    trace_dir: Path | None = None
    config: Path | None = None
    state_dir: Path | None = None


def begin_secrets(options: ServeOptions) -> KnownSecrets:
    """Set the log up, and return the secrets that it hides."""
    secrets = KnownSecrets()
    secrets.learn_kept(os.environ)
    set_up_logging(options.log_level, secrets.hide_all)
    return secrets


def learn_of_listings(catalogue: Catalogue, secrets: KnownSecrets) -> None:
    """Learn the secrets of the endpoints that are asked before any chat."""
    for listing in catalogue.listings:
        secrets.learn(listing.definition, os.environ)


def begin_trace(options: ServeOptions, name: str, secrets: KnownSecrets) -> Trace:
    """Open the trace of a run, if one is wanted; `name` begins the names of its files."""
    if not options.trace_dir:
        return Trace()
    learn = partial(secrets.learn_from, environment=os.environ)
    return trace_or_none(options.trace_dir, f"{name}-{os.getpid()}", secrets.hide, learn)


def serve(options: ServeOptions) -> int:
    """Serve one editor on stdio; return the exit status: 0, or 128 + n after signal n."""
    secrets = begin_secrets(options)
    catalogue, faults = with_editor_endpoints(load_catalogue(options.config))
    for fault in faults:
        log.error("%s", fault)
    learn_of_listings(catalogue, secrets)
    trace = begin_trace(options, "vscodelm", secrets)
    collector.hold_back()
    try:
        return trio.run(_serve, catalogue, trace, options.state_dir, secrets)
    finally:
        trace.close()


async def list_models(
    trace: Trace, catalogue: Catalogue, change: Callable[[Catalogue], None]
) -> None:
    """Ask the endpoints of a catalogue for their models, for as long as it runs."""
    # here, because without endpoints nobody should wait for an HTTP client to load
    from agents.open_responses.models.cache import ModelCache
    from agents.open_responses.models.refresh import keep_listing

    cache = ModelCache(cache_folder() / "models")
    await keep_listing(catalogue, change, cache=cache, tap_for=trace.tap)


@attrs.frozen(eq=False, repr=False)
class ServedAgents:
    """The agents behind a server, with their logins and sessions. No error shows a secret of them.

    A definition's secrets are learnt before its agent can repeat one.
    """

    directory: AgentDirectory
    memory: LateMemory
    secrets: KnownSecrets

    @property
    def counts(self) -> AgentCounts:
        """The counters of the agents."""
        directory = self.directory
        return AgentCounts(lambda: directory.processes, directory.measure, directory.ledger)

    def agent_for(self, choice: AgentChoice) -> Agent:
        """Return the agent of a definition."""
        self._learn(choice)
        return self.directory.agent_for(choice)

    async def log_in(self, choice: AgentChoice, method_id: str) -> None:
        """Log in to an agent."""
        self._learn(choice)
        await self.directory.log_in(choice, method_id)

    async def log_out(self, choice: AgentChoice) -> None:
        """Log out of an agent."""
        self._learn(choice)
        await self.directory.log_out(choice)

    async def sessions_of(self, choice: AgentChoice) -> list[ListedSession]:
        """Return the sessions that an agent keeps."""
        self._learn(choice)
        return await self.directory.sessions_of(choice)

    def _learn(self, choice: AgentChoice) -> None:
        self.secrets.learn_once(choice.key, os.environ)


@asynccontextmanager
async def open_agents(
    trace: Trace,
    state_dir: Path | None,
    secrets: KnownSecrets,
    activities: Activities | None = None,
    find_pictures: Callable[[], Path] | None = None,
) -> AsyncGenerator[ServedAgents]:
    """Open the directory of the agents, and the memory of their sessions."""
    async with open_memory(state_dir) as memory:
        options = DirectoryOptions(
            trace.tap,
            memory,
            activities=activities,
            find_learned=lambda: state_folder(state_dir) / LEARNED,
            find_offered=lambda: state_folder(state_dir) / OFFERED,
            find_pictures=find_pictures,
        )
        async with open_directory(options) as directory:
            yield ServedAgents(directory, memory, secrets)


async def _serve(
    catalogue: Catalogue, trace: Trace, state_dir: Path | None, secrets: KnownSecrets
) -> int:
    until = trio.CancelScope()
    signals = Signals(until)
    activities = Activities()

    def find_pictures() -> Path:
        return state_folder(state_dir) / PICTURES

    async with open_stdio() as (source, sink), trio.open_nursery() as nursery:
        await nursery.start(signals.watch)
        async with open_agents(trace, state_dir, secrets, activities, find_pictures) as agents:
            directory = agents.directory
            await run_system(
                source,
                sink,
                agent_for=agents.agent_for,
                counts=agents.counts,
                catalogue=catalogue,
                list_models=partial(list_models, trace) if catalogue.listings else None,
                memory=agents.memory,
                accounts=agents,
                at_rest=collector.collect_if_due,
                trace=trace,
                hide=secrets.hide_all,
                activities=activities,
                offered=directory.offered,
                workspace=directory.workspace,
                learn=partial(secrets.learn_from, environment=os.environ),
                until=until,
            )
        nursery.cancel_scope.cancel()
    return signals.status
