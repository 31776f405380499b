"""Open sessions: new, loaded, resumed and forked ones.

An `Opening` owns the parameters of its session, and its wait is bounded. If no chat wants the
session any more, it is closed, also if the agent opens it later. Its parameters are closed, too:
they hold a token for the editor's tools, which would stay valid.

Some agents take seconds to open a session, so a spare is opened in advance.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

import attrs
import trio

from agents.acp.prompt.budget import ContextWindow
from agents.acp.rpc.connection import Connection
from agents.acp.schema.errors import Error
from agents.acp.schema.methods import (
    FORK_SESSION,
    NEW_SESSION,
    LoadSessionRequest,
    LoadSessionResponse,
    Method,
    NewSessionResponse,
)
from agents.base import AgentError
from bridge.errors import Failure
from bridge.value import Value

from .login.authentication import Authentication
from .options import Choices
from .reopened import Reopened, ToldAgain
from .session_channel import SessionChannel
from .session_params import SessionParams

SESSION_SECONDS = 60.0
"""Seconds that an agent may take to open a session."""
FRESH_SECONDS = 600.0
"""Seconds that a session may be used after it was opened in advance."""

_EMPTY = Failure("AgentFailed", "it sent none of its old messages")
_NO_ID = Failure("AgentFailed", "the agent gave no id")

log = logging.getLogger("vscodelm.acp")


class SessionIdInUse(AgentError):
    """The agent gave a new session the id of another one: this process can serve only that."""


class InUse(Value):
    """The result of an opening whose id is another session's."""


@attrs.define(eq=False, repr=False)
class Opening:
    """A session that the agent was asked to open. `end` closes it, but not its parameters."""

    params: SessionParams
    end: Callable[[SessionChannel], None]
    begun_at: float = attrs.field(factory=trio.current_time, init=False)
    answer: SessionChannel | Error | Failure | InUse | None = attrs.field(default=None, init=False)
    _answered: trio.Event = attrs.field(factory=trio.Event, init=False)
    _is_wanted: bool = attrs.field(default=True, init=False)

    @property
    def is_fresh(self) -> bool:
        """Whether it isn't too old to be used."""
        return trio.current_time() < self.begun_at + FRESH_SECONDS

    @property
    def has_failed(self) -> bool:
        """Whether there will be no session."""
        return not isinstance(self.answer, SessionChannel | None)

    def take(self, answer: SessionChannel | Error | Failure | InUse) -> None:
        """Take the agent's answer in."""
        self.answer = answer
        self._answered.set()
        if not self._is_wanted:
            self.drop()

    def drop(self) -> None:
        """Close the session, now or when the agent opens it."""
        self._is_wanted = False
        if isinstance(self.answer, SessionChannel):
            self.end(self.answer)

    async def wait(self) -> SessionChannel | Error | Failure | InUse | None:
        """Return the result, when a replay is over; None if the agent takes too long."""
        with trio.move_on_after(SESSION_SECONDS):
            await self._answered.wait()
        channel = self.answer
        if not isinstance(channel, SessionChannel) or channel.reopened is None:
            return channel
        return channel if await channel.reopened.replayed() else channel.lost or _EMPTY


@attrs.define(eq=False, repr=False)
class Openings:
    """Opens the sessions of one process. `end` closes one, but not its parameters.

    `retire` is called where only another process can serve the next session.
    """

    connection: Connection
    authentication: Authentication
    retire: Callable[[], None]
    end: Callable[[SessionChannel], None]
    window: ContextWindow = attrs.field(factory=ContextWindow)
    """The context window of the agent's model, as reported in any session."""
    on_announced: Callable[[], None] = attrs.field(default=lambda: None)
    """Called when a call of the editor's tools was announced in any session."""
    _waiting: list[Opening] = attrs.field(factory=list["Opening"], init=False)
    """Sessions that no chat has yet."""

    # The ways to open a session.

    def new(self, params: SessionParams) -> Opening:
        """Ask for a new session."""
        opening = Opening(params, self.end)

        def take(answer: NewSessionResponse | Error | Failure) -> None:
            self._take_new(opening, answer)
            if opening.has_failed and opening in self._waiting:
                self._waiting.remove(opening)
                self._discard(opening)

        self.connection.open(NEW_SESSION, params.to_open(), take)
        return opening

    def fork(self, session_id: str, params: SessionParams) -> Opening:
        """Ask for a fork of a session."""
        opening = Opening(params, self.end)
        request = params.to_load(session_id)

        def take(answer: NewSessionResponse | Error | Failure) -> None:
            if isinstance(answer, NewSessionResponse) and not answer.session_id:
                answer = _NO_ID
            self._take_new(opening, answer, Reopened(FORK_SESSION.name, params.is_name_used))

        self.connection.open(FORK_SESSION, request, take)
        return opening

    def load(
        self,
        way: Method[LoadSessionRequest, LoadSessionResponse],
        session_id: str,
        params: SessionParams,
        *,
        must_replay: bool = False,
        is_open: bool = False,
        replay: ToldAgain | None = None,
    ) -> Opening:
        """Ask for a session that the agent has; its replay may come before the answer.

        `must_replay`, `is_open` and `replay` are those of `Reopened`.
        """
        opening = Opening(params, self.end)
        request = params.to_load(session_id)
        reopened = Reopened(way.name, params.is_name_used, must_replay, is_open, replay)
        channel = self._channel(session_id, params, Choices(), reopened)
        if not self.connection.subscribers.attach(session_id, channel):
            opening.take(InUse())
            return opening

        def take(answer: LoadSessionResponse | Error | Failure) -> None:
            if isinstance(answer, LoadSessionResponse):
                channel.learn_choices(Choices.of(answer))
                opening.take(channel)
            else:
                self.connection.subscribers.detach(session_id)
                opening.take(answer)

        self.connection.call(way, request, take)
        return opening

    def _take_new(
        self,
        opening: Opening,
        answer: NewSessionResponse | Error | Failure,
        reopened: Reopened | None = None,
    ) -> None:
        if not isinstance(answer, NewSessionResponse):
            opening.take(answer)
            return
        choices = Choices.of(answer)
        channel = self._channel(answer.session_id, opening.params, choices, reopened)
        if self.connection.subscribers.attach_new(answer.session_id, channel):
            opening.take(channel)
        else:
            name, session_id = self.connection.name, answer.session_id
            log.warning("agent=%s gave the id %s to two sessions", name, session_id)
            self.retire()  # and nothing is closed: the id is the other session's
            opening.take(InUse())

    def _channel(
        self, session_id: str, params: SessionParams, choices: Choices, reopened: Reopened | None
    ) -> SessionChannel:
        return SessionChannel(
            self.connection,
            session_id,
            choices,
            tools=params.tools,
            files=params.files,
            reopened=reopened,
            window=self.window,
            on_announced=self.on_announced,
        )

    # New sessions, and spares.

    async def open(self, params: SessionParams) -> SessionChannel:
        """Return a new session, or one that was opened in advance with equal parameters.

        The session closes its parameters. Without a session they are closed here. Raises
        `AgentError`, and `SessionIdInUse` where another process is needed.
        """
        channel: SessionChannel | Error | None = None
        try:
            channel = await self.authentication.ask(lambda: self._open(params))
            if isinstance(channel, Error):
                raise AgentError(self.authentication.failure_of(channel))
            return channel
        finally:
            used = [one.params.tools for one in self._waiting]
            used += [channel.tools] if isinstance(channel, SessionChannel) else []
            if params.tools not in used:
                params.close()

    async def _open(self, params: SessionParams) -> SessionChannel | Error:
        opening = self._take_spare(params) or self.new(params)
        try:
            answer = await opening.wait()
        except trio.Cancelled:
            self._keep(opening)  # another chat may use it
            raise
        if isinstance(answer, SessionChannel):
            return answer
        opening.drop()
        if opening.params is not params:
            opening.params.close()
        name = self.connection.name
        match answer:
            case None:
                self.retire()
                message = f"{name} didn't open a session within {SESSION_SECONDS:.0f} seconds."
                raise AgentError(Failure("Unavailable", message))
            case Failure() as failure:
                raise AgentError(failure)
            case InUse():
                message = f"{name} gave two chats the same session. Try to update the agent."
                raise SessionIdInUse(Failure("AgentFailed", message))
            case Error() as error:
                return error

    @property
    def has_spare(self) -> bool:
        """Whether a session waits for the next chat."""
        return bool(self._waiting)

    def open_in_advance(self, params: SessionParams) -> None:
        """Begin to open a session for the next chat."""
        self._keep(self.new(params))

    def _keep(self, opening: Opening) -> None:
        if not opening.has_failed:
            self._waiting.append(opening)

    def _take_spare(self, params: SessionParams) -> Opening | None:
        """Return a spare that fits; close those that don't."""
        while self._waiting:
            opening = self._waiting.pop()
            if opening.is_fresh and opening.params.matches(params):
                return opening
            self._discard(opening)
        return None

    def discard_spares(self) -> None:
        """Close all spares."""
        while self._waiting:
            self._discard(self._waiting.pop())

    def _discard(self, opening: Opening) -> None:
        opening.params.close()
        opening.drop()
