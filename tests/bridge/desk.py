"""A desk at which requests are sorted into conversations, as the History Actor does it."""

from __future__ import annotations

from collections import Counter
from itertools import count

import attrs

from bridge.errors import Failure
from bridge.events import Ask, Cancel, Close, Emit, Fail, Finish, Input
from bridge.exchange import Exchange
from bridge.history import History
from bridge.index import Index
from bridge.message import Message
from bridge.request import Hints, RequestClass
from bridge.router import Joins, Opens, Outcome, Question, Reason, Tally, route
from bridge.wire import Part, TextPart

AGENT, OTHER_AGENT = b'{"eliza":{}}', b'{"acp":{}}'
NOBODY = Hints()
BROKE = Failure("AgentFailed", "it fell over")


@attrs.define
class Desk:
    """Index, tally and histories; the caller is the editor, and every agent."""

    index: Index = attrs.field(factory=Index)
    tally: Tally = attrs.field(factory=Tally)
    histories: dict[int, History] = attrs.field(factory=dict[int, History])
    reasons: Counter[Reason] = attrs.field(factory=Counter[Reason])
    requests: count[int] = attrs.field(factory=lambda: count(1))
    keys: count[int] = attrs.field(factory=lambda: count(1))

    # The editor.

    def route(
        self,
        *incoming: Message,
        agent: bytes = AGENT,
        hints: Hints = NOBODY,
        request_class: RequestClass = RequestClass.MAIN,
        keep: bool = False,
    ) -> Outcome:
        """Say whose a request is, and leave it at that."""
        return route(self.index, Question(agent, incoming, request_class, hints, keep))

    def ask(
        self,
        *incoming: Message,
        agent: bytes = AGENT,
        hints: Hints = NOBODY,
        request_class: RequestClass = RequestClass.MAIN,
        keep: bool = False,
    ) -> tuple[int, Outcome]:
        """Route a request and take it; return whose it is and why."""
        outcome = self.route(
            *incoming, agent=agent, hints=hints, request_class=request_class, keep=keep
        )
        self.tally.count(outcome)
        self.reasons[outcome.reason] += 1
        inherited: tuple[Exchange, ...] = ()
        match outcome:
            case Joins(conversation=key):
                pass
            case Opens(origin=origin, shared=shared):
                if origin is not None:
                    inherited = self.histories[origin].exchanges[:shared]
                key = next(self.keys)
                self.histories[key] = History()
        history = self.histories[key]
        history.apply(Ask(next(self.requests), incoming, outcome.match, inherited))
        self.index.place(key, agent, history, outcome.request_class, hints)
        return key, outcome

    def opened(self, *incoming: Message, agent: bytes = AGENT, hints: Hints = NOBODY) -> int:
        key, outcome = self.ask(*incoming, agent=agent, hints=hints)
        assert isinstance(outcome, Opens)
        return key

    def joined(
        self, *incoming: Message, agent: bytes = AGENT, hints: Hints = NOBODY
    ) -> tuple[int, Reason]:
        key, outcome = self.ask(*incoming, agent=agent, hints=hints)
        assert isinstance(outcome, Joins)
        return key, outcome.reason

    def cancel(self, key: int, answer: str = "") -> None:
        self._say(key, answer)
        request = self.histories[key].request
        assert request is not None
        self.apply(key, Cancel(request))

    # The agents.

    def emit(self, key: int, *parts: Part) -> None:
        self.apply(key, Emit(self.histories[key].turn, parts))

    def finish(self, key: int, answer: str = "") -> None:
        self._say(key, answer)
        self.apply(key, Finish(self.histories[key].turn))

    def fail(self, key: int, answer: str = "") -> None:
        self._say(key, answer)
        self.apply(key, Fail(self.histories[key].turn, BROKE))

    def _say(self, key: int, answer: str) -> None:
        if answer:
            self.emit(key, TextPart(answer))

    # What happens to a conversation.

    def apply(self, key: int, event: Input) -> None:
        self.histories[key].apply(event)
        if not isinstance(event, Emit):
            self.index.update(key)

    def end(self, key: int) -> None:
        self.histories[key].apply(Close())
        self.index.forget(key)

    def ended_if_done(self, key: int) -> bool:
        if self.index[key].is_done:
            self.end(key)
            return True
        return False
