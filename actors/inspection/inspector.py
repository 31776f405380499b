"""Watches the chats of a running server for `lm/inspect`. An error here ends no chat.

The modules that watch take some milliseconds to load. The first answer of a process doesn't wait
for them: until the second request, events are only kept.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import attrs

from actors.messages import Asked, Began
from agents.boundary import failure_of
from bridge.chats import Chats
from bridge.history.machine import History
from bridge.redact import Hide
from bridge.routing.chat_events import (
    ChatEvent,
    ChatRequest,
    Closed,
    Effects,
    Ended,
    Leaving,
    Opened,
    Said,
)
from bridge.routing.index import ConversationKey
from bridge.wire import DataPart, InspectResult

if TYPE_CHECKING:
    from bridge.inspection.inspection import Inspection  # noqa: TC004  attrs needs the name only
    from bridge.inspection.tracker import OpenAnswers, Tracker  # noqa: TC004  likewise

MOST_WAITING = 32
"""Requests that are over and keep their messages, until their chat ends or there are as many."""


@attrs.define(eq=False, repr=False)
class _Watch:
    """The modules that watch, once they are loaded."""

    tracker: Tracker
    inspection: Inspection


@attrs.define(eq=False, repr=False)
class Inspector:
    """Passes events to the chats, and keeps the decisions about them for `lm/inspect`."""

    chats: Chats
    hide: Hide
    is_on: bool = attrs.field(default=True, init=False)
    """Whether it watches; it stops at an unexpected error."""
    _watch: _Watch | None = attrs.field(default=None, init=False)
    _early: list[Callable[[_Watch], None]] = attrs.field(
        factory=list["Callable[[_Watch], None]"], init=False
    )
    """Calls that take in the events until now, when the modules are loaded."""
    _histories: dict[ConversationKey, History] = attrs.field(
        factory=dict["ConversationKey", History], init=False
    )
    """Those of the conversations that opened meanwhile."""

    def apply(self, event: ChatEvent, now: float, asked: Asked | None = None) -> Effects:
        """Have the chats take an event in; `asked` is the request, if it is one."""
        if self._watch is None and (asked is None or not self._early):
            effects = self.chats.apply(event, now)
            if self.is_on and not _is_only_words(event):
                early = partial(_take, event=event, effects=effects, now=now, asked=asked)
                self._early.append(early)
                opened = (key for key, effect in effects if isinstance(effect, Opened))
                self._histories |= {key: self.chats[key].history for key in opened}
                if _ends_a_chat(event, effects):
                    with self._watching():  # takes in what was kept, and lets go of the chat
                        pass
            return effects
        answers: OpenAnswers = {}
        with self._watching() as watch:
            if watch is not None and asked is not None:
                answers = watch.tracker.open_answers()
        effects = self.chats.apply(event, now)
        with self._watching() as watch:
            if watch is not None:
                _take(watch, event, effects, now, asked, answers)
        return effects

    def began(self, began: Began, now: float) -> None:
        """Take in how a session began."""
        if self._watch is None and self.is_on:
            self._early.append(partial(_begin, began=began, now=now))
            return
        with self._watching() as watch:
            if watch is not None:
                _begin(watch, began, now)

    def rest(self) -> None:
        """Let go of messages that are over, some at a time: no answer should wait for it."""
        if self._watch is None:
            return
        with self._watching() as watch:
            if watch is not None and watch.inspection.waiting >= MOST_WAITING:
                watch.inspection.rest()

    def result(self) -> InspectResult:
        """Return the events until now."""
        with self._watching() as watch:
            if watch is not None:
                return watch.inspection.result(watch.tracker.open_answers())
        return InspectResult([])

    def _load(self) -> _Watch:
        """Load the modules, and take in the events that were kept."""
        from bridge.inspection.inspection import Inspection
        from bridge.inspection.tracker import Tracker

        watch = self._watch = _Watch(Tracker(self.chats, self._histories), Inspection(self.hide))
        early, self._early = self._early, []
        for take in early:
            take(watch)
        return watch

    @contextmanager
    def _watching(self) -> Generator[_Watch | None]:
        """Give the modules, or None if it doesn't watch; an error ends the watching."""
        try:
            watch = (self._watch or self._load()) if self.is_on else None
        except Exception as error:
            self._stop(error)
            watch = None
        try:
            yield watch
        except Exception as error:
            self._stop(error)

    def _stop(self, error: Exception) -> None:
        self.is_on = False
        failure_of(error, "inspection=decisions")


def _is_only_words(event: ChatEvent) -> bool:
    """Return whether an event has nothing that a person is told here: the record has the words."""
    return isinstance(event, Said) and not any(isinstance(one, DataPart) for one in event.parts)


def _ends_a_chat(event: ChatEvent, effects: Effects) -> bool:
    """Return whether a chat ended that others outlive: its messages are held no longer then."""
    return not isinstance(event, Leaving) and any(isinstance(one, Closed) for _, one in effects)


def _begin(watch: _Watch, began: Began, now: float) -> None:
    about = began.conversation, began.turn, began.start.value, began.why.value
    for step in watch.tracker.began(*about, began.told, began.process):
        watch.inspection.note(step, now)


def _take(
    watch: _Watch,
    event: ChatEvent,
    effects: Effects,
    now: float,
    asked: Asked | None,
    answers: OpenAnswers | None = None,
) -> None:
    tracker, inspection = watch.tracker, watch.inspection
    if isinstance(event, Said | Ended):
        request = tracker.request_of(event.conversation, event.turn)
        inspection.said(request, event.parts)
    if not effects or isinstance(event, Said):
        return
    if isinstance(event, ChatRequest) and asked is not None:
        from bridge.inspection.telling import MemoryKind
        from bridge.inspection.tracker import AskedOf

        kind = MemoryKind.of(asked.agent, asked.model)
        said = AskedOf(asked.transcript, kind, asked.model)
        steps = tracker.decided(event, said, answers or {}, effects)
    else:
        steps = tracker.followed(effects)
    for step in steps:
        inspection.note(step, now)
    for key, effect in effects:
        if isinstance(effect, Closed):
            tracker.forget(key)
    if _ends_a_chat(event, effects):
        inspection.rest()
