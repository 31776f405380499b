"""A live conversation, with what its newest request needs beside the history."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

import attrs

from bridge.history.exchange import Ending
from bridge.history.machine import History, Phase
from bridge.wire import Part

from .index import AgentKey
from .repeats import FINISHED_SECONDS, SentParts


@attrs.define(eq=False, repr=False)
class LiveConversation:
    """A conversation's history, with the state of its newest request."""

    agent: AgentKey
    history: History = attrs.field(factory=History, init=False)
    repeated_as: Hashable = attrs.field(default=None, init=False)
    """Identifies the host's own repeats of the newest request; None if the host makes none."""
    sent: SentParts = attrs.field(factory=SentParts, init=False)
    """The newest answer, as long as a repeat may need it."""
    settled_at: float = attrs.field(default=-math.inf, init=False)
    """When the newest request was settled."""
    _size: int = attrs.field(default=0, init=False)
    """Bytes of the newest request."""

    @property
    def size(self) -> int:
        """Bytes that it keeps of the newest request and its answer."""
        return self._size + self.sent.size

    def begin(self, size: int, repeated_as: Hashable) -> None:
        """Note the newest request, which has so many bytes."""
        self._size, self.repeated_as, self.sent = size, repeated_as, SentParts()

    def note_sent(self, parts: Sequence[Part]) -> None:
        """Keep parts of the answer that were sent, if a repeat may need them."""
        if self.repeated_as is not None:
            self.sent.add(parts)

    def tidy(self, now: float) -> None:
        """Forget the answer if no repeat gets it any more."""
        if self.sent.size and not self.has_answer(now):
            self.sent = SentParts()

    def has_answer(self, now: float) -> bool:
        """Return whether a repeat of the newest request gets its answer.

        That still comes, or has just ended well.
        """
        newest = self.history.provisional
        if newest is None or self.history.phase is Phase.STREAMING:
            return newest is not None
        is_fresh = now - self.settled_at < FINISHED_SECONDS
        return newest.ending is Ending.COMPLETE and is_fresh
