"""ACP agents: a definition, the processes that it runs as, and the sessions on them.

A process is started by the first session, once however many come at the same moment, and serves
them all, but where sessions of one process would disturb each other. One that has failed serves
nobody any more, so the next session starts another.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial

import trio
from msgspec.structs import replace

from agents.acp.edits.choice import edits_by_editor
from agents.acp.edits.desk import FileDesk
from agents.acp.prompt.budget import ContextWindow
from agents.acp.schema.initialize import McpServer
from agents.acp.schema.user_servers import servers_for
from agents.acp.transport.base import Connect, Link
from agents.acp.transport.downloads import Downloads
from agents.acp.transport.subprocess import open_process, working_directory
from agents.acp.transport.trace import tapped
from agents.base import AgentError, AgentSession
from agents.boundary import failure_of
from agents.events import Prompt, Say
from agents.guarded import Tasks
from agents.ledger import Ledger
from agents.mcp.session_tools import Toolbox
from agents.mcp.tool_servers import Toolboxes
from agents.offered import Properties
from agents.origin import FRESH, Fresh, Origin, Resumed
from agents.trace import TapFor, untapped
from agents.workspace import Workspace
from bridge.wire import EnvVariable, ListedSession, McpServerSpec, Settings, ToolSpec

from .agent_process import AcpProcess
from .connected_agent import ConnectedAgent
from .continued.command import wish_in
from .continued.opening import Continuing, Folders, Found
from .continued.owners import Owners
from .continued.session import ContinuedSession, UnboundSession
from .handles import NAMELESS, SessionHandle
from .learned import AgentFacts, Fact, Learned
from .quirks import started_by
from .session import AcpSession
from .session_channel import SessionChannel
from .session_open import SessionIdInUse
from .session_params import SessionParams

IDLE_SECONDS = 300.0
"""Seconds that a process without sessions is kept as a spare; an agent has at most one."""
CLOSING_SECONDS = 2.0
"""Seconds that a turn may take to end after it was cancelled because its session closes."""

log = logging.getLogger("vscodelm.acp")


class AcpAgent:
    """An agent definition; it satisfies `agents.base.Agent`.

    Its processes live in `nursery`. `connect` starts one; `spares` are sessions opened in advance.
    `downloads` fetches what is started. `learned` are the facts that agents have shown. `offer` is
    given the choices that the agent offers, and `report_window` the size of its context. `ledger`
    has what it says of its sessions. `workspace` has the editor's folders and the user's servers.
    """

    def __init__(
        self,
        spec: McpServerSpec,
        nursery: Tasks,
        *,
        new_call_id: Callable[[], str],
        connect: Connect | None = None,
        idle_seconds: float = IDLE_SECONDS,
        spares: bool = True,
        tap_for: TapFor = untapped,
        downloads: Downloads | None = None,
        learned: Learned | None = None,
        offer: Callable[[Properties], None] = lambda _: None,
        report_window: Callable[[int], None] = lambda _: None,
        ledger: Ledger | None = None,
        workspace: Workspace | None = None,
    ) -> None:
        self._spec = spec
        self._known = started_by((spec.command, *spec.args))
        """Its known facts, found by its command: it has yet to say its name."""
        self._nursery = nursery
        self._new_call_id = new_call_id
        self._start_link = connect
        self._tap_for = tap_for
        self._idle_seconds = idle_seconds
        self._spares = spares
        self._downloads = downloads
        self._learned = learned or Learned(nursery)
        self._offer = offer
        self._ledger = ledger or Ledger()
        self._workspace = workspace or Workspace()
        self._processes: list[AcpProcess] = []
        self._one_session_each = self._shares_tools = False
        self._repeats_ids = False
        """Whether it gave two sessions one id: then each chat has a process of its own."""
        self._untold: dict[str, ContinuedSession] = {}
        """Sessions that chats go on with, by their ids, until they are told something."""
        self._owners = Owners()
        self._left_out: set[tuple[str, str]] = set()
        """Names and types of the user's MCP servers that it doesn't take: the log has said so."""
        self._window = ContextWindow(report=report_window)
        self.toolboxes = Toolboxes(nursery, new_call_id)

    async def prepare(self) -> None:
        """Fetch what is started, if a launcher would; raises `AgentError`."""
        await trio.lowlevel.checkpoint()
        if self._downloads is not None and not self._processes:
            await self._downloads.prepare(self._spec, self._known.environment)

    @property
    def processes(self) -> int:
        """The number of running processes."""
        return len(self._processes)

    @property
    def groups(self) -> Mapping[int, str]:
        """The groups that its processes lead, each with the agent's name."""
        return {one.pid: one.name for one in self._processes if one.pid is not None}

    async def aclose(self) -> None:
        """End the processes and what listens for them; nobody may have a session any more."""
        for process in self._processes:
            process.end()
        self.toolboxes.close()
        await trio.lowlevel.checkpoint()

    @asynccontextmanager
    async def session(self, prompt: Prompt, origin: Origin = FRESH) -> AsyncGenerator[AcpSession]:
        """Open a session, or one that the agent has; raises `AgentError`."""
        cwd = self._folder
        if prompt.tools:
            await self.toolboxes.prepare()  # much of it is done while the agent starts
        edits_by_editor = self._edits_by_editor(prompt.tools, prompt.settings)
        refused: AgentError | None = None
        for wanted in (origin, FRESH, FRESH):
            async with self._claimed(edits_by_editor=edits_by_editor) as peer:
                found, name = await self._find(peer, prompt, cwd, wanted)
                is_anew = found is None and not isinstance(wanted, Fresh)
                if is_anew and not peer.process.is_usable:
                    continue  # it came of looking: a new one needs another process
                try:
                    channel = found or await self._open(peer, prompt, cwd)
                except SessionIdInUse as error:
                    self._repeats_ids, refused = True, error
                    continue
                held = self._session_on(peer, channel, name, cwd, knows=found is not None)
                self._owners.rename(name, held.name)
                async with self._held(held) as session:
                    yield session
                return
        assert refused is not None, "only that is tried again for a fresh session"
        raise refused

    @asynccontextmanager
    async def _held(self, session: AcpSession) -> AsyncGenerator[AcpSession]:
        """Have a session until it is left."""
        try:
            yield session
        finally:
            with trio.CancelScope(shield=True):
                await self._leave(session.peer, session)

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
            offer=self._offer,
            ledger=self._ledger,
            knows_history=knows,
            has_own_process=self._one_session_each
            or (peer.known.sessions_start_processes and peer.can_close),
            named=name,
            fits=lambda tools, settings: (
                self._edits_by_editor(tools, settings) is peer.process.edits_by_editor
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
            edits_by_editor = self._edits_by_editor(prompt.tools, prompt.settings)
            async with self._claimed(edits_by_editor=edits_by_editor) as peer:
                can_open = peer.existing.can_show
                found = await self._continuing(peer, prompt).find(wish) if can_open else None
                if isinstance(found, Found):
                    async with self._continued(peer, found) as session:
                        yield session
                    return
            if found is not None:
                yield UnboundSession((Say(found.text, by_us=True),))
                return
        async with self.session(prompt, origin) as session:
            yield session

    @asynccontextmanager
    async def _continued(
        self, peer: ConnectedAgent, found: Found
    ) -> AsyncGenerator[ContinuedSession]:
        """Have a session that goes on. Until it is told something, another chat may have it."""
        session_id = found.channel.session_id
        name = SessionHandle(session_id, self.toolboxes.new_name(), found.root)
        held = self._session_on(peer, found.channel, name, knows=True)
        self._owners.give(held.name)
        session = ContinuedSession(held, found.words, lambda: self._untold.pop(session_id, None))
        self._untold[session_id] = session
        try:
            yield session
        finally:
            with trio.CancelScope(shield=True):
                await self._give_up(session)

    async def _give_up(self, session: ContinuedSession) -> None:
        """Leave a session, unless that was done before."""
        if not session.is_given_up:
            session.give_up()
            await self._leave(session.session.peer, session.session)

    async def _take_over(self, session_id: str) -> None:
        """Take a session from a chat that has told it nothing: it may be the same chat, edited."""
        holder = self._untold.get(session_id)
        if holder is not None:
            with trio.CancelScope(shield=True):
                await self._give_up(holder)

    def _continuing(self, peer: ConnectedAgent, prompt: Prompt) -> Continuing:
        return Continuing(
            peer,
            self._folders,
            self._is_open,
            self._take_over,
            lambda folder: self._session_params(peer, prompt, folder),
        )

    def _is_open(self, session_id: str) -> bool:
        """Return whether a chat has a session and has told it something."""
        if session_id in self._untold:
            return False
        peers = (process.peer for process in self._processes)
        return any(peer is not None and peer.connection.is_attached(session_id) for peer in peers)

    @property
    def _folder(self) -> str:
        is_set = self._spec.cwd is not None
        return self._workspace.folder_for(working_directory(self._spec), is_set=is_set)

    @property
    def _folders(self) -> Folders:
        first = self._folder
        return Folders((first, *self._workspace.beside(first)))

    async def sessions(self) -> list[ListedSession]:
        """Return the sessions that can be continued; raises `AgentError`."""
        await self.prepare()
        async with self._claimed() as peer:
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
        params = await self._session_params(peer, prompt, cwd, handle.server if keeps_name else "")
        found = await peer.existing.find(params, origin)
        if found is not None and peer.is_ending:
            peer.close(found)
            found = None
        if found is None:
            return None, NAMELESS
        if isinstance(origin, Resumed):
            return found, handle
        server = self.toolboxes.new_name() if handle.folder else ""
        return found, SessionHandle("", server, handle.folder)

    def _may_open(self, handle: SessionHandle) -> bool:
        """Return whether a session is this chat's still, and works in a folder of the window."""
        if not self._owners.may_open(handle):
            log.info("session=%s not had: another chat continues it", handle.session_id)
            return False
        if handle.folder and not self._folders.has(handle.folder):
            log.info("session=%s not had: its folder isn't open", handle.session_id)
            return False
        return True

    async def _open(self, peer: ConnectedAgent, prompt: Prompt, cwd: str) -> SessionChannel:
        """Return a new session; raises `AgentError`."""
        params = await self._session_params(peer, prompt, cwd)
        return await peer.open(params, self._another(peer, prompt, cwd))

    async def log_in(self, method_id: str) -> None:
        """Log in by a method of the agent's own; raises `AgentError`.

        The process that was logged in is kept for the next session.
        """
        async with self._claimed() as peer:
            await peer.authentication.log_in_by(method_id)

    async def log_out(self) -> None:
        """Log out; raises `AgentError`. Sessions that are open end with their chats."""
        async with self._claimed() as peer:
            await peer.log_out()
            for one in self._processes:
                one.retire()
                if not one.claims:
                    one.end()

    async def _session_params(
        self, peer: ConnectedAgent, prompt: Prompt, cwd: str, server: str = ""
    ) -> SessionParams:
        """Return the parameters of a session; its server is named `server`, if it can be."""
        if not prompt.tools:
            return self._without_tools(peer, cwd)
        if peer.known.http_tools_only:
            web = await self.toolboxes.make_web(prompt.tools, server)
            return self._with_tools(peer, cwd, web)
        await self.toolboxes.prepare()  # again: the door may have failed while the agent started
        return self._with_tools(peer, cwd, self.toolboxes.make(prompt.tools, server))

    def _without_tools(self, peer: ConnectedAgent, cwd: str) -> SessionParams:
        """Return session parameters without the editor's tools."""
        return SessionParams(cwd, more=self._more(peer, cwd), users=self._users(peer))

    def _users(self, peer: ConnectedAgent) -> tuple[McpServer, ...]:
        """Return the user's servers that the agent takes; the log tells once of any other."""
        able = peer.about.agent_capabilities.mcp_capabilities
        http_only = peer.known.http_tools_only
        taken, left_out = servers_for(self._workspace.servers, able, http_only=http_only)
        for one in left_out:
            if (one.name, one.type) not in self._left_out:
                self._left_out.add((one.name, one.type))
                words = "agent=%s isn't given the MCP server %r: it takes no servers of type %s"
                log.warning(words, self._spec.name, one.name, one.type)
        if taken:
            peer.strays.has_neighbours = True
        return taken

    def _more(self, peer: ConnectedAgent, cwd: str) -> tuple[str, ...]:
        """Return the editor's other folders, if the agent can work in several."""
        can = peer.about.agent_capabilities.session_capabilities.additional_directories
        return () if can is None else self._workspace.beside(cwd)

    def _another(
        self, peer: ConnectedAgent, prompt: Prompt, cwd: str
    ) -> Callable[[], SessionParams | None]:
        """Return a function that makes a spare's parameters, or None if that would have to wait."""

        def make() -> SessionParams | None:
            if not prompt.tools:
                return self._without_tools(peer, cwd)
            if peer.known.http_tools_only or not self.toolboxes.is_ready:
                return None
            return self._with_tools(peer, cwd, self.toolboxes.make(prompt.tools))

        return make

    def _with_tools(self, peer: ConnectedAgent, cwd: str, tools: Toolbox) -> SessionParams:
        """Return session parameters with tools whose calls `Strays` checks."""
        peer.strays.watch(tools)
        tools.on_asked = partial(_learn_of_asking, peer.facts, tools)
        more, users = self._more(peer, cwd), self._users(peer)
        if not peer.process.edits_by_editor:
            return SessionParams(cwd, tools, peer.servers, more, users)
        known = peer.known
        files = FileDesk(
            self._workspace.texts,
            tools,
            self._nursery,
            missing_is_empty=known.missing_is_empty,
            writes_itself=known.writes_itself,
            folders=(cwd, *more),
            is_used=known.writes_through_editor,
        )
        return SessionParams(cwd, tools, peer.servers, more, users, files, known.edit_meta)

    async def _leave(self, peer: ConnectedAgent, session: AcpSession) -> None:
        """Close a session. An agent whose turn doesn't end is not asked for another session."""
        has_stopped = await session.end(CLOSING_SECONDS)
        peer.close(session.channel)
        if not has_stopped or (self._one_session_each and not peer.can_close):
            peer.process.retire()

    @asynccontextmanager
    async def _claimed(
        self, *, edits_by_editor: bool | None = None
    ) -> AsyncGenerator[ConnectedAgent]:
        """Have a process that is ready for one session more.

        In one process either the editor makes all edits, or the agent makes all; None takes any.
        """
        process, peer = await self._claim(edits_by_editor=edits_by_editor)
        try:
            yield peer
        finally:
            process.is_taken = False
            self._release(process)

    async def _claim(self, *, edits_by_editor: bool | None) -> tuple[AcpProcess, ConnectedAgent]:
        while True:
            self._shares_tools |= any(process.shares_tools for process in self._processes)
            free = (
                process
                for process in self._processes
                if edits_by_editor in (process.edits_by_editor, None) and self._has_room(process)
            )
            process = next(free, None) or self._start(edits_by_editor=bool(edits_by_editor))
            process.claim()
            try:
                peer = await process.introduced()
            except BaseException:
                self._release(process)
                raise
            self._shares_tools |= peer.shares_tools
            self._one_session_each = self._repeats_ids or self._shares_tools
            if not self._one_session_each or not process.is_taken:
                process.is_taken = True
                return process, peer
            self._release(process)  # several came before it was known that only one can stay

    def _release(self, process: AcpProcess) -> None:
        """Release a process. One without a session is kept for the next chat, no more."""
        process.release()
        if process.is_spare:
            for other in self._processes:
                if other is not process and other.is_spare:
                    other.end()

    def _has_room(self, process: AcpProcess) -> bool:
        return process.is_usable and not (self._one_session_each and process.claims)

    def _start(self, *, edits_by_editor: bool) -> AcpProcess:
        spec = self._without_own_edits if edits_by_editor else self._spec
        process = AcpProcess(
            spec,
            partial(self._connect, spec),
            self._idle_seconds,
            self._spares,
            self._learned,
            self._workspace,
            self._window,
            edits_by_editor,
        )
        self._processes.append(process)
        self._nursery.start_soon(self._run, process, name=f"agent {self._spec.name}")
        return process

    async def _run(self, process: AcpProcess) -> None:
        try:
            await process.run()
        except* Exception as group:
            process.lose(failure_of(group, f"agent={self._spec.name}"))
        finally:
            self._processes.remove(process)

    def _connect(self, spec: McpServerSpec) -> AbstractAsyncContextManager[Link]:
        tap = self._tap_for(spec.name)
        start = self._start_link
        link = open_process(spec, self._known.environment) if start is None else start()
        return link if tap is None else tapped(link, tap)

    @property
    def _without_own_edits(self) -> McpServerSpec:
        """The definition with the agent's own tools to edit switched off, as far as that can be."""
        known, spec = self._known, self._spec
        more = (EnvVariable(name, value) for name, value in known.edit_environment.items())
        return replace(spec, args=(*spec.args, *known.edit_arguments), env=(*more, *spec.env))

    def _edits_by_editor(self, tools: Sequence[ToolSpec], settings: Settings) -> bool:
        """Return whether the editor makes the agent's edits in a session with these tools."""
        return edits_by_editor(
            settings.edits,
            self._known,
            reads_texts=self._workspace.texts.are_offered,
            tools=(tool.name for tool in tools),
        )


def _learn_of_asking(facts: AgentFacts, tools: Toolbox) -> None:
    facts.learn(Fact.ASKS_FOR_TOOLS)
    if not tools.has_begun:
        facts.learn(Fact.ASKS_BEFORE_PROMPT)
