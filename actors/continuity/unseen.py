"""Keep the deliveries that an agent hasn't seen, and what the next one says of them. Pure.

A request repeats the whole history, so only the newest delivery is served (decision 0002). The
agent must still get the new messages of the earlier ones, and must not keep what they withdraw.
"""

from __future__ import annotations

import attrs
from msgspec.structs import replace

from bridge.value import Value
from bridge.wire import ChatMessage

from ..plan import Delivery


class Missed(Value):
    """The rest of a delivery that no agent saw: its new messages, not the whole request."""

    withdrawn: bool
    messages: tuple[ChatMessage, ...]

    @classmethod
    def of(cls, delivery: Delivery) -> Missed:
        """Keep the new messages of a delivery."""
        return cls(delivery.withdrawn, delivery.transcript.messages(delivery.new_from))


@attrs.define(eq=False, repr=False)
class UnseenDeliveries:
    """The newest delivery, while its request is open, and what the agent missed before it."""

    _newest: Delivery | None = attrs.field(default=None, init=False)
    _missed: list[Missed] = attrs.field(factory=list[Missed], init=False)
    """Earlier deliveries, the newest last."""

    def put(self, delivery: Delivery) -> None:
        """Note the newest delivery. The one before it is missed, or was withdrawn unseen.

        A delivery that withdraws one that nobody saw withdraws only what that one withdrew.
        """
        self._miss()
        if delivery.withdrawn and self._missed:
            obsolete = self._missed.pop()
            delivery = replace(delivery, withdrawn=obsolete.withdrawn)
        self._newest = delivery

    def newest(self) -> Delivery | None:
        """Return the newest delivery. It withdraws all that the missed ones withdraw."""
        if self._newest is None:
            return None
        withdrawn = self._newest.withdrawn or any(one.withdrawn for one in self._missed)
        return replace(self._newest, withdrawn=withdrawn)

    def missed(self) -> tuple[ChatMessage, ...]:
        """Return the new messages of the deliveries before the newest."""
        return tuple(message for one in self._missed for message in one.messages)

    def give_up(self, turn: int) -> None:
        """Note that the agent won't see `turn` or an earlier one: its request is settled."""
        if self._newest is not None and self._newest.turn <= turn:
            self._miss()

    def clear(self) -> None:
        """Note that the agent sees the newest delivery now, and the messages that it missed."""
        self._newest = None
        self._missed.clear()

    def _miss(self) -> None:
        """Keep the new messages of the newest delivery: the agent must still get them."""
        if self._newest is not None:
            self._missed.append(Missed.of(self._newest))
            self._newest = None
