"""A running agent: one process, what it says of itself, and the sessions that are opened on it.

It is introduced once and serves any number of sessions, new ones (`openings`) and those that the
agent has already (`existing`). It ends when nobody has used it for a while.
"""

from __future__ import annotations

import logging
import math
import os
from collections import deque
from collections.abc import Callable

import attrs
import trio

from agents.base import AgentError
from agents.boundary import contained, failure_of
from bridge.errors import Failure
from bridge.version import own_version
from bridge.wire import McpServerSpec, RequestId

from .authentication import Authentication
from .connection import Connection
from .dialogue import Dialogue
from .environment import environment_of
from .existing import ExistingSessions
from .failures import ended_early, exited, refused, silent, wrong_version
from .faults import Error
from .known import KnownAgent, known_agent
from .learned import AgentFacts, Fact, Learned
from .link import LAST_WORDS_SECONDS, Connect, Exit, Link
from .login import no_logout
from .methods import (
    CLOSE_SESSION,
    INITIALIZE,
    CloseSessionRequest,
    Empty,
)
from .openings import Openings
from .outfit import Outfit
from .setup import (
    PROTOCOL_VERSION,
    AuthCapabilities,
    ClientCapabilities,
    Implementation,
    InitializeRequest,
    InitializeResponse,
)
from .strays import Strays

INITIALIZE_SECONDS = 120.0
"""How long an agent may take to introduce itself; a launcher may download it first."""

CAPABILITIES = ClientCapabilities(
    # A user is told the command of such a login in any case; agents hide it from other clients.
    auth=AuthCapabilities(terminal=True),
    meta={"terminal-auth": True},  # the same, of the time before the protocol had it
)
"""What we can do for an agent."""

MOST_CLOSING = 100
"""Sessions of which an agent may still say that it closed them: some never say so."""

log = logging.getLogger("vscodelm.acp")


@attrs.define(eq=False)
class Peer:
    """One process; `run` is its life. Who uses it claims it, and releases it."""

    spec: McpServerSpec
    connect: Connect
    idle_seconds: float
    spares: bool
    learned: Learned
    failure: Failure | None = attrs.field(default=None, init=False)
    """Why it is of no more use."""
    is_ending: bool = attrs.field(default=False, init=False)
    """Whether it has ended, though it isn't known yet how."""
    claims: int = attrs.field(default=0, init=False)
    is_taken: bool = attrs.field(default=False, init=False)
    """Whether there is a session, where there can be only one."""
    about: InitializeResponse = attrs.field(
        default=InitializeResponse(PROTOCOL_VERSION), init=False
    )
    known: KnownAgent = attrs.field(default=KnownAgent(""), init=False)
    facts: AgentFacts = attrs.field(factory=AgentFacts, init=False)
    """What the agent has shown, in whatever process it ran."""
    ready: trio.Event = attrs.field(factory=trio.Event, init=False)
    """Set when it can be used, or never can."""
    authentication: Authentication = attrs.field(init=False)
    """It is there when this is ready, as is `existing`."""
    existing: ExistingSessions = attrs.field(init=False)
    pid: int | None = attrs.field(default=None, init=False)
    """Its process, once it has started."""
    connection: Connection = attrs.field(init=False)
    strays: Strays = attrs.field(init=False)
    """Looks at the calls of the editor's tools."""
    mixes_tools: bool = attrs.field(default=False, init=False)
    """Whether a call for one session came to another's server: each needs another process."""
    servers: set[str] = attrs.field(factory=set[str], init=False)
    """The names of all MCP servers that it was given."""
    _openings: Openings = attrs.field(init=False)
    _scope: trio.CancelScope = attrs.field(factory=trio.CancelScope, init=False)
    _closing: deque[RequestId] = attrs.field(factory=lambda: deque[RequestId](), init=False)
    """What the agent was asked to close last, answered or not."""
    _is_retired: bool = attrs.field(default=False, init=False)

    @property
    def name(self) -> str:
        """What the definition calls it."""
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
        self.connection = Connection(self.name, link.source, link.sink)
        self.strays = Strays(self._dialogues, self._mix_tools, self.servers)
        self.connection.on_announced = self.strays.heard
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._introduce, link, nursery.cancel_scope)
                nursery.start_soon(self._listen_to_the_end, link, nursery.cancel_scope)
                await self.connection.run()
                self.is_ending = True
                nursery.cancel_scope.cancel()
            exit_ = await link.exit()
            self.lose(self.connection.failure or self._ended(exit_))
        finally:  # before the process is ended, which takes time
            self.lose(Failure("Unavailable", f"{self.name} was ended."))

    async def _listen_to_the_end(self, link: Link, serving: trio.CancelScope) -> None:
        """End the conversation when the process has, and its last words were read."""
        await link.ended()
        self.is_ending = True
        serving.deadline = min(serving.deadline, trio.current_time() + LAST_WORDS_SECONDS)

    async def _introduce(self, link: Link, serving: trio.CancelScope) -> None:
        request = InitializeRequest(
            PROTOCOL_VERSION, CAPABILITIES, Implementation("vscodelm", own_version())
        )
        answer: InitializeResponse | Error | None = None
        with trio.move_on_after(INITIALIZE_SECONDS):
            answer = await self.connection.request(INITIALIZE, request)
        match answer:
            case InitializeResponse(protocol_version=1):
                self.facts = await self.learned.of(answer.agent_info)
                self._get_ready(answer)
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

    def _get_ready(self, about: InitializeResponse) -> None:
        self.about = about
        self.known = known_agent(about.agent_info.name if about.agent_info else None)
        environment = environment_of(self.spec.env, {}, os.environ)
        self.authentication = Authentication(
            self.spec, environment, self.connection, about.auth_methods, self.known, self.retire
        )
        self._openings = Openings(self.connection, self.retire, self.close)
        self.existing = ExistingSessions(
            self.connection,
            about.agent_capabilities,
            self.facts,
            self.authentication,
            self.retire,
            self.close,
        )
        self.ready.set()

    def no_introduction(self, seconds: float, last_words: str = "") -> Failure:
        """Return the failure for an agent that didn't introduce itself in time."""
        return silent(self.name, seconds, last_words, said=self.connection.noise)

    def _ended(self, exit_: Exit) -> Failure:
        if self.ready.is_set():
            return exited(self.name, exit_.status, exit_.last_words)
        said = self.connection.noise
        return ended_early(self.name, exit_.status, exit_.last_words, said=said)

    def lose(self, failure: Failure) -> None:
        """Be of no more use, for the first reason that is given."""
        if self.failure is None:
            self.failure = failure
            log.info("agent=%s gone reason=%s", self.name, failure.message)
            if hasattr(self, "connection"):
                self.connection.fail(failure)
            if hasattr(self, "_openings"):
                self._openings.discard_spares()
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
        return not (self.ready.is_set() and self.connection.is_stopping)

    @property
    def is_spare(self) -> bool:
        """Whether it could serve, and nobody uses it."""
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

    def retire(self) -> None:
        """Serve who is here and nobody else: a session got stuck, or a login is needed first."""
        self._is_retired = True

    def end(self) -> None:
        """End the process: nobody will use it any more."""
        self._scope.cancel()

    @property
    def shares_tools(self) -> bool:
        """Whether its sessions share the editor's tools, so that each needs a process."""
        return self.known.sessions_share_tools or self.facts.has(Fact.SESSIONS_SHARE_TOOLS)

    def _mix_tools(self) -> None:
        """Serve nobody else: the sessions that are here move on with their next turns."""
        if self.mixes_tools:
            return
        self.mixes_tools = True
        self.facts.learn(Fact.SESSIONS_SHARE_TOOLS)
        log.warning("agent=%s mixes up the tools of its chats: each gets a process", self.name)
        self.retire()
        self._openings.discard_spares()

    def _dialogues(self) -> list[Dialogue]:
        return [ear for ear in self.connection.ears if isinstance(ear, Dialogue)]

    # Its account.

    async def log_out(self) -> None:
        """Log out; raises `AgentError`."""
        if self.about.agent_capabilities.auth.logout is None:
            raise AgentError(no_logout(self.spec, self.known))
        await self.authentication.log_out()

    # Sessions.

    async def open(self, outfit: Outfit, another: Callable[[], Outfit | None]) -> Dialogue:
        """Open a session; raises `AgentError`.

        `another` makes an outfit for a spare, if it can. A spare that fails costs no session.
        """
        dialogue = await self.authentication.ask(lambda: self._openings.open(outfit))
        if isinstance(dialogue, Error):
            raise AgentError(self.authentication.failure_of(dialogue))
        if self._opens_in_advance and not self._openings.has_spare:
            with contained(f"agent={self.name} spare session"):
                spare = another()
                if spare is not None:
                    self._openings.open_in_advance(spare)
        return dialogue

    def close(self, dialogue: Dialogue) -> None:
        """Close a session, where the agent can."""
        dialogue.pause()
        if dialogue.tools is not None:
            dialogue.tools.close()
        self.connection.detach(dialogue.session_id)
        if self.can_close:
            session_id = dialogue.session_id

            def closed(answer: Empty | Error | Failure) -> None:
                if isinstance(answer, Empty):
                    self.connection.free_id(session_id)

            request = CloseSessionRequest(session_id)
            self._closing.append(self.connection.call(CLOSE_SESSION, request, closed))
            if len(self._closing) > MOST_CLOSING:
                self.connection.forget_quietly(self._closing.popleft())

    @property
    def can_close(self) -> bool:
        """Whether the agent closes sessions."""
        return self.about.agent_capabilities.session_capabilities.close is not None

    @property
    def _opens_in_advance(self) -> bool:
        """Whether that is cheap: a session that isn't used can be closed, and disturbs nobody."""
        is_wanted = self.spares and not self._is_retired
        return is_wanted and self.can_close and not self.shares_tools
