"""Pairs an agent's calls of the editor's tools with their results. Pure.

Calls come one by one and at any time. The editor takes them only during a response, and sends
results with a later request, in any order. So calls are gathered for a moment and go out together,
and what comes when no response is open waits for the next one. A call may also overtake its own
announcement, and the text before that. So an agent that announces its calls is waited for.

Three rules. Every call is answered exactly once, except one that the agent takes back. A result
reaches its call, or is dropped for a reason. Nothing is kept after a call is over.

`key` is the caller that waits for the answer; `call_id` is the call's id for the editor. Time comes
in as an argument. Each method returns what is to be done: send a `Reply` to its waiting caller, or
log a `Drop`.
"""

from __future__ import annotations

import enum
import math
from collections import deque
from collections.abc import Hashable, Sequence
from typing import Any, TypeAlias, assert_never

import attrs

from agents.events import TURN_CANCELLED, CallTool, ToolAnswer
from agents.habits import Announcing
from bridge.value import Value

SETTLE_SECONDS = 0.05
"""Seconds that another call may take to come after the last one, before all go out."""
ANNOUNCED_SECONDS = 0.25
"""Seconds that a call waits for others that were announced, and for its own announcement."""
MOST_SECONDS = 1.0
"""The most seconds that a call waits for others although the editor could have it."""

MOST_CALLS = 1_000
"""Calls of a session that may wait for their results; more are refused."""

_OVERDUE = 100

NO_TURN = "The user isn't waiting for anything now. The editor's tools can be used in a turn."
CLOSED = "The session is over."
TOO_MANY = f"{MOST_CALLS:,} calls wait for their results already. Wait for some of them first."


class Reply(Value):
    """The answer to a call."""

    key: Any
    result: Any
    is_error: bool = False


class Drop(Value):
    """A result that nobody gets, and why."""

    call_id: str
    reason: str


BrokerEffect: TypeAlias = Reply | Drop
BrokerEffects: TypeAlias = Sequence[BrokerEffect]


class _Phase(enum.Enum):
    SHUT = enum.auto()
    """Calls are refused: no turn was begun yet, or the last one was cancelled."""
    BETWEEN = enum.auto()
    """The last turn ended by itself: what the agent still calls waits for the next."""
    OPEN = enum.auto()
    """A turn runs. Whether a response is open at this moment, its driver knows."""
    CLOSED = enum.auto()


@attrs.define
class _Call:
    key: Hashable
    event: CallTool
    arrived_at: float
    is_announced: bool = False
    is_out: bool = False
    """Whether the editor has it."""


@attrs.define
class CallBroker:
    """The calls of one session; `habit` is whether its agent announces them."""

    habit: Announcing = attrs.field(factory=Announcing)
    begun_at: float = attrs.field(default=math.inf, init=False)
    """When the first turn began; infinite before."""
    _phase: _Phase = attrs.field(default=_Phase.SHUT, init=False)
    _calls: dict[str, _Call] = attrs.field(factory=dict[str, _Call], init=False)
    """The open calls by the editor's id, in the order in which they came."""
    _ended: dict[str, str] = attrs.field(factory=dict[str, str], init=False)
    """Why a result has no call any more, for calls that the editor has and will bring one of."""
    _due: float = attrs.field(default=math.inf, init=False)
    _patience_ends: float = attrs.field(default=math.inf, init=False)
    _latest: float = attrs.field(default=math.inf, init=False)
    """When what waits goes out, whatever else comes."""
    _announced: int = attrs.field(default=0, init=False)
    """The number of calls that the agent has announced."""
    _expected: list[str] = attrs.field(factory=list[str], init=False)
    """The tools of calls that were announced and haven't come."""
    _overdue: deque[str] = attrs.field(factory=lambda: deque[str](maxlen=_OVERDUE), init=False)
    """The tools of the last calls that were answered, and weren't announced before."""
    _keeps_word: bool = attrs.field(default=True, init=False)
    """Whether the agent calls at once what it announces. Some do it one by one."""

    # State.

    @property
    def waiting(self) -> int:
        """The number of calls that are to go out."""
        return sum(not call.is_out for call in self._calls.values())

    @property
    def out(self) -> int:
        """The number of calls that the editor has."""
        return len(self._calls) - self.waiting

    @property
    def due(self) -> float:
        """When what waits goes out; infinite where nothing does."""
        if self._phase is not _Phase.OPEN or not self.waiting:
            return math.inf
        due = max(self._due, self._announced_by)
        if self._keeps_word and self._announced > len(self._calls):
            due = max(due, self._patience_ends)
        return min(due, self._latest)

    @property
    def _unannounced(self) -> list[_Call]:
        return [one for one in self._calls.values() if not (one.is_out or one.is_announced)]

    @property
    def _announced_by(self) -> float:
        """Until when the announcements of the calls that wait are waited for."""
        late = self._unannounced if self.habit.is_expected else ()
        return min((call.arrived_at for call in late), default=-math.inf) + ANNOUNCED_SECONDS

    @property
    def is_open(self) -> bool:
        """Whether a turn runs."""
        return self._phase is _Phase.OPEN

    # Events of the agent.

    def arrive(
        self, key: Hashable, call: CallTool, now: float, *, is_announced: bool = False
    ) -> BrokerEffects:
        """Take a call in; one that no agent announces counts as announced."""
        match self._phase:
            case _Phase.SHUT:
                return (Reply(key, NO_TURN, is_error=True),)
            case _Phase.CLOSED:
                return (Reply(key, CLOSED, is_error=True),)
            case _Phase.BETWEEN | _Phase.OPEN if len(self._calls) >= MOST_CALLS:
                return (Reply(key, TOO_MANY, is_error=True),)
            case _Phase.BETWEEN | _Phase.OPEN:
                if not self.waiting:
                    self._latest = now + MOST_SECONDS
                is_expected = call.name in self._expected
                if is_expected:
                    self._expected.remove(call.name)
                self._calls[call.call_id] = _Call(key, call, now, is_expected or is_announced)
                self._settle(now)
                return ()
            case _:
                assert_never(self._phase)

    def withdraw(self, key: Hashable) -> None:
        """Let a call go that its agent doesn't wait for any more."""
        for call_id, call in list(self._calls.items()):
            if call.key == key:
                self._forget(call_id, "the agent has withdrawn the call")

    def announce(self, under_way: int, tools: Sequence[str] = ()) -> None:
        """Note how many calls the agent says are under way, those included that have come.

        `tools` are those of the calls that were announced since.
        """
        self._announced = under_way
        for tool in tools:
            self._match(tool)
        if not under_way:
            self._expected.clear()  # they have ended before they came

    def _match(self, tool: str) -> None:
        """Find the call that an announcement is about; else it is still to come."""
        if tool in self._overdue:
            self._overdue.remove(tool)
            self.habit.suppose()
            return
        calls = (one for one in self._calls.values() if one.event.name == tool)
        call = next((one for one in calls if not one.is_announced), None)
        if call is None:
            self._expected.append(tool)
        else:
            call.is_announced = True
        if call is not None and call.is_out:
            self.habit.suppose()
        else:
            self.habit.confirm()

    # Events of its turn.

    def begin(self, now: float) -> None:
        """Begin a turn, with a response that calls can go out in."""
        self.begun_at = min(self.begun_at, now)
        if self._phase is not _Phase.CLOSED:
            self._phase = _Phase.OPEN
            self._ended.clear()  # their answers come before another turn begins
            self.resume(now)

    def resume(self, now: float) -> None:
        """Go on in another response: what has come meanwhile can go out, and more may come."""
        self._latest = now + MOST_SECONDS
        self._settle(now)

    def emit(self, now: float) -> tuple[CallTool, ...]:
        """Send out all that waits."""
        if self._phase is not _Phase.OPEN:
            return ()
        if self._announced > len(self._calls) and now >= self._patience_ends:
            self._keeps_word = False
        if self.habit.is_expected and self._unannounced and now >= self._announced_by:
            self.habit.miss()
        going = [call for call in self._calls.values() if not call.is_out]
        for call in going:
            call.is_out = True
        return tuple(call.event for call in going)

    def end(self) -> None:
        """End the turn by itself. Calls at the editor can still be answered; others wait."""
        if self._phase is _Phase.OPEN:
            self._phase = _Phase.BETWEEN
            self._forget_announced()

    def cancel(self) -> BrokerEffects:
        """Cancel the turn: its calls are dropped, and so are later calls of the agent."""
        return self._shut(_Phase.SHUT, TURN_CANCELLED)

    def close(self) -> BrokerEffects:
        """End the session."""
        return self._shut(_Phase.CLOSED, CLOSED)

    # Events of the editor.

    def answer(self, answer: ToolAnswer) -> BrokerEffects:
        """Hand a result over."""
        call = self._calls.get(answer.call_id)
        if call is None:
            reason = self._ended.pop(answer.call_id, "there is no such call")
            return (Drop(answer.call_id, reason),)
        if not call.is_announced:
            self._overdue.append(call.event.name)
        del self._calls[answer.call_id]
        return (Reply(call.key, answer.result, answer.is_error),)

    def _settle(self, now: float) -> None:
        self._due = now + SETTLE_SECONDS
        self._patience_ends = now + ANNOUNCED_SECONDS

    def _shut(self, phase: _Phase, words: str) -> BrokerEffects:
        if self._phase is not _Phase.CLOSED:
            self._phase = phase
        self._forget_announced()
        keys = [call.key for call in self._calls.values()]
        for call_id in list(self._calls):
            self._forget(call_id, words)
        return tuple(Reply(key, words, is_error=True) for key in keys)

    def _forget_announced(self) -> None:
        self._announced = 0
        self._expected.clear()
        self._overdue.clear()

    def _forget(self, call_id: str, reason: str) -> None:
        if self._calls.pop(call_id).is_out:
            self._ended[call_id] = reason
