"""Which agent answers for a definition, and where the agents' processes live.

An agent keeps what its sessions share: processes, sockets, connections. A definition may hold a
token that changes every hour, and then each token makes another agent. So an agent that has had no
session for a while is forgotten, with all that it keeps; the next session makes it anew.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, cast

import attrs
import trio
from msgspec import UNSET

from bridge.models import AgentChoice
from bridge.wire import AgentProcess, McpServerSpec, OpenResponsesSpec

from .activities import Activities
from .base import Agent, AgentSession, no_account
from .eliza import ElizaAgent
from .events import Prompt
from .guarded import GuardedTasks
from .origin import FRESH, Origin
from .process_memory import held_by
from .tap import TapFor, untapped

if TYPE_CHECKING:
    from .acp.agent import AcpAgent
    from .acp.downloads import Downloads
    from .acp.learned import Learned
    from .open_responses.agent import OpenResponsesAgent
    from .open_responses.call_ids import CallIds
    from .open_responses.point_memory import PointMemory

    Kept: TypeAlias = AcpAgent | OpenResponsesAgent

IDLE_SECONDS = 900.0
"""How long an agent without sessions is kept: longer than its processes and its connections."""


@attrs.define(eq=False)
class _Entry:
    """An agent, and how many sessions are open or being opened with it."""

    agent: Kept
    users: int = 0
    forgetting: trio.CancelScope | None = None
    """The wait after which it is forgotten, while it has no session."""


@attrs.frozen
class LentAgent:
    """A definition; each session borrows the agent. It satisfies `agents.base.Agent`."""

    directory: AgentDirectory
    choice: AgentChoice

    async def prepare(self) -> None:
        """Fetch what the agent of the definition needs; raises `AgentError`."""
        with self.directory.borrow(self.choice) as agent:
            await agent.prepare()

    @asynccontextmanager
    async def session(self, prompt: Prompt, origin: Origin = FRESH) -> AsyncGenerator[AgentSession]:
        """Open a session with the agent of the definition; raises `AgentError`."""
        with self.directory.borrow(self.choice) as agent:
            async with agent.session(prompt, origin) as session:
                yield session


class AgentDirectory:
    """The agents of one process; their own processes live in `nursery`.

    No task that lives there ends another. `activities` show what takes long. Call ids are unique in
    all of them. `point_memory` is for what endpoints keep, and the file that `find_learned` names
    for what agents have shown of themselves. An agent without sessions is forgotten after
    `idle_seconds`.
    """

    def __init__(
        self,
        nursery: trio.Nursery,
        tap_for: TapFor = untapped,
        point_memory: PointMemory | None = None,
        idle_seconds: float = IDLE_SECONDS,
        activities: Activities | None = None,
        find_learned: Callable[[], Path] | None = None,
    ) -> None:
        self._activities = activities or Activities()
        self._downloads: Downloads | None = None
        self._learned: Learned | None = None
        self._find_learned = find_learned
        self._tasks = GuardedTasks(nursery)
        self._tap_for = tap_for
        self._point_memory = point_memory
        self._idle_seconds = idle_seconds
        self._entries: dict[bytes, _Entry] = {}
        """By the key of the definition: sessions share what their agent keeps."""
        self._endpoints_call_ids: CallIds | None = None
        self._prefix = secrets.token_hex(4)
        self._calls = count(1)

    @property
    def processes(self) -> int:
        """How many processes of agents run."""
        return sum(entry.agent.processes for entry in self._entries.values())

    async def measure(self) -> list[AgentProcess]:
        """Return what the processes of agents hold, each with its children."""
        agents = [entry.agent for entry in self._entries.values()]
        named = {group: name for agent in agents for group, name in agent.groups.items()}
        held = await held_by(named)
        return [AgentProcess(name, group, *held.get(group, ())) for group, name in named.items()]

    @property
    def agents(self) -> int:
        """How many agents are kept."""
        return len(self._entries)

    def new_call_id(self) -> str:
        """Return an id for a tool call that no other call has or had."""
        return f"call_{self._prefix}_{next(self._calls)}"

    def agent_for(self, choice: AgentChoice) -> Agent:
        """Return the agent of a definition."""
        if choice.spec.eliza is not UNSET:
            return ElizaAgent(choice.spec.eliza, new_call_id=self.new_call_id)
        return LentAgent(self, choice)

    async def log_in(self, choice: AgentChoice, method_id: str) -> None:
        """Have the agent of a definition log in by a method of its own; raises `AgentError`."""
        with self._borrow_acp(choice) as agent:
            await agent.log_in(method_id)

    async def log_out(self, choice: AgentChoice) -> None:
        """Log out of the agent of a definition; raises `AgentError`."""
        with self._borrow_acp(choice) as agent:
            await agent.log_out()

    @contextmanager
    def _borrow_acp(self, choice: AgentChoice) -> Generator[AcpAgent]:
        if choice.spec.eliza is not UNSET:
            raise no_account("Eliza")
        if choice.spec.open_responses is not UNSET:
            raise no_account("An endpoint")
        with self.borrow(choice) as agent:
            yield cast("AcpAgent", agent)

    @contextmanager
    def borrow(self, choice: AgentChoice) -> Generator[Kept]:
        """Lend the agent of a definition that isn't Eliza's; until the exit it isn't forgotten."""
        entry = self._entries.get(choice.key)
        if entry is None:
            entry = self._entries[choice.key] = _Entry(self._make(choice))
        entry.users += 1
        if entry.forgetting is not None:
            entry.forgetting.cancel()
            entry.forgetting = None
        try:
            yield entry.agent
        finally:
            entry.users -= 1
            if not entry.users:
                entry.forgetting = trio.CancelScope()
                self._tasks.start_soon(self._forget, choice.key, entry, entry.forgetting)

    async def aclose(self) -> None:
        """Close what outlives its sessions."""
        while self._entries:
            _, entry = self._entries.popitem()
            await entry.agent.aclose()

    async def _forget(self, key: bytes, entry: _Entry, waiting: trio.CancelScope) -> None:
        with waiting:
            await trio.sleep(self._idle_seconds)
        if not waiting.cancelled_caught and self._entries.get(key) is entry and not entry.users:
            del self._entries[key]
            await entry.agent.aclose()

    def _make(self, choice: AgentChoice) -> Kept:
        spec = choice.spec
        if spec.mcp_server is not UNSET:
            return self._acp_agent(spec.mcp_server)
        if spec.acp is not UNSET:
            return self._acp_agent(spec.acp)
        assert spec.open_responses is not UNSET, "an agent is one of the kinds"
        return self._open_responses_agent(choice, spec.open_responses)

    def _acp_agent(self, spec: McpServerSpec) -> AcpAgent:
        from .acp.agent import AcpAgent  # here, because Eliza needn't wait for its many types
        from .acp.downloads import Downloads
        from .acp.learned import Learned

        self._downloads = self._downloads or Downloads(self._activities)
        self._learned = self._learned or Learned(self._tasks, self._find_learned)
        return AcpAgent(
            spec,
            self._tasks,
            new_call_id=self.new_call_id,
            tap_for=self._tap_for,
            downloads=self._downloads,
            learned=self._learned,
        )

    def _open_responses_agent(
        self, choice: AgentChoice, spec: OpenResponsesSpec
    ) -> OpenResponsesAgent:
        # here, because who asks no endpoint needn't wait for an HTTP client to load
        from .open_responses.agent import OpenResponsesAgent
        from .open_responses.call_ids import CallIds
        from .open_responses.point_memory import NoPointMemory
        from .open_responses.points import Points
        from .open_responses.request_body import further_options

        self._endpoints_call_ids = self._endpoints_call_ids or CallIds()
        # a digest, because the definition may hold a key
        scope = hashlib.blake2b(choice.key, digest_size=16).digest()
        return OpenResponsesAgent(
            spec,
            self._tasks,
            further=further_options(choice),
            call_ids=self._endpoints_call_ids,
            tap_for=self._tap_for,
            points=Points(memory=self._point_memory or NoPointMemory(), scope=scope),
        )


@asynccontextmanager
async def open_directory(
    tap_for: TapFor = untapped,
    point_memory: PointMemory | None = None,
    idle_seconds: float = IDLE_SECONDS,
    activities: Activities | None = None,
    find_learned: Callable[[], Path] | None = None,
) -> AsyncGenerator[AgentDirectory]:
    """Open the directory; on exit every process of its agents has ended."""
    async with trio.open_nursery() as nursery:
        directory = AgentDirectory(
            nursery, tap_for, point_memory, idle_seconds, activities, find_learned
        )
        try:
            yield directory
        finally:
            nursery.cancel_scope.cancel()
            with trio.CancelScope(shield=True):
                await directory.aclose()
