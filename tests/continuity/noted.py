"""An agent as it is, but that it is noted which request each turn is for."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import attrs

from agents.base import Agent, AgentSession, Turn, WrappedSession
from agents.events import Prompt
from agents.origin import FRESH, Origin

from .mind import Taken
from .remembering import REQUEST

Note = Callable[[Taken, AgentSession], None]


class NotedSession(WrappedSession[AgentSession]):
    """A session; `note` is told before it is."""

    def __init__(self, session: AgentSession, note: Note) -> None:
        super().__init__(session)
        self._note = note
        self._is_new = True

    async def renew(self, prompt: Prompt) -> None:
        self._take(prompt, goes_on=True)
        await super().renew(prompt)

    def run(self, prompt: Prompt) -> Turn:
        self._take(prompt, goes_on=False)
        return super().run(prompt)

    def _take(self, prompt: Prompt, *, goes_on: bool) -> None:
        self._note(Taken(prompt.model_options[REQUEST], self._is_new, goes_on), self.session)
        self._is_new = False


@attrs.define(eq=False)
class NotedAgent:
    """An agent; it satisfies `agents.base.Agent`, too."""

    agent: Agent
    note: Note

    async def prepare(self) -> None:
        """Get what the agent needs."""
        await self.agent.prepare()

    @asynccontextmanager
    async def session(
        self, prompt: Prompt, origin: Origin = FRESH
    ) -> AsyncGenerator[NotedSession, None]:
        """Open a session."""
        async with self.agent.session(prompt, origin) as session:
            yield NotedSession(session, self.note)
