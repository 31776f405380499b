"""The chats that continue an existing session of the agent."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

import attrs
import trio

from agents.acp.session import AcpSession
from agents.events import Say

from .owners import Owners
from .session import ContinuedSession


@attrs.define(eq=False, repr=False)
class Holders:
    """The chats that have the continued sessions; `leave` closes one for its chat."""

    leave: Callable[[AcpSession], Awaitable[None]]
    owners: Owners = attrs.field(factory=Owners, init=False)
    _untold: dict[str, ContinuedSession] = attrs.field(
        factory=dict[str, ContinuedSession], init=False
    )
    """Sessions that chats continue, by their ids, until they get a message."""

    @asynccontextmanager
    async def held(
        self, session_id: str, session: AcpSession, words: Sequence[Say]
    ) -> AsyncGenerator[ContinuedSession]:
        """Hold a session for a chat. Until it gets a message, another chat may take it."""
        self.owners.give(session.name)
        held = ContinuedSession(session, words, lambda: self._untold.pop(session_id, None))
        self._untold[session_id] = held
        try:
            yield held
        finally:
            with trio.CancelScope(shield=True):
                await self._give_up(held)

    def is_untold(self, session_id: str) -> bool:
        """Return whether the chat that has a session has told it nothing."""
        return session_id in self._untold

    async def take_over(self, session_id: str) -> None:
        """Take a session from a chat that has told it nothing: it may be the same chat, edited."""
        holder = self._untold.get(session_id)
        if holder is not None:
            with trio.CancelScope(shield=True):
                await self._give_up(holder)

    async def _give_up(self, session: ContinuedSession) -> None:
        """Leave a session, unless that was done before."""
        if not session.is_given_up:
            session.give_up()
            await self.leave(session.session)
