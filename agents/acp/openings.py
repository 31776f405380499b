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
from .methods import NEW_SESSION, NewSessionResponse
from .outfit import Outfit

SESSION_SECONDS = 60.0
"""How long an agent may take to open a session."""
FRESH_SECONDS = 600.0
"""How old a session may be that was opened in advance."""


@attrs.define(eq=False)
class _Opening:
    """A session that was asked for; whoever asked may have gone."""

    outfit: Outfit
    begun_at: float = attrs.field(factory=trio.current_time, init=False)
    answer: Dialogue | Error | Failure | None = attrs.field(default=None, init=False)
    answered: trio.Event = attrs.field(factory=trio.Event, init=False)
    is_wanted: bool = attrs.field(default=True, init=False)

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

    async def open(self, outfit: Outfit) -> Dialogue | Error:
        """Open a session, or take one that was opened in advance; raises `AgentError`.

        That one comes with an outfit of its own, as good as the given one.
        """
        opening = self._take_spare(outfit) or self._begin(outfit)
        with trio.move_on_after(SESSION_SECONDS):
            try:
                await opening.answered.wait()
            except trio.Cancelled:
                self._keep(opening)  # it may come yet, for somebody else
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

    @property
    def has_spare(self) -> bool:
        """Whether a session waits for whoever comes next."""
        return bool(self._waiting)

    def open_in_advance(self, outfit: Outfit) -> None:
        """Begin to open a session for whoever comes next."""
        self._keep(self._begin(outfit))

    def _keep(self, opening: _Opening) -> None:
        opening.outfit.is_spare = True
        self._waiting.append(opening)

    def _take_spare(self, outfit: Outfit) -> _Opening | None:
        """Return a session that was opened for nobody and fits; close those that don't."""
        openings, self._waiting = self._waiting, []
        while openings:
            opening = openings.pop()
            opening.outfit.is_spare = False
            is_good = opening.is_fresh and not isinstance(opening.answer, Error)
            if is_good and opening.outfit.matches(outfit):
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
                    self.connection.attach(session_id, dialogue)
                    opening.answer = dialogue
                    if not opening.is_wanted:
                        self.close(dialogue)
                case other:
                    opening.answer = other
            opening.answered.set()

        self.connection.open(NEW_SESSION, outfit.to_open(), take)
        return opening
