"""Finds out what the decisions of `bridge.chats` mean, step by step.

The effects of an event say what is to be done. A `Tracker` adds facts for a reader: which request a
request continues, which ones it takes back, and what the agent's session gets. A replay and the
running server use the same class.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

import attrs

from bridge.chats import Chats
from bridge.history.events import Settle
from bridge.history.exchange import Ending, Supersedes
from bridge.history.machine import History
from bridge.history.message import Message
from bridge.history.transcript import Transcript
from bridge.routing.chat_events import (
    NOBODY,
    ChatRequest,
    Closed,
    Effects,
    Opened,
    Refused,
    Routed,
)
from bridge.routing.index import ConversationKey
from bridge.routing.outcome import Joins, Opens, Outcome, Reason
from bridge.routing.relate import told_before
from bridge.value import Value
from bridge.wire import RequestId

from .steps import (
    Branch,
    InspectionStep,
    Over,
    RequestDecision,
    RequestEnded,
    RequestRefused,
    SessionBegan,
)
from .telling import BranchOrigin, MemoryKind, telling

_BRANCHES = frozenset({Reason.BRANCH, Reason.RETRY})
_FRESH = frozenset({Reason.NEW, Reason.UNPROVEN, Reason.ONE_SHOT, Reason.SUB_AGENT})
OpenAnswers: TypeAlias = Mapping[RequestId, Message | None]
"""The answers to the requests that are open, as far as they have come."""


class AskedOf(Value):
    """The contents of a request, and the kind of agent that it asks."""

    transcript: Transcript
    kind: MemoryKind
    model: str


@attrs.define
class _Known:
    """The knowledge of a conversation, live or not."""

    history: History
    committed: int = 0
    """Number of exchanges that were committed at the newest request."""
    requests: list[RequestId | None] = attrs.field(factory=list["RequestId | None"])
    """The request of each exchange, the provisional one last; None: with another agent."""
    turns: dict[int, RequestId] = attrs.field(factory=dict[int, "RequestId"])
    """The request of each turn."""
    origin: ConversationKey | None = None
    shared: int = 0
    is_rewound: bool = False
    """Whether its session remembers withdrawn messages."""


@attrs.define(eq=False, repr=False)
class Tracker:
    """Follows the chats. Tell it of every event that `chats` has taken in, in their order."""

    chats: Chats
    histories: dict[ConversationKey, History] = attrs.field(
        factory=dict["ConversationKey", History]
    )
    """Those of conversations whose opening it is told of late: they may have closed since."""
    _known: dict[ConversationKey, _Known] = attrs.field(
        factory=dict["ConversationKey", _Known], init=False
    )

    def open_answers(self) -> OpenAnswers:
        """Return the answers that a request may end; ask before the chats take the request in."""
        histories = (known.history for known in self._known.values())
        return {one.request: one.answer for one in histories if one.request is not None}

    def decided(
        self, asked: ChatRequest, said: AskedOf, answers: OpenAnswers, effects: Effects
    ) -> Iterator[InspectionStep]:
        """Yield what became of a request."""
        repeat = asked.request if is_repeat(effects) else None
        for _, effect in effects:
            if isinstance(effect, Settle) and effect.request in answers:
                answer = answers[effect.request]
                yield RequestEnded(effect.request, Ending.CANCELLED, answer, repeat=repeat)
        for key, effect in effects:
            match effect:
                case Opened():
                    early = self.histories.pop(key, None)
                    self._known[key] = _Known(early or self.chats[key].history)
                case Routed(turn=turn, outcome=outcome):
                    self._known[key].turns[turn] = asked.request
                    yield self._decision(key, outcome, said, asked)
                case Settle(request=request) if request == repeat:
                    answer = self._known[key].history.answer
                    yield RequestEnded(request, Ending.COMPLETE, answer)
                case Refused(failure=failure):
                    yield RequestRefused(asked.request, failure.message)
                case _:
                    pass
        yield from _over(effects)

    def followed(self, effects: Effects) -> Iterator[InspectionStep]:
        """Yield what became of requests by any other event."""
        for key, effect in effects:
            if not isinstance(effect, Settle) or key == NOBODY:
                continue
            reason, told = (
                None if failure is None else failure.message
                for failure in (effect.failure, effect.told)
            )
            if key not in self._known:  # an unexpected error came before it was routed
                yield RequestRefused(effect.request, reason or "")
                continue
            history = self._known[key].history
            ending = history.provisional.ending if history.provisional else Ending.OPEN
            ending = Ending.FAILED if ending is Ending.OPEN else ending
            yield RequestEnded(effect.request, ending, history.answer, reason, told=told)
        yield from _over(effects)

    def began(
        self,
        key: ConversationKey,
        turn: int,
        start: str,
        why: str,
        told: int,
        process: int | None,
    ) -> Iterator[SessionBegan]:
        """Yield for which request a session began."""
        known = self._known.get(key)
        if known is not None and turn in known.turns:
            yield SessionBegan(known.turns[turn], start, why, told, process)

    def forget(self, key: ConversationKey) -> None:
        """Forget a conversation that has ended."""
        self._known.pop(key, None)

    def turn_of(self, key: ConversationKey) -> int:
        """Return the newest turn of a conversation."""
        return self._known[key].history.turn

    def request_of(self, key: ConversationKey, turn: int) -> RequestId | None:
        """Return the request of a turn, or None if the conversation is forgotten."""
        known = self._known.get(key)
        return None if known is None else known.turns.get(turn)

    def branches(self) -> list[Branch]:
        """Return every conversation, in the order in which they began."""
        return [
            Branch(key, one.origin, one.shared, len(one.history.exchanges))
            for key, one in self._known.items()
        ]

    def _decision(
        self, key: ConversationKey, outcome: Outcome, said: AskedOf, asked: ChatRequest
    ) -> RequestDecision:
        known, left = self._known[key], None
        replaced = self._replaced(known, outcome)
        if isinstance(outcome, Opens) and outcome.origin is not None:
            origin = self._known[outcome.origin]
            known.requests = origin.requests[: outcome.shared]
            if outcome.reason in _BRANCHES:
                left = BranchOrigin(origin.history, origin.is_rewound)
                known.origin, known.shared = outcome.origin, outcome.shared
        history = known.history
        known.requests += [None] * (len(history.committed) - len(known.requests))
        extends = known.requests[-1] if known.requests else None
        known.requests.append(asked.request)
        joined = isinstance(outcome, Joins) and len(history.committed) > known.committed
        known.committed = len(history.committed)
        committed = history.committed[-1].ending if joined else None
        new_from = outcome.match.new_from
        past = told_before(asked.routed.path, new_from)
        told = telling(
            said.kind,
            outcome,
            said.transcript.index(past),
            keeps=asked.routed.keep,
            committed=committed,
            origin=left,
            is_led=past > new_from,
        )
        known.is_rewound = told.remembers(known.is_rewound)
        fresh = isinstance(outcome, Opens) and outcome.reason in _FRESH
        new_from = 0 if fresh else new_from
        return RequestDecision(
            asked.request,
            key,
            outcome,
            outcome.request_class,
            None if fresh else extends,
            replaced,
            said.transcript.index(new_from),
            said.transcript.path[new_from:],
            told,
            committed,
            said.model,
        )

    def _replaced(self, known: _Known, outcome: Outcome) -> tuple[RequestId, ...]:
        """Return what a request takes back, and take it out of the list of requests."""
        taken: list[RequestId | None] = []
        if isinstance(outcome, Joins) and isinstance(outcome.match, Supersedes):
            cut = outcome.match.exchange
            begins = len(known.requests) - 1 if cut is None else cut
            taken, known.requests[begins:] = known.requests[begins:], []
        elif isinstance(outcome, Opens) and outcome.reason in _BRANCHES:
            taken = self._known[outcome.origin or NOBODY].requests[outcome.shared :]
        return tuple(one for one in taken if one is not None)


def is_repeat(effects: Effects) -> bool:
    """Return whether the effects are those of a request that its host repeats by itself."""
    routed = (effect for _, effect in effects if isinstance(effect, Routed))
    return any(effect.outcome.reason is Reason.REPEAT for effect in routed)


def _over(effects: Effects) -> Iterator[Over]:
    for key, effect in effects:
        if isinstance(effect, Closed) and effect.reason != "answered":
            yield Over(key, effect.reason)
