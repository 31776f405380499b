"""Watches the chats of a running server for `lm/inspect`. An error here ends no chat."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import attrs

from actors.messages import Asked, Began
from agents.boundary import failure_of
from bridge.chats import Chats
from bridge.inspection.inspection import Inspection
from bridge.inspection.telling import MemoryKind
from bridge.inspection.tracker import AskedOf, OpenAnswers, Tracker
from bridge.redact import Hide
from bridge.routing.chat_events import ChatEvent, ChatRequest, Closed, Effects, Ended, Said
from bridge.wire import InspectResult

MOST_WAITING = 32
"""Requests that are over, and whose messages are kept until somebody looks or there are as many."""


@attrs.define(eq=False, repr=False)
class Inspector:
    """Lets the chats take events in, and keeps what a person wants to know of them."""

    chats: Chats
    hide: Hide
    is_on: bool = attrs.field(default=True, init=False)
    """Whether it watches; it stops at an unexpected error."""
    _tracker: Tracker = attrs.field(init=False)
    _inspection: Inspection = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._tracker = Tracker(self.chats)
        self._inspection = Inspection(self.hide)

    def apply(self, event: ChatEvent, now: float, asked: Asked | None = None) -> Effects:
        """Have the chats take an event in; `asked` is the request, if it is one."""
        answers: OpenAnswers = {} if asked is None else self._tracker.open_answers()
        effects = self.chats.apply(event, now)
        with self._watching() as is_on:
            if is_on:
                self._watch(event, effects, now, answers, asked)
        return effects

    def began(self, began: Began, now: float) -> None:
        """Take in how a session began."""
        about = began.conversation, began.turn, began.start.value, began.why.value
        with self._watching() as is_on:
            if is_on:
                for step in self._tracker.began(*about, began.told, began.process):
                    self._inspection.note(step, now)

    def rest(self) -> None:
        """Let go of messages that are over, some at a time: no answer should wait for it."""
        with self._watching() as is_on:
            if is_on and self._inspection.waiting >= MOST_WAITING:
                self._inspection.rest()

    def result(self) -> InspectResult:
        """Return the events until now."""
        return self._inspection.result(self._tracker.open_answers())

    def _watch(
        self,
        event: ChatEvent,
        effects: Effects,
        now: float,
        answers: OpenAnswers,
        asked: Asked | None,
    ) -> None:
        if isinstance(event, Said | Ended):
            request = self._tracker.request_of(event.conversation, event.turn)
            self._inspection.said(request, event.parts)
        if not effects or isinstance(event, Said):
            return
        if isinstance(event, ChatRequest) and asked is not None:
            kind = MemoryKind.of(asked.agent, asked.model)
            said = AskedOf(asked.transcript, kind, asked.model)
            steps = self._tracker.decided(event, said, answers, effects)
        else:
            steps = self._tracker.followed(effects)
        for step in steps:
            self._inspection.note(step, now)
        for key, effect in effects:
            if isinstance(effect, Closed):
                self._tracker.forget(key)

    @contextmanager
    def _watching(self) -> Generator[bool]:
        """Give whether it watches; an error of the block is logged, and ends the watching."""
        try:
            yield self.is_on
        except Exception as error:
            self.is_on = False
            failure_of(error, "inspection=decisions")
