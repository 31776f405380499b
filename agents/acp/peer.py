"""A running agent: one process, what it says of itself, and the sessions that are opened on it.

It is introduced once and serves any number of sessions. Opening one takes seconds with some agents,
so the next one is opened in advance. It ends when nobody has used it for a while.
"""

from __future__ import annotations

import logging
import math
from importlib.metadata import version
from typing import assert_never

import attrs
import trio

from agents.base import AgentError
from bridge.errors import Failure
from bridge.wire import McpServerSpec

from .choices import Change, Choices
from .connection import Connection
from .dialogue import Dialogue
from .failures import exited, is_auth_required, refused, wrong_version
from .faults import Error
from .known import KnownAgent, known_agent
from .link import LAST_WORDS_SECONDS, Connect, Exit, Link
from .login import login_advice, sole_method
from .methods import (
    AUTHENTICATE,
    CLOSE_SESSION,
    INITIALIZE,
    NEW_SESSION,
    SET_CONFIG_OPTION,
    SET_MODE,
    SET_MODEL,
    CloseSessionRequest,
    Empty,
    NewSessionRequest,
    NewSessionResponse,
    SetSessionConfigOptionRequest,
    SetSessionConfigOptionResponse,
    SetSessionModelRequest,
    SetSessionModeRequest,
)
from .setup import (
    PROTOCOL_VERSION,
    AuthenticateRequest,
    ClientCapabilities,
    Implementation,
    InitializeRequest,
    InitializeResponse,
)

INITIALIZE_SECONDS = 120.0
"""How long an agent may take to introduce itself; a launcher may download it first."""
SESSION_SECONDS = 60.0
"""How long it may take to open a session."""
LOGIN_SECONDS = 300.0
"""How long a login may take: the agent may open a browser."""
FRESH_SECONDS = 600.0
"""How old a session may be that was opened in advance."""

log = logging.getLogger("vscodelm.acp")


@attrs.define(eq=False)
class _Opening:
    """A session that was asked for; whoever asked may have gone."""

    setup: NewSessionRequest
    begun_at: float = attrs.field(factory=trio.current_time, init=False)
    answer: Dialogue | Error | Failure | None = attrs.field(default=None, init=False)
    answered: trio.Event = attrs.field(factory=trio.Event, init=False)

    @property
    def is_fresh(self) -> bool:
        return trio.current_time() < self.begun_at + FRESH_SECONDS


@attrs.define(eq=False)
class Peer:
    """One process; `run` is its life. Who uses it claims it, and releases it."""

    spec: McpServerSpec
    connect: Connect
    idle_seconds: float
    spares: bool
    failure: Failure | None = attrs.field(default=None, init=False)
    """Why it is of no more use."""
    claims: int = attrs.field(default=0, init=False)
    is_taken: bool = attrs.field(default=False, init=False)
    """Whether there is a session, where there can be only one."""
    about: InitializeResponse = attrs.field(
        default=InitializeResponse(PROTOCOL_VERSION), init=False
    )
    known: KnownAgent = attrs.field(default=KnownAgent(""), init=False)
    ready: trio.Event = attrs.field(factory=trio.Event, init=False)
    """Set when it can be used, or never can."""
    _connection: Connection = attrs.field(init=False)
    _openings: list[_Opening] = attrs.field(factory=list["_Opening"], init=False)
    """Sessions that nobody has yet."""
    _scope: trio.CancelScope = attrs.field(factory=trio.CancelScope, init=False)
    _is_retired: bool = attrs.field(default=False, init=False)
    _last_words: str = attrs.field(default="", init=False)
    _login: trio.Lock = attrs.field(factory=trio.Lock, init=False)
    _logins: int = attrs.field(default=0, init=False)

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
        except* AgentError as group:
            self._lose(_first(group).failure)
        finally:
            self._lose(Failure("Unavailable", f"{self.name} was ended."))

    async def _serve(self, link: Link) -> None:
        self._connection = Connection(self.name, link.source, link.sink)
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._introduce, link, nursery.cancel_scope)
                nursery.start_soon(self._listen_to_the_end, link, nursery.cancel_scope)
                await self._connection.run()
                nursery.cancel_scope.cancel()
            exit_ = await link.exit()
            self._lose(self._ended(exit_))
        finally:  # before the process is ended, which takes time
            self._lose(Failure("Unavailable", f"{self.name} was ended."))

    async def _listen_to_the_end(self, link: Link, serving: trio.CancelScope) -> None:
        """End the conversation when the process has, and its last words were read."""
        await link.ended()
        serving.deadline = min(serving.deadline, trio.current_time() + LAST_WORDS_SECONDS)

    async def _introduce(self, link: Link, serving: trio.CancelScope) -> None:
        request = InitializeRequest(
            PROTOCOL_VERSION, ClientCapabilities(), Implementation("vscodelm", version("vscodelm"))
        )
        answer: InitializeResponse | Error | None = None
        with trio.move_on_after(INITIALIZE_SECONDS):
            answer = await self._connection.request(INITIALIZE, request)
        match answer:
            case InitializeResponse(protocol_version=1):
                self.about = answer
                self.known = known_agent(answer.agent_info.name if answer.agent_info else None)
                self.ready.set()
                return
            case InitializeResponse(protocol_version=other):
                failure = wrong_version(self.name, f"version {other}")
            case Error():
                failure = refused(self.name, answer, last_words=(await link.exit()).last_words)
            case None:
                failure = Failure(
                    "Unavailable",
                    f"{self.name} didn't introduce itself within {INITIALIZE_SECONDS:.0f} seconds. "
                    "Run its command in a terminal to see why.",
                    stderr_tail=(await link.exit()).last_words,
                )
        self._lose(failure)
        serving.cancel()

    def _ended(self, exit_: Exit) -> Failure:
        return exited(self.name, exit_.status, exit_.last_words, was_ready=self.ready.is_set())

    def _lose(self, failure: Failure) -> None:
        """Be of no more use, for the first reason that is given."""
        if self.failure is None:
            self.failure = failure
            log.info("agent=%s gone reason=%s", self.name, failure.message)
            if hasattr(self, "_connection"):
                self._connection.fail(failure)
            self.ready.set()

    # Its use.

    @property
    def is_usable(self) -> bool:
        """Whether another session may be opened here, as far as is known."""
        return not (self.failure is not None or self._is_retired or self._scope.cancel_called)

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

    # Sessions.

    async def open(self, setup: NewSessionRequest) -> Dialogue:
        """Open a session; raises `AgentError`."""
        dialogue = await self._opened(setup)
        if isinstance(dialogue, Error) and is_auth_required(dialogue):
            failure = await self.log_in(dialogue)
            if failure is not None:
                raise AgentError(failure)
            dialogue = await self._opened(setup)
        if isinstance(dialogue, Error):
            raise AgentError(self.failure_of(dialogue))
        if self._opens_in_advance and not self._openings:
            self._openings.append(self._begin_opening(setup))
        return dialogue

    def close(self, dialogue: Dialogue) -> None:
        """Close a session, where the agent can."""
        dialogue.pause()
        self._connection.detach(dialogue.session_id)
        if self.can_close:
            request = CloseSessionRequest(dialogue.session_id)
            self._connection.call(CLOSE_SESSION, request, _ignore)

    @property
    def can_close(self) -> bool:
        """Whether the agent closes sessions."""
        return self.about.agent_capabilities.session_capabilities.close is not None

    @property
    def _opens_in_advance(self) -> bool:
        """Whether that is cheap: a session that isn't used can be closed, and disturbs nobody."""
        return self.spares and self.can_close and not self.known.sessions_share_tools

    async def _opened(self, setup: NewSessionRequest) -> Dialogue | Error:
        opening = self._take_spare(setup) or self._begin_opening(setup)
        with trio.move_on_after(SESSION_SECONDS):
            try:
                await opening.answered.wait()
            except trio.Cancelled:
                self._openings.append(opening)  # it may come yet, for somebody else
                raise
        match opening.answer:
            case None:
                self.retire()
                raise AgentError(
                    Failure(
                        "Unavailable",
                        f"{self.name} didn't open a session within {SESSION_SECONDS:.0f} seconds.",
                    )
                )
            case Failure() as failure:
                raise AgentError(failure)
            case answer:
                return answer

    def _take_spare(self, setup: NewSessionRequest) -> _Opening | None:
        """Return a session that was opened for nobody and fits; close those that don't."""
        openings, self._openings = self._openings, []
        while openings:
            opening = openings.pop()
            dialogue = opening.answer
            if opening.setup == setup and opening.is_fresh and not isinstance(dialogue, Error):
                self._openings = openings
                return opening
            if isinstance(dialogue, Dialogue):
                self.close(dialogue)
        return None

    def _begin_opening(self, setup: NewSessionRequest) -> _Opening:
        opening = _Opening(setup)

        def take(answer: NewSessionResponse | Error | Failure) -> None:
            match answer:
                case NewSessionResponse(session_id=session_id):
                    dialogue = Dialogue(self._connection, session_id, Choices.of(answer))
                    self._connection.attach(session_id, dialogue)
                    opening.answer = dialogue
                case other:
                    opening.answer = other
            opening.answered.set()

        self._connection.open(NEW_SESSION, setup, take)
        return opening

    async def change(self, dialogue: Dialogue, change: Change) -> Failure | None:
        """Make a choice in a session."""
        match change:
            case SetSessionConfigOptionRequest():
                answer = await self._connection.request(SET_CONFIG_OPTION, change)
            case SetSessionModeRequest():
                answer = await self._connection.request(SET_MODE, change)
            case SetSessionModelRequest():
                answer = await self._connection.request(SET_MODEL, change)
            case _:
                assert_never(change)
        if isinstance(answer, Error):
            return self.failure_of(answer)
        dialogue.choices = dialogue.choices.after(change)
        if isinstance(answer, SetSessionConfigOptionResponse) and answer.config_options:
            dialogue.choices = dialogue.choices.with_options(answer.config_options)
        return None

    # Logging in.

    async def log_in(self, error: Error) -> Failure | None:
        """Log in, as the agent demanded by `error`; return why that can't be done here.

        Where several sessions are asked for it at once, it is done once.
        """
        before = self._logins
        async with self._login:
            if self._logins != before:
                return None
            method = sole_method(self.about.auth_methods, self.known)
            if method is None:
                return self.failure_of(error)
            answer: Empty | Error | None = None
            with trio.move_on_after(LOGIN_SECONDS):
                request = AuthenticateRequest(method.id)
                answer = await self._connection.request(AUTHENTICATE, request)
            if not isinstance(answer, Empty):
                self.retire()
                return self.failure_of(answer or error)
            self._logins += 1
            return None

    def failure_of(self, error: Error) -> Failure:
        """Return the failure for an error that the agent answered a request with."""
        if is_auth_required(error):
            self.retire()  # after a login in a terminal, only another process knows of it
        argv = (self.spec.command, *self.spec.args)
        advice = login_advice(argv, self.about.auth_methods, self.known)
        return refused(self.name, error, advice=advice)


def _ignore(_answer: object) -> None:
    """Take an answer that says nothing."""


def _first(group: BaseExceptionGroup[AgentError]) -> AgentError:
    """Return the first error in a group of groups."""
    inner = group.exceptions[0]
    return _first(inner) if isinstance(inner, BaseExceptionGroup) else inner
