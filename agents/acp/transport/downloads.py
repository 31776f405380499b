"""Fetches the packages that npx and uvx start, before they are started.

A launcher fetches a package in silence, and the agent seems to hang. So the package is fetched
first, as a step of its own, into the cache from which the launcher starts it. The step is shown and
can be cancelled. It may take as long as it makes progress: the launcher writes, or its cache grows.

Chats that need the same package at once share the fetch.
"""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import TypeAlias

import attrs
import trio

from agents.acp.launch.cache import Growth, growth, is_cached, is_installed
from agents.acp.launch.failures import cancelled, fetch_failure, stalled
from agents.acp.launch.package import LaunchedPackage, launched_package
from agents.acp.launch.ready_agents import ready_package
from agents.activities import Activities, Activity
from agents.base import AgentError
from bridge.errors import Failure
from bridge.wire import McpServerSpec

from .base import RunningProgram
from .environment import environment_of
from .subprocess import open_process, working_directory

STALL_SECONDS = 120.0
"""Seconds that a fetch may go on without progress."""
LOOK_EVERY = 1.0
"""Seconds between two progress reports of a fetch."""

_FETCHING = "Fetching "

log = logging.getLogger("vscodelm.acp")


Launch: TypeAlias = Callable[..., AbstractAsyncContextManager[RunningProgram]]


@attrs.define(eq=False, repr=False)
class _Shared:
    """A fetch shared by the chats that need the same package."""

    lock: trio.Lock = attrs.field(factory=trio.Lock, init=False)
    ended: int = attrs.field(default=0, init=False)
    """Number of fetches that have ended."""
    failure: Failure | None = attrs.field(default=None, init=False)
    """Why the last one failed."""
    is_there: bool = attrs.field(default=False, init=False)


async def _growth(package: LaunchedPackage, environment: Mapping[str, str]) -> Growth:
    return await trio.to_thread.run_sync(growth, package, environment)


async def _is_cached(package: LaunchedPackage, environment: Mapping[str, str]) -> bool:
    return await trio.to_thread.run_sync(is_cached, package, environment)


@attrs.define(eq=False, repr=False)
class Downloads:
    """The fetches of one process. `launch` starts a launcher, `look` tells how far it is."""

    activities: Activities = attrs.field(factory=Activities)
    launch: Launch = open_process
    look: Callable[[LaunchedPackage, Mapping[str, str]], Awaitable[Growth]] = _growth
    has: Callable[[LaunchedPackage, Mapping[str, str]], Awaitable[bool]] = _is_cached
    _shared: dict[tuple[str, ...], _Shared] = attrs.field(
        factory=dict[tuple[str, ...], _Shared], init=False
    )

    async def prepare(self, spec: McpServerSpec, known: Mapping[str, str]) -> None:
        """Fetch the package that a definition starts, unless it is there; raises `AgentError`."""
        package = launched_package((spec.command, *spec.args))
        if package is None:
            return
        environment = environment_of(spec.env, known, os.environ)
        if is_installed(package, working_directory(spec), environment):
            return
        shared = self._shared.setdefault((*package.fetch, *map(str, spec.env)), _Shared())
        ended = shared.ended
        async with shared.lock:
            if shared.is_there:
                return
            if shared.ended > ended and shared.failure is not None:
                raise AgentError(shared.failure)  # somebody else has just tried
            shared.is_there = await self.has(package, environment)
            if shared.is_there:
                return
            shared.failure = await self._fetch(spec, package, known, environment)
            shared.ended += 1
            shared.is_there = shared.failure is None
        if shared.failure is not None:
            raise AgentError(shared.failure)

    async def _fetch(
        self,
        spec: McpServerSpec,
        package: LaunchedPackage,
        known: Mapping[str, str],
        environment: Mapping[str, str],
    ) -> Failure | None:
        title = _title(spec, package)
        command, *arguments = package.fetch
        launcher = McpServerSpec(spec.name, command, tuple(arguments), spec.env, spec.cwd)
        began = trio.current_time()
        log.info("agent=%s fetching %s", spec.name, package.requirement)
        failure: Failure | None = None
        with self.activities.begin(_FETCHING + title) as activity:
            try:
                with activity.scope:
                    failure = await self._run(launcher, known, package, environment, activity)
            except AgentError as error:
                failure = error.failure
        if activity.scope.cancelled_caught:
            failure = cancelled(title, package)
        seconds = trio.current_time() - began
        how = "fetched" if failure is None else failure.message
        log.info("agent=%s after %.1f s: %s", spec.name, seconds, how)
        return failure

    async def _run(
        self,
        launcher: McpServerSpec,
        known: Mapping[str, str],
        package: LaunchedPackage,
        environment: Mapping[str, str],
        activity: Activity,
    ) -> Failure | None:
        title = activity.title.removeprefix(_FETCHING)
        heard = _Heard(launcher.name)
        async with self.launch(launcher, known, hear=heard.hear) as child:
            is_over = await _watch(child, activity, heard, partial(self.look, package, environment))
            exit_ = await child.exit()
        if not is_over:
            return stalled(title, package, STALL_SECONDS, exit_.last_words)
        if exit_.status:
            return fetch_failure(title, package, exit_.status, exit_.last_words)
        return None


@attrs.define
class _Heard:
    """A launcher's output: it goes into the log and counts as progress."""

    agent: str
    count: int = attrs.field(default=0, init=False)

    def hear(self, chunk: bytes) -> None:
        """Take in some output."""
        self.count += len(chunk)
        log.info("agent=%s %s", self.agent, chunk.decode(errors="replace").rstrip())


async def _watch(
    child: RunningProgram, activity: Activity, heard: _Heard, look: Callable[[], Awaitable[Growth]]
) -> bool:
    """Wait until a launcher has ended; return False if it makes no progress any more."""
    began = moved = trio.current_time()
    seen, got, heard_before = Growth(), 0, 0
    async with _drained(child):
        while True:
            with trio.move_on_after(LOOK_EVERY):
                await child.ended()
                return True
            now = await look()
            got += max(0, now.on_the_way - seen.on_the_way)
            if (now, heard.count) != (seen, heard_before):
                moved = trio.current_time()
            seen, heard_before = now, heard.count
            seconds = trio.current_time() - began
            size = f"{got / 1_000_000:.0f} MB, " if got else ""
            activity.tell(f"{size}{seconds:.0f} s")
            if trio.current_time() - moved >= STALL_SECONDS:
                return False


@asynccontextmanager
async def _drained(child: RunningProgram) -> AsyncGenerator[None]:
    async def drain() -> None:
        async for _ in child.source:
            pass

    async with trio.open_nursery() as nursery:
        nursery.start_soon(drain)
        yield
        nursery.cancel_scope.cancel()


def _title(spec: McpServerSpec, package: LaunchedPackage) -> str:
    agent = ready_package(package.name) if package.tool == "npx" else None
    version = f" {package.version}" if package.version else ""
    return f"{agent.name if agent else package.name}{version}"
