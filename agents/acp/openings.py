"""New sessions of a process. Opening one takes seconds with some agents, so there is a spare."""

from __future__ import annotations

from collections.abc import Callable

import attrs
import trio

from agents.base import AgentError
from bridge.errors import Failure

from .choices import Choices
from .connection import Connection
from .dialogue import Dialogue
from .faults import Error
from .methods import NEW_SESSION, NewSessionRequest, NewSessionResponse

SESSION_SECONDS = 60.0
"""How long an agent may take to open a session."""
FRESH_SECONDS = 600.0
"""How old a session may be that was opened in advance."""


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
class Openings:
    """Opens sessions. `retire` is called when the agent doesn't, `close` closes one for nobody."""

    connection: Connection
    retire: Callable[[], None]
    close: Callable[[Dialogue], None]
    _waiting: list[_Opening] = attrs.field(factory=list["_Opening"], init=False)
    """Sessions that nobody has yet."""

    async def open(self, setup: NewSessionRequest) -> Dialogue | Error:
        """Open a session, or take one that was opened in advance; raises `AgentError`."""
        opening = self._take_spare(setup) or self._begin(setup)
        with trio.move_on_after(SESSION_SECONDS):
            try:
                await opening.answered.wait()
            except trio.Cancelled:
                self._waiting.append(opening)  # it may come yet, for somebody else
                raise
        match opening.answer:
            case None:
                self.retire()
                name = self.connection.name
                message = f"{name} didn't open a session within {SESSION_SECONDS:.0f} seconds."
                raise AgentError(Failure("Unavailable", message))
            case Failure() as failure:
                raise AgentError(failure)
            case answer:
                return answer

    def open_in_advance(self, setup: NewSessionRequest) -> None:
        """Begin to open a session for whoever comes next, unless there is one."""
        if not self._waiting:
            self._waiting.append(self._begin(setup))

    def _take_spare(self, setup: NewSessionRequest) -> _Opening | None:
        """Return a session that was opened for nobody and fits; close those that don't."""
        openings, self._waiting = self._waiting, []
        while openings:
            opening = openings.pop()
            dialogue = opening.answer
            if opening.setup == setup and opening.is_fresh and not isinstance(dialogue, Error):
                self._waiting = openings
                return opening
            if isinstance(dialogue, Dialogue):
                self.close(dialogue)
        return None

    def _begin(self, setup: NewSessionRequest) -> _Opening:
        opening = _Opening(setup)

        def take(answer: NewSessionResponse | Error | Failure) -> None:
            match answer:
                case NewSessionResponse(session_id=session_id):
                    dialogue = Dialogue(self.connection, session_id, Choices.of(answer))
                    self.connection.attach(session_id, dialogue)
                    opening.answer = dialogue
                case other:
                    opening.answer = other
            opening.answered.set()

        self.connection.open(NEW_SESSION, setup, take)
        return opening
