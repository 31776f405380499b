"""The mailbox of a session actor: the History Actor delivers requests to it, and aborts turns."""

from __future__ import annotations

import math

import trio

from .beginning import Head
from .continuity.unseen import UnseenDeliveries
from .plan import Delivery

SUPERSEDED_SECONDS = 60.0
"""Seconds that a session with a process of its own is kept after its user continued the chat
elsewhere, for example by an edit. An undo of that comes within the minute, or mostly never."""


class Mailbox:
    """Takes requests for a session actor. Only `receive` waits."""

    def __init__(self) -> None:
        self.unseen = UnseenDeliveries()
        self._received = 0
        self._news = trio.Event()
        self._aborted = 0
        self._scope: trio.CancelScope | None = None
        self._opening: trio.CancelScope | None = None
        """Cancels the opening of a session, while one is being opened."""
        self._resting: trio.CancelScope | None = None
        """Ends the wait for a delivery."""
        self._rests_at = math.inf
        """When a session may be closed for now, while no turn runs in it."""
        self._expires_at = math.inf
        """When it has waited for long enough."""
        self._closed = False
        self.idle_seconds = math.inf
        """Seconds that the newest delivery lets a conversation be idle, even if it was aborted."""
        self.head: Head | None = None
        """The session that was at rest last. Its `is_current` tells whether it still is."""

    def allow_forks(self, head: Head | None) -> None:
        """Note that the session is at rest."""
        self.head = head

    def deliver(self, delivery: Delivery) -> None:
        """Hand over a request. It repeats the history, so it replaces the one that waits."""
        self.unseen.put(delivery)
        self._rest_at(math.inf)
        self.idle_seconds = delivery.settings.idle_seconds
        self._news.set()

    def abort(self, turn: int) -> None:
        """Stop `turn` and every earlier one, delivered or not."""
        self._aborted = turn
        self.unseen.give_up(turn)
        if self._scope is not None:
            self._scope.cancel()

    def supersede(self) -> None:
        """Note that the chat goes on elsewhere, until something is delivered here again."""
        if self._rests_at == math.inf:
            self._rest_at(trio.current_time() + SUPERSEDED_SECONDS)

    def resting(self, expires_at: float) -> trio.CancelScope:
        """Return a scope that is cancelled then, or when the chat has long gone on elsewhere."""
        self._expires_at = expires_at
        self._resting = trio.CancelScope(deadline=min(self._rests_at, expires_at))
        return self._resting

    def rested(self) -> bool:
        """Return, once, whether the chat has long gone on elsewhere."""
        has_rested = trio.current_time() >= self._rests_at
        if has_rested:
            self._rest_at(math.inf)
        return has_rested

    def close(self) -> None:
        """End the actor, and its session with it."""
        self._closed = True
        self._news.set()
        if self._opening is not None:
            self._opening.cancel()

    def is_aborted(self, turn: int) -> bool:
        """Return whether `turn` was aborted."""
        return turn <= self._aborted

    def abortable(self, turn: int) -> trio.CancelScope:
        """Return a scope that is cancelled when `turn` is aborted."""
        self._scope = trio.CancelScope()
        if self.is_aborted(turn):
            self._scope.cancel()
        return self._scope

    def opening(self) -> trio.CancelScope:
        """Return a scope that is cancelled when this is closed before `opened` is called."""
        self._opening = trio.CancelScope()
        if self._closed:
            self._opening.cancel()
        return self._opening

    def opened(self) -> None:
        """Note that a session is open: from now on it ends in its own order."""
        self._opening = None

    async def receive(self) -> Delivery | None:
        """Wait for a delivery that is still wanted; None when the mailbox was closed."""
        while True:
            if self._closed:
                return None
            newest = self.unseen.newest()
            if newest is not None and newest.turn > self._received:
                self._received = newest.turn
                return newest
            self._news = trio.Event()
            await self._news.wait()

    def _rest_at(self, time: float) -> None:
        if time == self._rests_at:
            return
        self._rests_at = time
        if self._resting is not None:
            self._resting.deadline = min(time, self._expires_at)
