"""New sessions of a process. Opening one takes seconds with some agents, so there is a spare.

A session that nobody gets is closed, and its outfit with it: the agent was given a token for the
editor's tools, which would stay valid.
"""

from __future__ import annotations

from collections.abc import Callable

import attrs
import trio

from agents.base import AgentError
from bridge.errors import Failure
from bridge.value import Value

from .choices import Choices
from .connection import Connection
from .dialogue import Dialogue
from .faults import Error
from .methods import NEW_SESSION, NewSessionResponse
from .outfit import Outfit

SESSION_SECONDS = 60.0
"""How long an agent may take to open a session."""
FRESH_SECONDS = 600.0
"""How old a session may be that was opened in advance."""


class SessionIdInUse(AgentError):
    """The agent gave a new session the id of another one: this process can serve only that."""


class _InUse(Value):
    """What an opening led to where its id is another session's."""


@attrs.define(eq=False)
class _Opening:
    """A session that was asked for; whoever asked may have gone."""

    outfit: Outfit
    begun_at: float = attrs.field(factory=trio.current_time, init=False)
    answer: Dialogue | Error | Failure | _InUse | None = attrs.field(default=None, init=False)
    answered: trio.Event = attrs.field(factory=trio.Event, init=False)
    is_wanted: bool = attrs.field(default=True, init=False)

    @property
    def is_fresh(self) -> bool:
        return trio.current_time() < self.begun_at + FRESH_SECONDS

    @property
    def has_failed(self) -> bool:
        return not isinstance(self.answer, Dialogue | None)


@attrs.define(eq=False)
class Openings:
    """Opens sessions. `retire` is called when the agent doesn't, `close` closes one for nobody."""

    connection: Connection
    retire: Callable[[], None]
    close: Callable[[Dialogue], None]
    _waiting: list[_Opening] = attrs.field(factory=list["_Opening"], init=False)
    """Sessions that nobody has yet."""

    async def open(self, outfit: Outfit) -> Dialogue | Error:
        """Open a session, or take one that was opened in advance.

        That one comes with an outfit of its own, as good as the given one. Raises `AgentError`,
        and `SessionIdInUse` where another process is needed.
        """
        opening = self._take_spare(outfit) or self._begin(outfit)
        try:
            with trio.move_on_after(SESSION_SECONDS):
                await opening.answered.wait()
        except trio.Cancelled:
            self._keep(opening)  # it may come yet, for somebody else
            raise
        if isinstance(opening.answer, Dialogue):
            return opening.answer
        opening.is_wanted = False
        if opening.outfit is not outfit:
            opening.outfit.close()  # it came with the spare, so nobody else does
        name = self.connection.name
        match opening.answer:
            case None:
                self.retire()
                message = f"{name} didn't open a session within {SESSION_SECONDS:.0f} seconds."
                raise AgentError(Failure("Unavailable", message))
            case Failure() as failure:
                raise AgentError(failure)
            case _InUse():
                message = f"{name} gave two chats the same session. Its program may need an update."
                raise SessionIdInUse(Failure("AgentFailed", message))
            case Error() as error:
                return error

    @property
    def has_spare(self) -> bool:
        """Whether a session waits for whoever comes next."""
        return bool(self._waiting)

    def open_in_advance(self, outfit: Outfit) -> None:
        """Begin to open a session for whoever comes next."""
        self._keep(self._begin(outfit))

    def _keep(self, opening: _Opening) -> None:
        if not opening.has_failed:
            opening.outfit.is_spare = True
            self._waiting.append(opening)

    def _take_spare(self, outfit: Outfit) -> _Opening | None:
        """Return a session that was opened for nobody and fits; close those that don't."""
        openings, self._waiting = self._waiting, []
        while openings:
            opening = openings.pop()
            opening.outfit.is_spare = False
            if opening.is_fresh and opening.outfit.matches(outfit):
                self._waiting = openings
                return opening
            self._discard(opening)
        return None

    def discard_spares(self) -> None:
        """Let go of the sessions that wait for somebody."""
        openings, self._waiting = self._waiting, []
        for opening in openings:
            opening.outfit.is_spare = False
            self._discard(opening)

    def _discard(self, opening: _Opening) -> None:
        opening.is_wanted = False
        opening.outfit.close()
        if isinstance(opening.answer, Dialogue):
            self.close(opening.answer)

    def _begin(self, outfit: Outfit) -> _Opening:
        opening = _Opening(outfit)

        def take(answer: NewSessionResponse | Error | Failure) -> None:
            match answer:
                case NewSessionResponse(session_id=session_id):
                    dialogue = Dialogue(self.connection, session_id, Choices.of(answer))
                    dialogue.tools = outfit.tools
                    if not self.connection.attach_new(session_id, dialogue):
                        self.retire()  # and nothing is closed: the id is the other session's
                        opening.answer = _InUse()
                    else:
                        opening.answer = dialogue
                        if not opening.is_wanted:
                            self.close(dialogue)
                case other:
                    opening.answer = other
            if opening.has_failed and opening in self._waiting:
                self._waiting.remove(opening)
                opening.outfit.is_spare = False
                self._discard(opening)
            opening.answered.set()

        self.connection.open(NEW_SESSION, outfit.to_open(), take)
        return opening
