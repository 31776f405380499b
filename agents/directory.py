"""Find the agent of a definition, and own the agents' processes.

An agent keeps what its sessions share: processes, sockets, connections. A definition may hold a
token that changes every hour, and then each token makes another agent. So an agent that has had no
session for a while is forgotten, with all that it keeps; the next session makes it anew.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, cast

import attrs
import trio

from agents.eliza.agent import ElizaAgent
from bridge.models import AgentChoice
from bridge.value import Value
from bridge.wire import AgentProcess, ElizaSpec, ListedSession, McpServerSpec, OpenResponsesSpec

from .activities import Activities
from .base import Agent, AgentError, AgentSession, no_account, no_sessions
from .events import Prompt
from .guarded import GuardedTasks
from .ledger import Ledger
from .offered import Offered, kept_in
from .origin import FRESH, Origin
from .process_memory import held_by
from .trace import TapFor, untapped
from .workspace import Workspace

if TYPE_CHECKING:
    from agents.acp.transport.downloads import Downloads
    from agents.open_responses.stream.call_ids import CallIds

    from .acp.agent import AcpAgent
    from .acp.learned import Learned
    from .open_responses.agent import OpenResponsesAgent
    from .open_responses.checkpoints import PointMemory

    Kept: TypeAlias = AcpAgent | OpenResponsesAgent

IDLE_SECONDS = 900.0
"""Seconds that an agent without sessions is kept: longer than its processes and connections."""


@attrs.define(eq=False, repr=False)
class _Entry:
    """An agent, and how many sessions are open or being opened with it."""

    agent: Kept
    users: int = 0
    forgetting: trio.CancelScope | None = None
    """The wait after which it is forgotten, while it has no session."""


@attrs.frozen(eq=False, repr=False)
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


@attrs.frozen(eq=False, repr=False)
class LentAcpAgent(LentAgent):
    """The definition of an ACP agent, in whose chats `/continue` is ours."""

    @asynccontextmanager
    async def session(self, prompt: Prompt, origin: Origin = FRESH) -> AsyncGenerator[AgentSession]:
        """Open a session, or continue the one that the user names; raises `AgentError`."""
        with self.directory.borrow_acp(self.choice) as agent:
            async with agent.session_of_chat(prompt, origin) as session:
                yield session


class DirectoryOptions(Value):
    """Options of a directory."""

    tap_for: TapFor = untapped
    point_memory: PointMemory | None = None
    """Remembers the responses that endpoints keep."""
    idle_seconds: float = IDLE_SECONDS
    """Seconds after which an agent without sessions is forgotten."""
    activities: Activities | None = None
    """Shows long operations."""
    find_learned: Callable[[], Path] | None = None
    """Names the file with the facts that agents have shown."""
    find_offered: Callable[[], Path] | None = None
    """Names the file with the choices of agents."""
    find_pictures: Callable[[], Path] | None = None
    """Names the folder with the images that models have made."""


_DEFAULTS = DirectoryOptions()


class AgentDirectory:
    """The agents of one process; their own processes live in `nursery`.

    No task that lives there ends another. Call ids are unique in all agents.
    """

    def __init__(self, nursery: trio.Nursery, options: DirectoryOptions = _DEFAULTS) -> None:
        self._options = options
        self._activities = options.activities or Activities()
        self._downloads: Downloads | None = None
        self._learned: Learned | None = None
        self._tasks = GuardedTasks(nursery)
        self.workspace = Workspace()
        rows = None if options.find_offered is None else kept_in(options.find_offered)
        self.offered = Offered(self._tasks, rows)
        self.ledger = Ledger()
        self._entries: dict[bytes, _Entry] = {}
        """By the key of the definition: sessions share what their agent keeps."""
        self._endpoints_call_ids: CallIds | None = None
        self._prefix = secrets.token_hex(4)
        self._calls = count(1)

    @property
    def processes(self) -> int:
        """The number of running processes of agents."""
        return sum(entry.agent.processes for entry in self._entries.values())

    async def measure(self) -> list[AgentProcess]:
        """Return what the processes of agents hold, each with its children."""
        agents = [entry.agent for entry in self._entries.values()]
        named = {group: name for agent in agents for group, name in agent.groups.items()}
        held = await held_by(named)
        return [AgentProcess(name, group, *held.get(group, ())) for group, name in named.items()]

    @property
    def agents(self) -> int:
        """The number of agents that are kept."""
        return len(self._entries)

    def new_call_id(self) -> str:
        """Return an id for a tool call that no other call has or had."""
        return f"call_{self._prefix}_{next(self._calls)}"

    def agent_for(self, choice: AgentChoice) -> Agent:
        """Return the agent of a definition."""
        spec = choice.spec.definition
        if isinstance(spec, ElizaSpec):
            return ElizaAgent(spec, new_call_id=self.new_call_id)
        is_acp = isinstance(spec, McpServerSpec)
        return LentAcpAgent(self, choice) if is_acp else LentAgent(self, choice)

    async def log_in(self, choice: AgentChoice, method_id: str) -> None:
        """Have the agent of a definition log in by a method of its own; raises `AgentError`."""
        with self.borrow_acp(choice) as agent:
            await agent.log_in(method_id)

    async def log_out(self, choice: AgentChoice) -> None:
        """Log out of the agent of a definition; raises `AgentError`."""
        with self.borrow_acp(choice) as agent:
            await agent.log_out()

    async def sessions_of(self, choice: AgentChoice) -> list[ListedSession]:
        """Return the sessions that the agent of a definition keeps; raises `AgentError`."""
        with self.borrow_acp(choice, no_sessions) as agent:
            return await agent.sessions()

    @contextmanager
    def borrow_acp(
        self, choice: AgentChoice, refused: Callable[[str], AgentError] = no_account
    ) -> Generator[AcpAgent]:
        """Lend an ACP agent, as `borrow` does; raises `refused` for any other."""
        spec = choice.spec.definition
        if not isinstance(spec, McpServerSpec):
            raise refused("Eliza" if isinstance(spec, ElizaSpec) else "An endpoint")
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
            await trio.sleep(self._options.idle_seconds)
        if not waiting.cancelled_caught and self._entries.get(key) is entry and not entry.users:
            del self._entries[key]
            await entry.agent.aclose()

    def _make(self, choice: AgentChoice) -> Kept:
        spec = choice.spec.definition
        if isinstance(spec, McpServerSpec):
            return self._acp_agent(choice, spec)
        assert isinstance(spec, OpenResponsesSpec), "Eliza is made for each session"
        return self._open_responses_agent(choice, spec)

    def _acp_agent(self, choice: AgentChoice, spec: McpServerSpec) -> AcpAgent:
        from agents.acp.transport.downloads import Downloads

        from .acp.agent import AcpAgent  # here, because Eliza needn't wait for its many types
        from .acp.learned import Learned

        self._downloads = self._downloads or Downloads(self._activities)
        self._learned = self._learned or Learned(self._tasks, self._options.find_learned)
        return AcpAgent(
            spec,
            self._tasks,
            new_call_id=self.new_call_id,
            tap_for=self._options.tap_for,
            downloads=self._downloads,
            learned=self._learned,
            report_choices=partial(self.offered.learn, choice),
            report_window=partial(self.offered.learn_window, choice),
            ledger=self.ledger,
            workspace=self.workspace,
        )

    def _open_responses_agent(
        self, choice: AgentChoice, spec: OpenResponsesSpec
    ) -> OpenResponsesAgent:
        # here, because without endpoints nobody should wait for an HTTP client to load
        from agents.open_responses.checkpoints import NoPointMemory, Points
        from agents.open_responses.request.body import further_options
        from agents.open_responses.stream.call_ids import CallIds

        from .open_responses.agent import OpenResponsesAgent
        from .open_responses.pictures import Pictures

        self._endpoints_call_ids = self._endpoints_call_ids or CallIds()
        # a digest, because the definition may hold a key
        scope = hashlib.blake2b(choice.key, digest_size=16).digest()
        return OpenResponsesAgent(
            spec,
            self._tasks,
            further=further_options(choice),
            call_ids=self._endpoints_call_ids,
            tap_for=self._options.tap_for,
            points=Points(memory=self._options.point_memory or NoPointMemory(), scope=scope),
            pictures=Pictures(self._options.find_pictures),
        )


@asynccontextmanager
async def open_directory(
    options: DirectoryOptions = _DEFAULTS,
) -> AsyncGenerator[AgentDirectory]:
    """Open the directory; on exit every process of its agents has ended."""
    async with trio.open_nursery() as nursery:
        directory = AgentDirectory(nursery, options)
        try:
            yield directory
        finally:
            nursery.cancel_scope.cancel()
            with trio.CancelScope(shield=True):
                await directory.aclose()
