"""An agent whose turns are paused now and then, as `actors.progress.pace` says.

It stands between a session actor and the agent. To the session actor it looks as if the agent had
called a tool of the editor, `vscodelm-progress`; the agent hears nothing of it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import attrs
import trio

from agents.base import Agent, AgentSession, Turn, WrappedSession
from agents.events import Answer, Prompt
from agents.origin import FRESH, Origin

if TYPE_CHECKING:
    from .turn import PacedTurn


@attrs.frozen(eq=False, repr=False)
class PacedAgent(Agent):
    """Opens sessions whose turns are paused if the prompt says so."""

    agent: Agent

    async def prepare(self) -> None:
        """Get what the agent needs; raises `AgentError`."""
        await self.agent.prepare()

    @asynccontextmanager
    async def session(self, prompt: Prompt, origin: Origin = FRESH) -> AsyncGenerator[AgentSession]:
        """Open a session with the agent; raises `AgentError`."""
        async with self.agent.session(prompt, origin) as session, trio.open_nursery() as nursery:
            try:
                yield PacedSession(session, nursery)
            finally:
                nursery.cancel_scope.cancel()


class PacedSession(WrappedSession[AgentSession]):
    """A session of the agent's. Its turns are paused if the prompt says so."""

    def __init__(self, session: AgentSession, nursery: trio.Nursery) -> None:
        """Take a session; the tasks in `nursery` end with it."""
        super().__init__(session)
        self.nursery = nursery
        self._turn: PacedTurn | None = None
        """The newest turn, if it is paced."""

    async def renew(self, prompt: Prompt) -> None:
        """Take the newest request, with which the next response begins."""
        await super().renew(prompt)
        if self._turn is not None:
            self._turn.respond(prompt)

    def run(self, prompt: Prompt) -> Turn:
        """Begin a turn."""
        self._turn = None
        if not prompt.is_paced:
            return super().run(prompt)
        from .machine import PacedMachine  # here, because most chats have no paced turns
        from .turn import PacedTurn

        self._turn = PacedTurn(self.session, self.nursery, PacedMachine(prompt))
        return self._turn

    def answer(self, answer: Answer) -> None:
        """Hand over one answer."""
        if self._turn is None or not self._turn.answer(answer):
            super().answer(answer)

    async def cancel(self) -> None:
        """Ask the running turn to stop."""
        if self._turn is None or self._turn.cancel():
            await super().cancel()
