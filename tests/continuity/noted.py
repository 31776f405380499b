"""An agent as it is, but that it is noted which request each turn is for."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager

import attrs

from agents.base import Agent, AgentSession, Turn
from agents.events import Answer, Prompt
from agents.origin import FRESH, Origin
from bridge.errors import Failure
from bridge.wire import Settings, ToolSpec

from .mind import Taken
from .remembering import REQUEST

Note = Callable[[Taken, AgentSession], None]


@attrs.define(eq=False)
class NotedSession:
    """A session; `note` is told before it is."""

    session: AgentSession
    note: Note
    _is_new: bool = True

    @property
    def handle(self) -> str | None:
        return self.session.handle

    @property
    def knows_history(self) -> bool:
        return self.session.knows_history

    @property
    def lost(self) -> Failure | None:
        return self.session.lost

    @property
    def has_own_process(self) -> bool:
        return self.session.has_own_process

    def can_offer(self, tools: Sequence[ToolSpec], settings: Settings) -> bool:
        return self.session.can_offer(tools, settings)

    async def renew(self, prompt: Prompt) -> None:
        self._take(prompt, goes_on=True)
        await self.session.renew(prompt)

    def run(self, prompt: Prompt) -> Turn:
        self._take(prompt, goes_on=False)
        return self.session.run(prompt)

    def answer(self, answer: Answer) -> None:
        self.session.answer(answer)

    async def cancel(self) -> None:
        await self.session.cancel()

    def _take(self, prompt: Prompt, *, goes_on: bool) -> None:
        self.note(Taken(prompt.model_options[REQUEST], self._is_new, goes_on), self.session)
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
