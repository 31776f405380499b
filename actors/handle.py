"""The History Actor's end of a session actor: what it hands over, and takes back."""

from __future__ import annotations

import trio
from msgspec.structs import replace

from bridge.wire import ChatMessage

from .head import Head
from .plan import Delivery


class SessionHandle:
    """The History Actor's end of a session actor. Nothing here waits."""

    def __init__(self) -> None:
        self._waiting: list[Delivery] = []
        """What was delivered and the agent hasn't seen, the newest last."""
        self._received = 0
        self._news = trio.Event()
        self._aborted = 0
        self._scope: trio.CancelScope | None = None
        self._closed = False
        self.head: Head | None = None
        """The session at rest, from when a turn of it has ended; ask it whether it still is."""

    def deliver(self, delivery: Delivery) -> None:
        """Hand over a request. It repeats the history, so it makes what waits obsolete."""
        if delivery.withdrawn and self._waiting:
            # What is taken back, the agent never saw; what that took back, it may have seen.
            obsolete = self._waiting.pop()
            delivery = replace(delivery, withdrawn=obsolete.withdrawn)
        self._waiting.append(delivery)
        self._news.set()

    def skipped(self) -> tuple[ChatMessage, ...]:
        """Return what the agent missed: the messages of deliveries before the newest."""
        return tuple(
            message
            for one in self._waiting[:-1]
            for message in one.transcript.messages(one.new_from)
        )

    def take_up(self) -> None:
        """Note that the agent sees the newest delivery now, and what it missed."""
        self._waiting.clear()

    def abort(self, turn: int) -> None:
        """Stop `turn` and every earlier one, delivered or not."""
        self._aborted = turn
        if self._scope is not None:
            self._scope.cancel()

    def close(self) -> None:
        """End the actor, and its session with it."""
        self._closed = True
        self._news.set()

    def is_aborted(self, turn: int) -> bool:
        """Return whether `turn` was aborted."""
        return turn <= self._aborted

    def abortable(self, turn: int) -> trio.CancelScope:
        """Return a scope that is cancelled when `turn` is aborted."""
        self._scope = trio.CancelScope()
        if self.is_aborted(turn):
            self._scope.cancel()
        return self._scope

    async def receive(self) -> Delivery | None:
        """Wait for a delivery that is still wanted; None when the handle was closed."""
        while True:
            if self._closed:
                return None
            newest = self._waiting[-1] if self._waiting else None
            if newest and newest.turn > self._received and not self.is_aborted(newest.turn):
                self._received = newest.turn
                withdrawn = any(one.withdrawn for one in self._waiting)
                return replace(newest, withdrawn=withdrawn)
            self._news = trio.Event()
            await self._news.wait()
