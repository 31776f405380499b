"""The History Actor's end of a session actor: what it hands over, and takes back."""

from __future__ import annotations

import math

import trio
from msgspec.structs import replace

from bridge.value import Value
from bridge.wire import ChatMessage

from .head import Head
from .plan import Delivery

SUPERSEDED_SECONDS = 60.0
"""How long a session that takes a process for itself is kept, after its user has led the chat
elsewhere, such as by an edit. An undo of that comes within the minute, or mostly never."""


class Missed(Value):
    """What is left of a delivery that no agent saw: its new messages, not the whole request."""

    withdrawn: bool
    messages: tuple[ChatMessage, ...]

    @classmethod
    def of(cls, delivery: Delivery) -> Missed:
        """Keep what is new in a delivery."""
        return cls(delivery.withdrawn, delivery.transcript.messages(delivery.new_from))


class SessionHandle:
    """The History Actor's end of a session actor. Nothing here waits."""

    def __init__(self) -> None:
        self._newest: Delivery | None = None
        """What was delivered last, while its request is open and the agent hasn't seen it."""
        self._missed: list[Missed] = []
        """What was delivered before and the agent hasn't seen, the newest last."""
        self._received = 0
        self._news = trio.Event()
        self._aborted = 0
        self._scope: trio.CancelScope | None = None
        self._opening: trio.CancelScope | None = None
        """While a session is being opened: what ends that."""
        self._resting: trio.CancelScope | None = None
        """While nothing runs in a session that may be closed for now: what ends that."""
        self._rests_at = math.inf
        self._closed = False
        self.idle_seconds = math.inf
        """How long the newest delivery lets a conversation be idle, whatever became of it."""
        self.head: Head | None = None
        """The session at rest, from when a turn of it has ended; ask it whether it still is."""

    def deliver(self, delivery: Delivery) -> None:
        """Hand over a request. It repeats the history, so it makes what waits obsolete."""
        self._miss()
        if delivery.withdrawn and self._missed:
            # What is taken back, the agent never saw; what that took back, it may have seen.
            obsolete = self._missed.pop()
            delivery = replace(delivery, withdrawn=obsolete.withdrawn)
        self._newest = delivery
        self._rest_at(math.inf)
        self.idle_seconds = delivery.settings.idle_seconds
        self._news.set()

    def skipped(self) -> tuple[ChatMessage, ...]:
        """Return what the agent missed: the messages of deliveries before the newest."""
        return tuple(message for one in self._missed for message in one.messages)

    def take_up(self) -> None:
        """Note that the agent sees the newest delivery now, and what it missed."""
        self._newest = None
        self._missed.clear()

    def give_up(self, turn: int) -> None:
        """Note that the agent won't see `turn`: its request is settled."""
        if self._newest is not None and self._newest.turn <= turn:
            self._miss()

    def abort(self, turn: int) -> None:
        """Stop `turn` and every earlier one, delivered or not."""
        self._aborted = turn
        self.give_up(turn)
        if self._scope is not None:
            self._scope.cancel()

    def supersede(self) -> None:
        """Note that the chat goes on elsewhere, until something is delivered here again."""
        if self._rests_at == math.inf:
            self._rest_at(trio.current_time() + SUPERSEDED_SECONDS)

    def resting(self) -> trio.CancelScope:
        """Return a scope that is cancelled when the chat has gone on elsewhere for a while."""
        self._resting = trio.CancelScope(deadline=self._rests_at)
        return self._resting

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
        """Wait for a delivery that is still wanted; None when the handle was closed."""
        while True:
            if self._closed:
                return None
            newest = self._newest
            if newest is not None and newest.turn > self._received:
                self._received = newest.turn
                withdrawn = newest.withdrawn or any(one.withdrawn for one in self._missed)
                return replace(newest, withdrawn=withdrawn)
            self._news = trio.Event()
            await self._news.wait()

    def _rest_at(self, time: float) -> None:
        self._rests_at = time
        if self._resting is not None:
            self._resting.deadline = time

    def _miss(self) -> None:
        """Keep of the newest delivery what the agent must still be told."""
        if self._newest is not None:
            self._missed.append(Missed.of(self._newest))
            self._newest = None
