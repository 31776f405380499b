"""Which of the agent's sessions a conversation has, and what of the chat that session knows.

A conversation has one at a time. It is taken over from a memory (`actors.memory`) or from the
conversation's own past, or is a new one; and it is given back when it is closed, so that whoever
goes on with the chat may have it.
"""

from __future__ import annotations

import attrs

from agents.base import AgentSession
from agents.origin import FRESH, ForkOf, Fresh, Origin, Resumed
from bridge.message import Message

from .beginning import Start, Why
from .head import Head
from .memory import AgentMemory
from .plan import Delivery


@attrs.define(eq=False)
class Lease:
    """A conversation's hold on a session."""

    memory: AgentMemory
    why: Why = attrs.field(default=Why.NEW, init=False)
    """Why the next session isn't the last one."""
    start: Start = attrs.field(default=Start.FRESH, init=False)
    """How this one began."""
    _known: tuple[Message, ...] = attrs.field(default=(), init=False)
    """What of the chat it knows, while it was given nothing by this conversation."""
    _handle: str | None = attrs.field(default=None, init=False)
    _is_settled: bool = attrs.field(default=False, init=False)
    """Whether it knows what this conversation's user knows."""
    _head: Head | None = attrs.field(default=None, init=False)
    """This session, while it is at rest."""
    _forked: Head | None = attrs.field(default=None, init=False)
    """The session that this one is a fork of, while it was given nothing."""

    @property
    def known(self) -> int:
        """How many messages of a delivery that this session serves first are known to it."""
        return len(self._known)

    async def find(self, delivery: Delivery) -> Origin:
        """Return what the session for a delivery is to begin with, and take hold of it."""
        if delivery.withdrawn:
            self.why = Why.WITHDRAWN
        elif self._is_settled and self._handle is not None:
            self._known = ()
            return Resumed(self._handle)
        self.give_back()
        origin = delivery.origin
        if origin is not None and origin.is_current and delivery.past == delivery.new_from:
            return self._fork(origin, delivery)
        if delivery.past and self.why is not Why.TAKEN:
            path = delivery.transcript.path[: delivery.past]
            found = await self.memory.find(path)
            if found is not None:
                self._handle, self._known = found.handle, path[: found.steps]
                return Resumed(found.handle)
        if origin is not None and origin.is_current:
            return self._fork(origin, delivery)
        return FRESH

    def _fork(self, origin: Head, delivery: Delivery) -> ForkOf:
        self._forked = origin
        self._known = delivery.transcript.path[: delivery.new_from]
        return ForkOf(origin.handle)

    async def take(self, session: AgentSession, origin: Origin) -> None:
        """Hold a session that was opened with that origin."""
        former, self._handle = self._handle, session.handle
        if former is not None and former != session.handle:
            # What it was called before isn't a session of its own, or is one that nobody found.
            await self.memory.begin(former)
            self.memory.release(former)
        match origin, session.knows_history:
            case Fresh(), _:
                self.start = Start.FRESH
            case ForkOf(), True:
                self.start = Start.FORKED
            case _, True:
                self.start = Start.RESUMED if self._is_settled else Start.STORED
            case ForkOf(), False:  # most agents can't; why it is a new one hasn't changed
                self.start, self._known, self._forked = Start.FRESH, (), None
            case _:
                self.start, self.why, self._known = Start.FRESH, Why.FORGOTTEN, ()

    async def fits(self, delivery: Delivery) -> bool:
        """Return whether a delivery goes on with what a session knows that was given nothing."""
        if delivery.transcript.path[: self.known] != self._known:
            self.why = Why.WITHDRAWN
            return False
        origin = self._forked
        if origin is not None and origin.is_current and not await self.memory.has(origin.handle):
            origin.is_current, self.why = False, Why.TAKEN
            return False
        if origin is not None and not origin.is_current:
            self.why = Why.WITHDRAWN  # who knows whether the turn that began is in the fork
            return False
        return True

    async def begin(self) -> bool:
        """Note that the agent is about to be given something; False if it mustn't any more."""
        self._is_settled, self._forked = False, None
        self._move_on()
        if self._handle is None or await self.memory.begin(self._handle):
            return True
        self.why = Why.TAKEN
        return False

    def settle(self) -> Head | None:
        """Note that the session knows what the user knows; return it if it can be forked there."""
        self._is_settled = True
        self._head = None if self._handle is None else Head(self._handle)
        return self._head

    def give_back(self) -> None:
        """Let whoever asks have the session, if it is settled and nobody has it yet."""
        if self._handle is not None:
            self.memory.release(self._handle)
        self._move_on()
        self._handle, self._known, self._is_settled, self._forked = None, (), False, None

    def _move_on(self) -> None:
        if self._head is not None:
            self._head.is_current = False
        self._head = None
