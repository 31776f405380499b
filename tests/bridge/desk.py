"""The chats of an editor, driven by hand: the test is the editor, and every agent."""

from __future__ import annotations

from collections import Counter
from itertools import count

import attrs

from bridge.chats import Chats
from bridge.errors import Failure
from bridge.history.machine import History
from bridge.history.message import Message
from bridge.routing.chat_events import (
    Broke,
    Cancelled,
    ChatEffect,
    ChatEvent,
    ChatRequest,
    Effects,
    Ended,
    Expired,
    Failed,
    Routed,
    Said,
)
from bridge.routing.index import Entry
from bridge.routing.outcome import Joins, Opens, Outcome, Reason, RoutedRequest, Tally
from bridge.routing.request import Hints, RequestClass
from bridge.wire import Part, RequestId, TextPart

AGENT, OTHER_AGENT = b'{"eliza":{}}', b'{"acp":{}}'
NOBODY = Hints()
BROKE = Failure("AgentFailed", "it fell over")
APART = 100.0
"""Seconds between two events, so that no request is one repeat too many."""


@attrs.define
class Desk:
    """One editor's chats, and what became of them."""

    chats: Chats = attrs.field(factory=Chats)
    max_sessions: int = 1_000_000
    apart: float = APART
    among_strangers: bool = False
    """Whether the requests come from clients that don't know each other."""
    histories: dict[int, History] = attrs.field(factory=dict[int, History])
    """Of all conversations, those that have ended too."""
    reasons: Counter[Reason] = attrs.field(factory=Counter[Reason])
    requests: count[int] = attrs.field(factory=lambda: count(1))
    effects: Effects = attrs.field(factory=list["tuple[int, ChatEffect]"])
    """What followed from the newest event."""
    now: float = 0.0

    @property
    def tally(self) -> Tally:
        return self.chats.tally

    def __getitem__(self, key: int) -> Entry:
        return self.chats[key]

    def tell(self, event: ChatEvent) -> Effects:
        """Let something happen."""
        self.now += self.apart
        self.effects = self.chats.apply(event, self.now)
        for key, effect in self.effects:
            if isinstance(effect, Routed) and key in self.chats:
                self.histories[key] = self.chats[key].history
        return self.effects

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
        return self.chats.route(RoutedRequest(agent, incoming, request_class, hints, keep))

    def request(
        self,
        *incoming: Message,
        agent: bytes = AGENT,
        hints: Hints = NOBODY,
        request_class: RequestClass = RequestClass.MAIN,
        keep: bool = False,
        size: int = 0,
        marker: str | None = None,
    ) -> RequestId:
        """Send a request; return its id."""
        request = next(self.requests)
        routed = RoutedRequest(agent, incoming, request_class, hints, keep)
        self.tell(
            ChatRequest(request, routed, size, self.max_sessions, marker, self.among_strangers)
        )
        return request

    def ask(
        self,
        *incoming: Message,
        agent: bytes = AGENT,
        hints: Hints = NOBODY,
        request_class: RequestClass = RequestClass.MAIN,
        keep: bool = False,
        marker: str | None = None,
    ) -> tuple[int, Outcome]:
        """Send a request; return its conversation, and why it is that one."""
        self.request(
            *incoming,
            agent=agent,
            hints=hints,
            request_class=request_class,
            keep=keep,
            marker=marker,
        )
        (routed,) = [(key, one) for key, one in self.effects if isinstance(one, Routed)]
        key, outcome = routed[0], routed[1].outcome
        self.reasons[outcome.reason] += 1
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
        self.tell(Cancelled(request))

    # The agents.

    def emit(self, key: int, *parts: Part) -> None:
        self.tell(Said(key, self.histories[key].turn, parts))

    def finish(self, key: int, answer: str = "", handle: str | None = None) -> None:
        parts = [TextPart(answer)] if answer else []
        self.tell(Ended(key, self.histories[key].turn, parts, handle))

    def fail(self, key: int, answer: str = "") -> None:
        self._say(key, answer)
        self.tell(Failed(key, self.histories[key].turn, BROKE))

    def _say(self, key: int, answer: str) -> None:
        if answer:
            self.emit(key, TextPart(answer))

    # What becomes of a conversation.

    def end(self, key: int) -> None:
        """End a conversation, whatever it does."""
        self.tell(Broke(BROKE, key) if self.histories[key].request else Expired(key))

    def has_ended(self, key: int) -> bool:
        return key not in self.chats
