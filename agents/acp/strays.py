"""Refuses calls of the editor's tools that came to the server of a chat which didn't ask for them.

A call that may be another chat's waits a moment for its announcement: some agents announce a call
after it has come. What is decided is decided in `sharing`.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from functools import partial

import attrs
import trio

from agents.mcp.catalogue import JSON
from agents.mcp.toolbox import Toolbox

from .dialogue import Dialogue
from .sharing import Call, Stray, Sure, judge

UNSURE_SECONDS = 0.25
"""How long a call that may be another chat's waits for its announcement; one took 86 ms."""
MOST_PASSED = 100
"""Calls that were let through unsure, and may be announced yet."""

log = logging.getLogger("vscodelm.acp")


@attrs.define(eq=False)
class Strays:
    """Looks at the calls of one process; `found` is called when its sessions share tools."""

    dialogues: Callable[[], Sequence[Dialogue]]
    found: Callable[[], None]
    servers: AbstractSet[str]
    """The names of all servers that the process was given: it may keep those of closed sessions."""
    _news: trio.lowlevel.ParkingLot = attrs.field(factory=trio.lowlevel.ParkingLot, init=False)
    _is_mixed: bool = attrs.field(default=False, init=False)
    """Whether the sessions are known to share tools."""
    _passed: deque[tuple[Toolbox, Call]] = attrs.field(
        factory=lambda: deque[tuple[Toolbox, Call]](maxlen=MOST_PASSED), init=False
    )

    def watch(self, box: Toolbox) -> None:
        """Look at the calls that come to a session's server, and at questions about others."""
        box.refusal = partial(self.refusal, box)
        box.others = lambda: self.servers - {box.server}
        box.on_mixed = self._find

    async def refusal(self, box: Toolbox, name: str, arguments: JSON) -> str | None:
        """Return what to answer a call with that came to `box`, None if it is to be passed on."""
        call = Call(name, arguments)
        until = trio.current_time() + UNSURE_SECONDS
        has_waited = False
        while True:
            match self._judge(box, call):
                case Sure.OWN:
                    return None
                case Sure.UNKNOWN if has_waited and self._is_mixed:
                    return Stray("", is_evidence=False).words
                case Sure.UNKNOWN if has_waited:
                    self._passed.append((box, call))
                    return None
                case Sure.UNKNOWN:
                    with trio.move_on_at(until) as waiting:
                        await self._news.park()
                    has_waited = waiting.cancelled_caught
                case Stray() as stray:
                    log.info("server=%s tool=%s refused: another chat's", box.server, name)
                    if stray.is_evidence:
                        self._find()
                    return stray.words

    def heard(self) -> None:
        """Look again: a call was announced in some session."""
        self._news.unpark_all()
        for passed in [*self._passed]:
            box, call = passed
            for dialogue in self.dialogues():
                if dialogue.announced.take(box, call):
                    self._passed.remove(passed)
                    if dialogue.tools is not box:
                        self._find()
                    break

    def _find(self) -> None:
        self._is_mixed = True
        self.found()

    def _judge(self, box: Toolbox, call: Call) -> Sure | Stray:
        dialogues = self.dialogues()
        own = next((one for one in dialogues if one.tools is box), None)
        return judge(call, box, own, [one for one in dialogues if one is not own])
