"""A turn's channel, as fake agents have it: what it says is each one's own, but not how it ends."""

from __future__ import annotations

import abc
from typing import Protocol

import trio

from agents.base import AgentError
from agents.events import Batch, Break, Stop
from bridge.errors import Failure


class Losable(Protocol):
    """A session, as far as a turn must know it."""

    lost: Failure | None


class FakeTurn(trio.abc.ReceiveChannel[Batch]):
    """It is over after its last event, when it is closed, or when its session is lost."""

    def __init__(self, session: Losable) -> None:
        self.over = False
        """Whether the last event has been handed out."""
        self._losable = session
        self._closed = False
        self._changed = trio.lowlevel.ParkingLot()

    def wake(self) -> None:
        """Have whoever receives look again."""
        self._changed.unpark_all()

    async def wait(self) -> None:
        """Wait until there may be something new."""
        await self._changed.park()

    @abc.abstractmethod
    async def next(self) -> Batch:
        """Return what is said next; an empty batch, perhaps after a wait, to look again."""

    async def receive(self) -> Batch:
        """Wait for the next batch."""
        await trio.lowlevel.checkpoint()
        while True:
            if self._closed:
                raise trio.ClosedResourceError
            if self.over:
                raise trio.EndOfChannel
            if self._losable.lost is not None:
                raise AgentError(self._losable.lost)
            batch = await self.next()
            if batch:
                self.over = isinstance(batch[-1], Stop | Break)
                return batch

    def close(self) -> None:
        """Close the turn; who receives from it is told so."""
        self._closed = True
        self.wake()

    async def aclose(self) -> None:
        """Close the turn."""
        self.close()
        await trio.lowlevel.checkpoint()
