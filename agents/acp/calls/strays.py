"""Refuses calls of the editor's tools that came to the server of a chat which didn't ask for them.

A call that may be another chat's waits a moment for its announcement: some agents announce a call
after it has come. The decisions are in `sharing`.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence

import attrs
import trio

from agents.mcp.offer import Offer
from agents.mcp.tools import JSON

from .sharing import ServedCall, SharingSession, Stray, Sure, judge

UNSURE_SECONDS = 0.25
"""Seconds that a call of an uncertain chat waits for its announcement; one took 86 ms."""
MOST_PASSED = 100
"""Calls that were let through unsure, and may be announced yet."""

log = logging.getLogger("vscodelm.acp")


@attrs.define(eq=False, repr=False)
class Strays:
    """Looks at the calls of one process; `found` is called when its sessions share tools."""

    chats: Callable[[], Sequence[SharingSession]]
    found: Callable[[], None]
    _news: trio.lowlevel.ParkingLot = attrs.field(factory=trio.lowlevel.ParkingLot, init=False)
    _is_mixed: bool = attrs.field(default=False, init=False)
    """Whether the sessions are known to share tools."""
    _passed: deque[tuple[Offer, ServedCall]] = attrs.field(
        factory=lambda: deque[tuple[Offer, ServedCall]](maxlen=MOST_PASSED), init=False
    )

    async def refusal(self, offer: Offer, name: str, arguments: JSON) -> str | None:
        """Return the answer to a call that reached `offer`, None if the call is to be passed on."""
        call = ServedCall(name, arguments)
        until = trio.current_time() + UNSURE_SECONDS
        has_waited = False
        while True:
            match self._judge(offer, call):
                case Sure.OWN:
                    return None
                case Sure.UNKNOWN if has_waited and self._is_mixed:
                    return Stray("", is_evidence=False).words
                case Sure.UNKNOWN if has_waited:
                    self._passed.append((offer, call))
                    return None
                case Sure.UNKNOWN:
                    with trio.move_on_at(until) as waiting:
                        await self._news.park()
                    has_waited = waiting.cancelled_caught
                case Stray() as stray:
                    log.info("server=%s tool=%s refused: another chat's", offer.server, name)
                    if stray.is_evidence:
                        self.mix()
                    return stray.words

    def heard(self) -> None:
        """Look again: a call was announced in some session."""
        self._news.unpark_all()
        for passed in [*self._passed]:
            offer, call = passed
            for chat in self.chats():
                if chat.announced.take(offer, call):
                    self._passed.remove(passed)
                    if chat.tools is not offer:
                        self.mix()
                    break

    def mix(self) -> None:
        """Note that the sessions share tools."""
        self._is_mixed = True
        self.found()

    def _judge(self, offer: Offer, call: ServedCall) -> Sure | Stray:
        chats = self.chats()
        own = next((one for one in chats if one.tools is offer), None)
        return judge(call, offer, own, [one for one in chats if one is not own])
