"""ACP agents: a definition, the processes that it runs as, and the sessions on them.

A process is started by the first session, once however many come at the same moment, and serves
them all, but where sessions of one process would disturb each other. One that has failed serves
nobody any more, so the next session starts another.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial

import trio

from agents.base import AgentError
from agents.boundary import failure_of
from agents.events import Prompt
from agents.guarded import Tasks
from agents.mcp.toolbox import Toolbox
from agents.mcp.toolboxes import Toolboxes
from agents.origin import FRESH, Fresh, Origin, Resumed
from agents.tap import TapFor, untapped
from bridge.wire import McpServerSpec

from .dialogue import Dialogue
from .downloads import Downloads
from .handles import SessionHandle
from .known import environment_for
from .learned import Fact, Learned
from .link import Connect, Link
from .openings import SessionIdInUse
from .outfit import Outfit
from .peer import Peer
from .process import open_process, working_directory
from .session import AcpSession
from .window import ContextWindow
from .wiretap import tapped

IDLE_SECONDS = 300.0
"""How long a process without sessions is kept, as a spare; an agent has one spare at most."""
CLOSING_SECONDS = 2.0
"""How long a turn that is cancelled because its session closes may take to end."""


class AcpAgent:
    """An agent definition; it satisfies `agents.base.Agent`.

    Its processes live in `nursery`. `connect` starts one; `spares` are sessions opened in advance.
    `downloads` fetches what is started. `learned` are the facts that agents have shown.
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
    ) -> None:
        self._spec = spec
        self._nursery = nursery
        self._new_call_id = new_call_id
        self._start_link = connect or self._start_process
        self._tap_for = tap_for
        self._idle_seconds = idle_seconds
        self._spares = spares
        self._downloads = downloads
        self._learned = learned or Learned(nursery)
        self._peers: list[Peer] = []
        self._one_session_each = self._shares_tools = False
        self._repeats_ids = False
        """Whether it gave two sessions one id: then each chat has a process of its own."""
        self._window = ContextWindow()
        self.toolboxes = Toolboxes(nursery, new_call_id)

    async def prepare(self) -> None:
        """Fetch what is started, if a launcher would; raises `AgentError`."""
        await trio.lowlevel.checkpoint()
        if self._downloads is not None and not self._peers:
            await self._downloads.prepare(self._spec, self._known_environment)

    @property
    def processes(self) -> int:
        """How many processes run."""
        return len(self._peers)

    @property
    def groups(self) -> Mapping[int, str]:
        """The groups that its processes lead, each with the agent's name."""
        return {peer.pid: peer.name for peer in self._peers if peer.pid is not None}

    async def aclose(self) -> None:
        """End the processes and what listens for them; nobody may have a session any more."""
        for peer in self._peers:
            peer.end()
        self.toolboxes.close()
        await trio.lowlevel.checkpoint()

    @asynccontextmanager
    async def session(self, prompt: Prompt, origin: Origin = FRESH) -> AsyncGenerator[AcpSession]:
        """Open a session, or one that the agent has; raises `AgentError`."""
        cwd = working_directory(self._spec)
        if prompt.tools:
            await self.toolboxes.prepare()  # much of it is done while the agent starts
        refused: AgentError | None = None
        for wanted in (origin, FRESH, FRESH):
            async with self._claimed() as peer:
                found = await self._find(peer, prompt, cwd, wanted)
                if found is None and not isinstance(wanted, Fresh) and not peer.is_usable:
                    continue  # it came of looking: a new one needs another process
                try:
                    dialogue = found or await self._open(peer, prompt, cwd)
                except SessionIdInUse as error:
                    self._repeats_ids, refused = True, error
                    continue
                session = AcpSession(
                    peer,
                    dialogue,
                    root=cwd,
                    new_call_id=self._new_call_id,
                    window=self._window,
                    habits=self.toolboxes.habits,
                    knows_history=found is not None,
                    has_own_process=self._one_session_each
                    or (peer.known.sessions_start_processes and peer.can_close),
                )
                try:
                    yield session
                finally:
                    with trio.CancelScope(shield=True):
                        await self._leave(peer, session)
                return
        assert refused is not None, "only that is tried again for a fresh session"
        raise refused

    async def _find(self, peer: Peer, prompt: Prompt, cwd: str, origin: Origin) -> Dialogue | None:
        """Return the session that `origin` says; raises `AgentError`.

        A session that goes on keeps the name of its server. But this process may still have a
        server of that name, where it wasn't told to close it, or keeps them all.
        """
        if isinstance(origin, Fresh):
            return None
        handle = SessionHandle.read(origin.handle)
        is_free = handle.server not in peer.servers or (
            peer.can_close and not peer.facts.has(Fact.KEEPS_SERVERS)
        )
        keeps_name = isinstance(origin, Resumed) and is_free
        outfit = await self._outfit(peer, prompt, cwd, handle.server if keeps_name else "")
        found: Dialogue | None = None
        try:
            found = await peer.existing.find(outfit, origin)
        finally:
            if found is None or peer.is_ending:
                outfit.close()
        return None if peer.is_ending else found

    async def _open(self, peer: Peer, prompt: Prompt, cwd: str) -> Dialogue:
        """Return a new session; raises `AgentError`."""
        outfit = await self._outfit(peer, prompt, cwd)
        dialogue: Dialogue | None = None
        try:
            dialogue = await peer.open(outfit, self._another(peer, prompt, cwd))
            return dialogue
        finally:
            if dialogue is None or dialogue.tools is not outfit.tools:
                outfit.close()  # it failed, or was opened in advance with an outfit of its own

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
            for one in self._peers:
                one.retire()
                if not one.claims:
                    one.end()

    async def _outfit(self, peer: Peer, prompt: Prompt, cwd: str, server: str = "") -> Outfit:
        """Return what a session is opened with; its server is named `server`, if it can be."""
        if not prompt.tools:
            return Outfit(cwd)
        if peer.known.http_tools_only:
            return _outfit(peer, cwd, await self.toolboxes.make_web(prompt.tools, server))
        await self.toolboxes.prepare()  # again: the door may have failed while the agent started
        return _outfit(peer, cwd, self.toolboxes.make(prompt.tools, server))

    def _another(self, peer: Peer, prompt: Prompt, cwd: str) -> Callable[[], Outfit | None]:
        """Return what makes another one, or None where that would have to wait for something."""

        def make() -> Outfit | None:
            if not prompt.tools:
                return Outfit(cwd)
            if peer.known.http_tools_only or not self.toolboxes.is_ready:
                return None
            return _outfit(peer, cwd, self.toolboxes.make(prompt.tools))

        return make

    async def _leave(self, peer: Peer, session: AcpSession) -> None:
        """Close a session. An agent that doesn't let go of a turn is not asked for another."""
        has_stopped = await session.end(CLOSING_SECONDS)
        peer.close(session.dialogue)
        if not has_stopped or (self._one_session_each and not peer.can_close):
            peer.retire()

    @asynccontextmanager
    async def _claimed(self) -> AsyncGenerator[Peer]:
        """Have a process that is ready for one session more."""
        peer = await self._claim()
        try:
            yield peer
        finally:
            peer.is_taken = False
            self._release(peer)

    async def _claim(self) -> Peer:
        while True:
            self._shares_tools |= any(peer.shares_tools for peer in self._peers)
            peer = next((peer for peer in self._peers if self._has_room(peer)), None)
            peer = peer or self._start()
            peer.claim()
            try:
                await peer.ready.wait()
                if peer.failure is not None:
                    raise AgentError(peer.failure)
            except BaseException:
                self._release(peer)
                raise
            self._shares_tools |= peer.shares_tools
            self._one_session_each = self._repeats_ids or self._shares_tools
            if not self._one_session_each or not peer.is_taken:
                peer.is_taken = True
                return peer
            self._release(peer)  # several came before it was known that only one can stay

    def _release(self, peer: Peer) -> None:
        """Let go of a process. One without a session is kept for whoever comes next, no more."""
        peer.release()
        if peer.is_spare:
            for other in self._peers:
                if other is not peer and other.is_spare:
                    other.end()

    def _has_room(self, peer: Peer) -> bool:
        return peer.is_usable and not (self._one_session_each and peer.claims)

    def _start(self) -> Peer:
        peer = Peer(self._spec, self._connect, self._idle_seconds, self._spares, self._learned)
        self._peers.append(peer)
        self._nursery.start_soon(self._run, peer, name=f"agent {self._spec.name}")
        return peer

    async def _run(self, peer: Peer) -> None:
        try:
            await peer.run()
        except* Exception as group:
            peer.lose(failure_of(group, f"agent={self._spec.name}"))
        finally:
            self._peers.remove(peer)

    def _connect(self) -> AbstractAsyncContextManager[Link]:
        tap = self._tap_for(self._spec.name)
        return self._start_link() if tap is None else tapped(self._start_link(), tap)

    def _start_process(self) -> AbstractAsyncContextManager[Link]:
        return open_process(self._spec, self._known_environment)

    @property
    def _known_environment(self) -> Mapping[str, str]:
        return environment_for((self._spec.command, *self._spec.args))


def _outfit(peer: Peer, cwd: str, tools: Toolbox) -> Outfit:
    """Return an outfit whose calls are looked at: they may be another chat's."""
    peer.strays.watch(tools)
    tools.on_asked = partial(peer.facts.learn, Fact.ASKS_FOR_TOOLS)
    return Outfit(cwd, tools, peer.servers)
