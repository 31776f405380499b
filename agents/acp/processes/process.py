"""The process of an agent: its start, its introduction, its users and its end.

The agent introduces itself once; from then on it is a `ConnectedAgent`. A process without users
ends after a while.
"""

from __future__ import annotations

import logging
import math

import attrs
import trio
from msgspec.structs import replace

from agents.acp.connected_agent import ConnectedAgent
from agents.acp.errors import ended_early, exited, refused, silent, wrong_version
from agents.acp.learned import Learned
from agents.acp.prompt.budget import ContextWindow
from agents.acp.rpc.connection import Connection
from agents.acp.schema.errors import Error
from agents.acp.schema.initialize import (
    PROTOCOL_VERSION,
    AuthCapabilities,
    ClientCapabilities,
    ClientSessionCapabilities,
    ElicitationCapabilities,
    FileSystemCapabilities,
    Implementation,
    InitializeRequest,
    InitializeResponse,
    SessionConfigOptionsCapabilities,
    Supported,
)
from agents.acp.schema.methods import INITIALIZE
from agents.acp.transport.base import LAST_WORDS_SECONDS, Connect, Exit, Link
from agents.base import AgentError
from agents.boundary import failure_of
from agents.workspace import Workspace
from bridge.errors import Failure
from bridge.version import own_version
from bridge.wire import McpServerSpec

INITIALIZE_SECONDS = 120.0
"""Seconds that `initialize` may take; a launcher may download the agent first."""

CAPABILITIES = ClientCapabilities(
    # The two belong together: an agent that only writes overwrites text that isn't saved.
    fs=FileSystemCapabilities(read_text_file=True, write_text_file=True),
    session=ClientSessionCapabilities(
        config_options=SessionConfigOptionsCapabilities(boolean=Supported()),
        notices=Supported(),
        compaction=Supported(),
    ),
    # The user gets the command of such a login in any case; agents hide it from other clients.
    auth=AuthCapabilities(terminal=True),
    elicitation=ElicitationCapabilities(form=Supported(), url=Supported()),
    meta={"terminal-auth": True},  # the same, of the time before the protocol had it
)
"""Our capabilities, where the editor shows forms and makes the agent's edits."""

log = logging.getLogger("vscodelm.acp")


@attrs.define(eq=False, repr=False)
class AcpProcess:
    """One process; `run` is its life. A user of it claims it, and releases it."""

    spec: McpServerSpec
    connect: Connect
    idle_seconds: float
    spares: bool
    learned: Learned
    workspace: Workspace = attrs.field(factory=Workspace)
    """The editor's window, as it is when the process starts."""
    window: ContextWindow = attrs.field(factory=ContextWindow)
    """The context window of the agent's model, as reported in any session."""
    edits_by_editor: bool = False
    """Whether the editor makes the agent's edits, in all sessions of this process."""
    failure: Failure | None = attrs.field(default=None, init=False)
    """Why it is of no more use."""
    is_ending: bool = attrs.field(default=False, init=False)
    """Whether it has ended, though it isn't known yet how."""
    claims: int = attrs.field(default=0, init=False)
    is_occupied: bool = attrs.field(default=False, init=False)
    """Whether there is a session, where there can be only one."""
    peer: ConnectedAgent | None = attrs.field(default=None, init=False)
    """The agent, once it has introduced itself."""
    ready: trio.Event = attrs.field(factory=trio.Event, init=False)
    """Set when the agent has introduced itself, or the process has failed."""
    pid: int | None = attrs.field(default=None, init=False)
    """The id of the process, once it has started."""
    _connection: Connection | None = attrs.field(default=None, init=False)
    _scope: trio.CancelScope = attrs.field(factory=trio.CancelScope, init=False)
    _is_retired: bool = attrs.field(default=False, init=False)

    @property
    def name(self) -> str:
        """The agent's name in its definition."""
        return self.spec.name

    # Its life.

    async def run(self) -> None:
        """Run the process until it ends, isn't used any more, or this is cancelled."""
        try:
            with self._scope:
                async with self.connect() as link:
                    await self._serve(link)
        except* Exception as group:
            self.lose(failure_of(group, f"agent={self.name}"))
        finally:
            self.lose(Failure("Unavailable", f"{self.name} was ended."))

    async def _serve(self, link: Link) -> None:
        self.pid = link.pid
        connection = self._connection = Connection(self.name, link.source, link.sink)
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._introduce, link, connection, nursery.cancel_scope)
                nursery.start_soon(self._listen_to_the_end, link, nursery.cancel_scope)
                await connection.run()
                self.is_ending = True
                nursery.cancel_scope.cancel()
            exit_ = await link.exit()
            self.lose(connection.failure or self._ended(exit_))
        finally:  # before the process is ended, which takes time
            self.lose(Failure("Unavailable", f"{self.name} was ended."))

    async def _listen_to_the_end(self, link: Link, serving: trio.CancelScope) -> None:
        """End the conversation when the process has, and its last words were read."""
        await link.ended()
        self.is_ending = True
        serving.deadline = min(serving.deadline, trio.current_time() + LAST_WORDS_SECONDS)

    async def _introduce(
        self, link: Link, connection: Connection, serving: trio.CancelScope
    ) -> None:
        request = InitializeRequest(
            PROTOCOL_VERSION,
            self._capabilities,
            Implementation("vscodelm", own_version()),
        )
        answer: InitializeResponse | Error | None = None
        with trio.move_on_after(INITIALIZE_SECONDS):
            answer = await connection.request(INITIALIZE, request)
        match answer:
            case InitializeResponse(protocol_version=1):
                facts = await self.learned.of(answer.agent_info)
                self.peer = ConnectedAgent(self, connection, answer, facts, self.window)
                self.ready.set()
                return
            case InitializeResponse(protocol_version=other):
                failure = wrong_version(self.name, f"version {other}")
            case Error():
                failure = refused(self.name, answer, last_words=(await link.exit()).last_words)
            case None:
                words = (await link.exit()).last_words
                failure = self.no_introduction(INITIALIZE_SECONDS, words)
        self.lose(failure)
        serving.cancel()

    @property
    def _capabilities(self) -> ClientCapabilities:
        """Our capabilities, as this editor and this process have them."""
        return replace(
            CAPABILITIES,
            fs=CAPABILITIES.fs if self.edits_by_editor else None,
            elicitation=CAPABILITIES.elicitation if self.workspace.shows_forms else None,
        )

    async def introduced(self) -> ConnectedAgent:
        """Return the agent when it has introduced itself; raises `AgentError`."""
        await self.ready.wait()
        if self.failure is not None or self.peer is None:
            raise AgentError(self.failure or self.no_introduction(INITIALIZE_SECONDS))
        return self.peer

    def no_introduction(self, seconds: float, last_words: str = "") -> Failure:
        """Return the failure for an agent that didn't introduce itself in time."""
        return silent(self.name, seconds, last_words, said=self._noise)

    def _ended(self, exit_: Exit) -> Failure:
        if self.ready.is_set():
            return exited(self.name, exit_.status, exit_.last_words)
        said = self._noise
        return ended_early(self.name, exit_.status, exit_.last_words, said=said)

    @property
    def _noise(self) -> str:
        return "" if self._connection is None else self._connection.noise

    def lose(self, failure: Failure) -> None:
        """Stop being usable; the first reason counts."""
        if self.failure is None:
            self.failure = failure
            log.info("agent=%s gone reason=%s", self.name, failure.message)
            if self._connection is not None:
                self._connection.fail(failure)
            if self.peer is not None:
                self.peer.openings.discard_spares()
            self.ready.set()

    # Its use.

    @property
    def is_usable(self) -> bool:
        """Whether another session may be opened here, as far as is known.

        None is while a turn was told to stop and hasn't: an agent that doesn't heed that is only
        stopped with its process, which ends when its last session does.
        """
        is_over = self.failure is not None or self.is_ending
        if is_over or self._is_retired or self._scope.cancel_called:
            return False
        return self.peer is None or not self.peer.connection.subscribers.are_stopping

    @property
    def has_spares(self) -> bool:
        """Whether sessions may be opened in advance."""
        return self.spares and not self._is_retired

    @property
    def shares_tools(self) -> bool:
        """Whether its sessions are known to share the editor's tools."""
        return self.peer is not None and self.peer.shares_tools

    @property
    def is_spare(self) -> bool:
        """Whether it could serve, and has no user."""
        return not self.claims and self.ready.is_set() and self.is_usable

    def claim(self) -> None:
        """Keep it from ending by itself."""
        self.claims += 1
        self._scope.deadline = math.inf

    def release(self) -> None:
        """Undo one `claim`."""
        self.claims -= 1
        if not self.claims:
            if self._is_retired:
                self._scope.cancel()
            else:
                self._scope.deadline = trio.current_time() + self.idle_seconds

    def occupy(self) -> None:
        """Note that one of those that have claimed it gets a session here."""
        self.is_occupied = True

    def vacate(self) -> None:
        """Undo `occupy`: the session is over."""
        self.is_occupied = False

    def retire(self) -> None:
        """Serve only the present users: a session got stuck, or a login is needed first."""
        self._is_retired = True

    def end(self) -> None:
        """End the process: nobody will use it any more."""
        self._scope.cancel()
