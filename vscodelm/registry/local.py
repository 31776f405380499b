"""The registry as it is for this machine: the cached index, and what is installed."""

from __future__ import annotations

import os
import platform
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal, TypeAlias

import attrs

from agents.acp.launch.package import is_older, package_name
from agents.acp.launch.ready_agents import ReadyAgent, ready_agents, renamed
from agents.acp.quirks import never_asks
from bridge.value import Value
from vscodelm.places import cache_folder

from .cache import CachedIndex, IndexCache
from .index import INDEX_URL, Package, RegistryAgent
from .install import Shelf
from .launch import Distribution, LaunchSpec, choose, kinds_of, launch, platform_of
from .members import BadArchive

Readiness: TypeAlias = Literal["ready", "no launcher", "not installed", "not for this machine"]


class RegistryError(Exception):
    """The command can't be carried out; the message says why and what to do."""


class RegistryOffer(Value):
    """An agent of the registry: how it would be started here, and whether it can be.

    `others` are its other installed versions.
    """

    agent: RegistryAgent
    kind: Distribution | None
    readiness: Readiness
    others: tuple[str, ...] = ()


def ready_offers() -> tuple[RegistryAgent, ...]:
    """Return the agents that vscodelm is tested with, as a registry would offer them."""
    return tuple(_as_offered(agent) for agent in ready_agents())


def _as_offered(agent: ReadyAgent) -> RegistryAgent:
    package = Package(agent.requirement, args=agent.arguments)
    return RegistryAgent(
        agent.id, agent.name, agent.version, agent.description, {"npx": package}, {}
    )


def acts_unasked(agent: RegistryAgent) -> bool:
    """Return whether an agent is known to act without asking its user."""
    names = (package_name(kind, one.package) for kind, one in agent.packages.items())
    return never_asks((agent.id, *names))


def _has(launcher: str) -> bool:
    return shutil.which(launcher) is not None


@attrs.frozen
class Registry:
    """The folder in which it is kept, and the address that it comes from."""

    folder: Path
    url: str
    platform: str = attrs.field(factory=lambda: platform_of(platform.system(), platform.machine()))
    has: Callable[[str], bool] = _has
    """Tells whether a launcher is there."""

    @classmethod
    def of(cls, folder: Path | None, url: str | None) -> Registry:
        """Return the registry that the options, the environment, or the defaults say."""
        return cls(
            cache_folder(folder),
            url or os.environ.get("VSCODELM_REGISTRY_URL") or INDEX_URL,
        )

    @property
    def cache(self) -> IndexCache:
        """The index on disk."""
        return IndexCache(self.folder)

    @property
    def shelf(self) -> Shelf:
        """List the installed agents."""
        return Shelf(self.folder)

    async def refresh(self) -> CachedIndex:
        """Fetch the index; raises `FetchError` and `CacheError`."""
        return await self.cache.refresh(self.url, time.time())

    def find(self, id_: str, kind: Distribution | None = None) -> RegistryAgent:
        """Return an agent; raises `RegistryError` and `CacheError`.

        One that vscodelm is tested with is there without an index, in the tested version, which npx
        starts. Return the index's entry if it is newer, if the user asked for another `kind`, or if
        it works without npx, which is missing here.
        """
        tested = next((one for one in ready_offers() if one.id == renamed().get(id_, id_)), None)
        cached = self.cache.load()
        if cached is None:
            if tested is not None:
                return tested
            raise RegistryError(
                "The registry's index was never fetched. Run `vscodelm agents --refresh`."
            )
        agent = cached.index.find(id_, renamed())
        if agent is None:
            agent = tested
        elif tested is not None and not is_older(tested.version, agent.version):
            npx: Distribution | None = "npx" if self.has("npx") else None
            wanted = kind or npx or choose(agent, self.platform, self.has)
            agent = tested if wanted in ("npx", None) else agent
        if agent is None:
            raise RegistryError(
                f"The registry has no agent {id_!r}. `vscodelm agents` lists them, and "
                "`vscodelm agents --refresh` looks for new ones."
            )
        return agent

    def offer(self, agent: RegistryAgent) -> RegistryOffer:
        """Return how an agent would be started."""
        kind = choose(agent, self.platform, self.has)
        installed = self.shelf.versions(agent.id) if agent.archives else []
        others = tuple(version for version in installed if version != agent.version)
        return RegistryOffer(agent, kind, self._readiness(agent, kind), others)

    def _readiness(self, agent: RegistryAgent, kind: Distribution | None) -> Readiness:
        match kind:
            case None:
                return "not for this machine"
            case "binary":
                cmd = agent.archives[self.platform].cmd
                there = self.shelf.has(agent.id, agent.version, cmd)
                return "ready" if there else "not installed"
            case launcher:
                return "ready" if self.has(launcher) else "no launcher"

    def launch(self, agent: RegistryAgent, kind: Distribution | None = None) -> LaunchSpec:
        """Return what starts an agent, by a kind or by the best; raises `RegistryError`."""
        chosen = kind or choose(agent, self.platform, self.has)
        kinds = kinds_of(agent, self.platform)
        if chosen is None:
            there = ", ".join(agent.archives)
            raise RegistryError(f"{agent.id} has no version for {self.platform}, only for {there}.")
        if chosen not in kinds:
            ways = " and ".join(kinds) or "none"
            raise RegistryError(f"{agent.id} has no distribution {chosen} here. It has: {ways}.")
        try:
            place = self.shelf.place(agent.id, agent.version)
            return launch(agent, chosen, self.platform, place.absolute())
        except BadArchive as error:
            raise RegistryError(f"{agent.id} can't be started: {error}.") from None
