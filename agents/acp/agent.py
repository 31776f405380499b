"""ACP agents: a definition, and its sessions."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial

import trio

from agents.acp.prompt.budget import ContextWindow
from agents.acp.transport.base import Connect
from agents.acp.transport.downloads import Downloads
from agents.base import AgentError, AgentSession
from agents.events import Prompt, Say
from agents.guarded import Tasks
from agents.ledger import Ledger
from agents.mcp.tool_servers import Toolboxes
from agents.offered import Properties
from agents.origin import FRESH, Fresh, Origin, Resumed
from agents.trace import TapFor, untapped
from agents.workspace import Workspace
from bridge.wire import ListedSession, McpServerSpec

from .connected_agent import ConnectedAgent
from .continued.command import wish_in
from .continued.holders import Holders
from .continued.opening import Continuing, Folders, Found
from .continued.session import UnboundSession
from .handles import NAMELESS, SessionHandle
from .learned import Fact, Learned
from .processes.pool import ProcessPool
from .quirks import started_by
from .session import AcpSession
from .session_channel import SessionChannel
from .session_open import SessionIdInUse
from .session_setup import SessionSetup

IDLE_SECONDS = 300.0
"""Seconds that a process without sessions is kept as a spare; an agent has at most one."""
CLOSING_SECONDS = 2.0
"""Seconds that a turn may take to end after it was cancelled because its session closes."""

log = logging.getLogger("vscodelm.acp")


class AcpAgent:
    """An agent definition; it satisfies `agents.base.Agent`.

    Its processes run in `tasks`. `connect` starts one; `spares` are sessions opened in advance.
    `downloads` fetches packages before they are started. `learned` are the facts that agents have
    shown. `report_choices` receives the choices that the agent offers, and whether a new session
    has these defaults. `report_window` receives the size of its context. `ledger` has its reports
    about its sessions. `workspace` has the editor's folders and the user's servers.
    """

    def __init__(
        self,
        spec: McpServerSpec,
        tasks: Tasks,
        *,
        new_call_id: Callable[[], str],
        connect: Connect | None = None,
        idle_seconds: float = IDLE_SECONDS,
        spares: bool = True,
        tap_for: TapFor = untapped,
        downloads: Downloads | None = None,
        learned: Learned | None = None,
        report_choices: Callable[[Properties, bool], None] = lambda _, __: None,
        report_window: Callable[[int], None] = lambda _: None,
        ledger: Ledger | None = None,
        workspace: Workspace | None = None,
    ) -> None:
        self._new_call_id = new_call_id
        self._downloads = downloads
        self._report_choices = report_choices
        self._ledger = ledger or Ledger()
        self._workspace = workspace or Workspace()
        self.toolboxes = Toolboxes(tasks, new_call_id)
        known = started_by((spec.command, *spec.args))  # it has yet to say its name
        self._setup = SessionSetup(spec, known, tasks, self.toolboxes, self._workspace)
        self._processes = ProcessPool(
            spec,
            known,
            tasks,
            connect,
            tap_for,
            idle_seconds,
            spares,
            learned or Learned(tasks),
            self._workspace,
            ContextWindow(report=report_window),
        )
        self._continued = Holders(self._leave)

    async def prepare(self) -> None:
        """Fetch what is started, if a launcher would; raises `AgentError`."""
        await trio.lowlevel.checkpoint()
        if self._downloads is not None and not self._processes:
            await self._downloads.prepare(self._setup.spec, self._setup.known.environment)

    @property
    def processes(self) -> int:
        """The number of running processes."""
        return len(self._processes)

    @property
    def groups(self) -> Mapping[int, str]:
        """The groups that its processes lead, each with the agent's name."""
        return self._processes.groups

    async def aclose(self) -> None:
        """End the processes and what listens for them; nobody may have a session any more."""
        self._processes.end()
        self.toolboxes.close()
        await trio.lowlevel.checkpoint()

    @asynccontextmanager
    async def session(self, prompt: Prompt, origin: Origin = FRESH) -> AsyncGenerator[AcpSession]:
        """Open a session, or one that the agent has; raises `AgentError`."""
        cwd = self._setup.folder
        if prompt.tools:
            await self.toolboxes.prepare()  # much of it is done while the agent starts
        edits_by_editor = self._setup.edits_by_editor(prompt.tools, prompt.settings)
        refused: AgentError | None = None
        for wanted in (origin, FRESH, FRESH):
            async with self._processes.claimed(edits_by_editor=edits_by_editor) as peer:
                found, name = await self._find(peer, prompt, cwd, wanted)
                is_anew = found is None and not isinstance(wanted, Fresh)
                if is_anew and not peer.process.is_usable:
                    continue  # it came of looking: a new one needs another process
                try:
                    channel = found or await self._open(peer, prompt, cwd)
                except SessionIdInUse as error:
                    self._processes.separate()
                    refused = error
                    continue
                held = self._session_on(peer, channel, name, cwd, knows=found is not None)
                self._continued.owners.rename(name, held.name)
                try:
                    yield held
                finally:
                    with trio.CancelScope(shield=True):
                        await self._leave(held)
                return
        assert refused is not None, "only that is tried again for a fresh session"
        raise refused

    def _session_on(
        self,
        peer: ConnectedAgent,
        channel: SessionChannel,
        name: SessionHandle,
        cwd: str = "",
        *,
        knows: bool,
    ) -> AcpSession:
        """Return a session, which keeps its `name`, or else works in `cwd`."""
        return AcpSession(
            peer,
            channel,
            root=name.folder or cwd,
            new_call_id=self._new_call_id,
            habits=self.toolboxes.habits,
            report_choices=self._report_choices,
            ledger=self._ledger,
            knows_history=knows,
            has_own_process=self._processes.gives_one_each
            or (peer.known.sessions_start_processes and peer.can_close),
            named=name,
            spelled=self._setup.workspace.spelled,
            fits=lambda tools, settings: (
                self._setup.edits_by_editor(tools, settings) is peer.process.edits_by_editor
            ),
        )

    @asynccontextmanager
    async def session_of_chat(
        self, prompt: Prompt, origin: Origin = FRESH
    ) -> AsyncGenerator[AgentSession]:
        """Open a session as `session` does; `/continue` opens one that the agent has."""
        wish = wish_in(prompt.messages) if isinstance(origin, Fresh) else None
        if wish is not None:
            if prompt.tools:
                await self.toolboxes.prepare()
            edits_by_editor = self._setup.edits_by_editor(prompt.tools, prompt.settings)
            async with self._processes.claimed(edits_by_editor=edits_by_editor) as peer:
                can_open = peer.existing.can_show
                found = await self._continuing(peer, prompt).find(wish) if can_open else None
                if isinstance(found, Found):
                    session_id = found.channel.session_id
                    name = SessionHandle(session_id, self.toolboxes.names.suggest(), found.root)
                    held = self._session_on(peer, found.channel, name, knows=True)
                    async with self._continued.held(session_id, held, found.words) as session:
                        yield session
                    return
            if found is not None:
                yield UnboundSession((Say(found, by_us=True),))
                return
        async with self.session(prompt, origin) as session:
            yield session

    def _continuing(self, peer: ConnectedAgent, prompt: Prompt) -> Continuing:
        return Continuing(
            peer,
            self._folders,
            self._is_open,
            self._continued.take_over,
            lambda folder: self._setup.params(peer, prompt, folder),
        )

    def _is_open(self, session_id: str) -> bool:
        """Return whether a chat has a session and has told it something."""
        if self._continued.is_untold(session_id):
            return False
        return any(one.connection.subscribers.has(session_id) for one in self._processes.peers)

    @property
    def _folders(self) -> Folders:
        first = self._setup.folder
        return Folders((first, *self._workspace.beside(first)))

    async def sessions(self) -> list[ListedSession]:
        """Return the sessions that can be continued; raises `AgentError`."""
        await self.prepare()
        async with self._processes.claimed() as peer:
            return await self._continuing(peer, Prompt(())).listed()

    async def _find(
        self, peer: ConnectedAgent, prompt: Prompt, cwd: str, origin: Origin
    ) -> tuple[SessionChannel | None, SessionHandle]:
        """Return the session that `origin` says, and what its handle keeps; raises `AgentError`.

        A session that goes on keeps the name of its server. But this process may still have a
        server of that name, where it wasn't told to close it, or keeps them all. It also keeps its
        folder, as long as that is one of the window's.
        """
        if isinstance(origin, Fresh):
            return None, NAMELESS
        handle = SessionHandle.read(origin.handle)
        if not self._may_open(handle):
            return None, NAMELESS
        cwd = handle.folder or cwd
        is_free = handle.server not in peer.servers or (
            peer.can_close and not peer.facts.has(Fact.KEEPS_SERVERS)
        )
        keeps_name = isinstance(origin, Resumed) and is_free
        params = await self._setup.params(peer, prompt, cwd, handle.server if keeps_name else "")
        found = await peer.existing.find(params, origin)
        if found is not None and peer.process.is_ending:
            peer.close(found)
            found = None
        if found is None:
            return None, NAMELESS
        if isinstance(origin, Resumed):
            return found, handle
        server = self.toolboxes.names.suggest() if handle.folder else ""
        return found, SessionHandle("", server, handle.folder)

    def _may_open(self, handle: SessionHandle) -> bool:
        """Return whether a session is this chat's still, and works in a folder of the window."""
        if not self._continued.owners.may_open(handle):
            log.info("session=%s not reopened: another chat continues it", handle.session_id)
            return False
        if handle.folder and not self._folders.has(handle.folder):
            log.info("session=%s not reopened: its folder isn't open", handle.session_id)
            return False
        return True

    async def _open(self, peer: ConnectedAgent, prompt: Prompt, cwd: str) -> SessionChannel:
        """Return a new session; raises `AgentError`."""
        params = await self._setup.params(peer, prompt, cwd)
        return await peer.open(params, partial(self._setup.spare_params, peer, prompt, cwd))

    async def log_in(self, method_id: str) -> None:
        """Log in by a method of the agent's own; raises `AgentError`.

        The process that was logged in is kept for the next session.
        """
        async with self._processes.claimed() as peer:
            await peer.authentication.log_in_by(method_id)

    async def log_out(self) -> None:
        """Log out; raises `AgentError`. Sessions that are open end with their chats."""
        async with self._processes.claimed() as peer:
            await peer.log_out()
            self._processes.retire()

    async def _leave(self, session: AcpSession) -> None:
        """Close a session. An agent whose turn doesn't end is not asked for another session."""
        peer = session.peer
        has_stopped = await session.end(CLOSING_SECONDS)
        peer.close(session.channel)
        if not has_stopped or (self._processes.gives_one_each and not peer.can_close):
            peer.process.retire()
