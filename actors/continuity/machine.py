"""Decide which of the agent's sessions a conversation uses, and which messages that gets. Pure.

Rule 1: nothing in this file waits. The Session Actor reports events and carries out effects.
Rule 2: the table in `actors.continuity.table` decides. `apply` looks a cell up and runs its steps.

A conversation has one session at a time: one from the memory (`actors.memory`), its own former one,
a fork of another conversation's, or a new one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import attrs

from agents.origin import FRESH, ForkOf, Resumed
from bridge.errors import Failure
from bridge.history.message import Message
from bridge.wire import ChatMessage

from ..beginning import Head, Start, Why
from ..plan import Delivery, DeliveryPlan, plan
from . import effects, events
from .states import (
    AWAITING_STATES,
    CLOSED_STATES,
    FRESH_STATES,
    OPENING_STATES,
    REST_STATES,
    SessionInput,
    SessionState,
    SessionStep,
)
from .table import TRANSITIONS

_PLAIN: dict[type[events.SessionEvent], SessionInput] = {
    events.SessionWanted: SessionInput.WANTED,
    events.DeliverySkipped: SessionInput.SKIPPED,
    events.SessionTaken: SessionInput.LEFT,
    events.TurnPaused: SessionInput.PAUSED,
    events.TurnAborted: SessionInput.ABORTED,
    events.ResponseEnded: SessionInput.ANSWERED,
    events.ConversationEnded: SessionInput.ENDED,
}
"""The events that mean the same in every state."""


@attrs.define(eq=False, repr=False)
class SessionMachine:
    """Tracks what one conversation's session knows, and decides the next step."""

    state: SessionState = attrs.field(default=SessionState.ABSENT, init=False)
    why: Why = attrs.field(default=Why.NEW, init=False)
    """Why the next session isn't the last one."""
    start: Start = attrs.field(default=Start.FRESH, init=False)
    """The way in which the session began."""
    _handle: str | None = attrs.field(default=None, init=False)
    _known: tuple[Message, ...] = attrs.field(default=(), init=False)
    """The beginning of the chat that a session knows before its first prompt."""
    _origin: Head | None = attrs.field(default=None, init=False)
    """The session that this one is a fork of."""
    _head: Head | None = attrs.field(default=None, init=False)
    """This session, while it is at rest."""
    _delivery: Delivery | None = attrs.field(default=None, init=False)
    """The delivery that the agent hasn't got. It holds a whole request, so it isn't kept."""
    _turn: int = attrs.field(default=0, init=False)
    """The turn of the newest delivery that was for the agent."""
    _plan: DeliveryPlan = attrs.field(factory=DeliveryPlan, init=False)
    _before: tuple[ChatMessage, ...] = attrs.field(default=(), init=False)
    """The transcript for the next prompt."""
    _backlog: tuple[ChatMessage, ...] = attrs.field(default=(), init=False)
    """Messages that the agent gets when its open turn has ended."""
    _opened: events.SessionOpened = attrs.field(
        factory=lambda: events.SessionOpened(None, knows_history=False), init=False
    )
    _found: events.SearchEnded = attrs.field(factory=events.SearchEnded, init=False)
    _failure: Failure | None = attrs.field(default=None, init=False)
    """The newest failure."""
    _effects: list[effects.SessionEffect] = attrs.field(
        factory=list["effects.SessionEffect"], init=False
    )

    @property
    def is_open(self) -> bool:
        """Whether the session serves the next delivery, too."""
        return self.state not in CLOSED_STATES and self.state not in OPENING_STATES

    @property
    def waiting(self) -> Delivery | None:
        """The delivery that no agent has seen yet."""
        return self._delivery

    def apply(self, event: events.SessionEvent) -> list[effects.SessionEffect]:
        """Take an event, and return what to do now, in order.

        Raises an `AssertionError` if the event can't come in this state.
        """
        what = self._input(event)
        cell = TRANSITIONS[self.state].get(what)
        assert cell is not None, f"{what} can't come in {self.state}"
        self.state = cell.then
        for step in cell.steps:
            self._STEPS[step](self)
        todo, self._effects = self._effects, []
        return todo

    # The meaning of an event.

    def _input(self, event: events.SessionEvent) -> SessionInput:
        match event:
            case events.AgentPrepared():
                return self._wanted(self._waiting)
            case events.PreparationFailed(failure=failure):
                self._failure = failure
                return SessionInput.FAILED
            case events.SearchEnded():
                self._found = event
                return SessionInput.FOUND if event.handle is not None else self._without_memory()
            case events.SessionOpened():
                self._opened = event
                return SessionInput.KNOWS if event.knows_history else SessionInput.FORGETS
            case events.DeliveryReceived():
                self._delivery = event.delivery
                return self._received(event)
            case events.TurnDrained():
                return self._hindrance(event) or SessionInput.GOES_ON
            case events.OriginChecked():
                return self._checked(event)
            case events.PromptReady(before=before):
                self._before = before
                return SessionInput.READY
            case events.PromptDue():
                withdraws = self._waiting.withdrawn and self.state not in FRESH_STATES
                return SessionInput.TOLD_REWOUND if withdraws else SessionInput.TOLD
            case events.TurnStopped():
                return SessionInput.OWES if self._backlog else SessionInput.STOPPED
            case events.TurnCut():
                return SessionInput.OWES if self._backlog else SessionInput.CUT
            case events.TurnFailed(failure=failure):
                self._failure = failure
                return SessionInput.TURN_FAILED
            case events.SessionBroke():
                return self._broke(event)
            case events.ChatSuperseded(has_own_process=frees):
                return SessionInput.SUPERSEDED if frees else SessionInput.SHARED
            case _:
                return _PLAIN[type(event)]

    def _wanted(self, delivery: Delivery) -> SessionInput:
        is_kept = self.state is SessionState.KEPT and self._handle is not None
        if is_kept and not delivery.withdrawn:
            return SessionInput.EXTENDS
        copies = self._without_memory() is SessionInput.COPIES
        if copies and delivery.past == delivery.new_from:
            return SessionInput.COPIES
        # The memory isn't asked for a session that another process has just taken.
        is_taken = self.state is SessionState.TAKEN and not delivery.withdrawn
        if delivery.past and not is_taken:
            return SessionInput.PAST
        return self._without_memory()

    def _without_memory(self) -> SessionInput:
        origin = self._waiting.origin
        can_fork = origin is not None and origin.is_current
        return SessionInput.COPIES if can_fork else SessionInput.OPENS

    def _received(self, event: events.DeliveryReceived) -> SessionInput:
        if self.state in CLOSED_STATES:
            return SessionInput.WAITS
        if self.state in REST_STATES and (hindrance := self._hindrance(event)) is not None:
            return hindrance
        delivery, origin, is_open = event.delivery, self._origin, self.state in AWAITING_STATES
        is_known = delivery.transcript.path[: len(self._known)] == self._known
        if not is_known or (origin is not None and not origin.is_current):
            return SessionInput.CONTRADICTS
        self._plan = plan(
            delivery,
            fresh=self.state in FRESH_STATES,
            skipped=event.skipped,
            open_questions=event.questions if is_open else None,
        )
        if self._plan.rewind:
            return SessionInput.CONTRADICTS
        if self._plan.abandon:
            return SessionInput.ABANDONS
        return SessionInput.ANSWERS if is_open else SessionInput.GOES_ON

    def _hindrance(
        self, event: events.DeliveryReceived | events.TurnDrained
    ) -> SessionInput | None:
        if event.is_lost:
            return SessionInput.LOST
        return None if event.offers_tools else SessionInput.TOOLLESS

    def _checked(self, event: events.OriginChecked) -> SessionInput:
        if not event.is_ours:
            return SessionInput.LEFT
        origin = self._origin
        # A turn that began there meanwhile may be in the fork.
        is_current = origin is not None and origin.is_current
        return SessionInput.VERIFIED if is_current else SessionInput.CONTRADICTS

    def _broke(self, event: events.SessionBroke) -> SessionInput:
        self._failure = failure = event.failure
        if failure is None:
            return SessionInput.BROKEN
        # After an internal error no other session is tried.
        is_retried = self._delivery is not None and failure.kind != "Internal"
        was_open = self.state not in OPENING_STATES
        return SessionInput.BROKEN if was_open and is_retried else SessionInput.FAILED

    # Steps.

    def _do(self, effect: effects.SessionEffect) -> None:
        self._effects.append(effect)

    @property
    def _waiting(self) -> Delivery:
        assert self._delivery is not None, "a delivery waits"
        return self._delivery

    def _get_ready(self) -> None:
        self._turn = self._waiting.turn
        self._do(effects.PrepareAgent(self._turn))

    def _let_go(self) -> None:
        if self._delivery is not None and self._delivery.withdrawn:
            self.why = Why.WITHDRAWN
        if self._handle is not None:
            self._do(effects.ReleaseHandle(self._handle))
        self._move_on()
        self._handle, self._known, self._origin = None, (), None

    def _search(self) -> None:
        self._do(effects.SearchMemory(self._waiting.transcript.path[: self._waiting.past]))

    def _fork(self) -> None:
        origin = self._waiting.origin
        assert origin is not None, "only an origin is forked"
        self._origin = origin
        self._known = self._waiting.transcript.path[: self._waiting.new_from]
        self._do(effects.OpenSession(ForkOf(origin.handle)))

    def _resume(self) -> None:
        assert self._handle is not None, "only a session with a handle is kept"
        self._do(effects.OpenSession(Resumed(self._handle)))

    def _recall(self) -> None:
        assert self._found.handle is not None, "only a session that was found is opened"
        self._handle = self._found.handle
        self._known = self._waiting.transcript.path[: self._found.steps]
        self._do(effects.OpenSession(Resumed(self._handle)))

    def _hold(self, start: Start) -> None:
        former, self._handle, self.start = self._handle, self._opened.handle, start
        self._backlog = ()
        if former is not None and former != self._handle:
            # The former name isn't a session of its own, or is a session that the agent forgot.
            self._do(effects.ForgetHandle(former, is_held=False))

    def _begin_fresh(self) -> None:
        self._known, self._origin = (), None
        self._hold(Start.FRESH)

    def _forget(self) -> None:
        if self._handle is not None and self._handle == self._opened.handle:
            self._do(effects.ForgetHandle(self._handle, is_held=True))
        self._move_on()
        self.why = Why.FORGOTTEN
        self._begin_fresh()

    def _verify(self) -> None:
        assert self._origin is not None, "a fork has an origin"
        self._do(effects.CheckOrigin(self._origin.handle))

    def _prepare(self) -> None:
        known = len(self._known) if self.state in FRESH_STATES else None
        self._do(effects.PreparePrompt(self._waiting, known))

    def _begin(self) -> None:
        self._origin = None
        self._do(effects.BeginTurn(self._waiting.turn, self._handle))

    def _introduce(self) -> None:
        is_told = self.start is Start.FRESH and self._before
        start = Start.REPLAYED if is_told else self.start
        self._do(effects.Introduce(self._waiting.turn, start, self.why, len(self._before)))

    def _move_on(self) -> None:
        if self._head is not None:
            self._head.is_current = False
        self._head = None

    def _tell(self) -> None:
        before = self._before
        self._respond()
        self._tell_more(before)

    def _tell_more(self, before: tuple[ChatMessage, ...] = ()) -> None:
        messages, self._backlog = self._backlog, ()
        self._do(effects.PromptAgent(messages, before))

    def _reply(self) -> None:
        answers = self._plan.answers
        self._respond()
        self._do(effects.AnswerAgent(answers))

    def _respond(self) -> None:
        delivery, prompt = self._waiting, self._plan.prompt
        self._turn = delivery.turn
        self._backlog = prompt if delivery.withdrawn else (*self._backlog, *prompt)
        self._do(effects.BeginResponse(delivery, is_in_step=self.state is SessionState.RUNNING))
        self._skip()
        self._known = ()

    def _settle(self) -> None:
        self._head = None if self._handle is None else Head(self._handle)
        self._do(effects.AllowForks(self._head))

    def _drain_first(self) -> None:
        self._do(
            effects.DrainFirst(self._plan.dropped, self._waiting.tools, self._waiting.settings)
        )

    def _skip(self) -> None:
        self._delivery, self._plan, self._before = None, DeliveryPlan(), ()

    @property
    def _met(self) -> Failure:
        assert self._failure is not None, "something failed"
        return self._failure

    def _fail(self) -> None:
        turn = self._turn if self._delivery is None else self._delivery.turn
        self._do(effects.FailTurn(turn, self._met))
        self._skip()

    def _break(self) -> None:
        self.why = Why.LOST

    def _leave(self) -> None:
        if self._origin is not None:
            self._origin.is_current = False
        self._close(Why.TAKEN)

    def _close(self, why: Why) -> None:
        self.why = why
        self._do(effects.CloseSession(why))

    # A table of the class: an object that held its own methods would be a cycle of references, and
    # would wait for a full pass of the garbage collector.
    _STEPS: ClassVar[dict[SessionStep, Callable[[SessionMachine], None]]] = {
        SessionStep.GET_READY: _get_ready,
        SessionStep.LET_GO: _let_go,
        SessionStep.SEARCH: _search,
        SessionStep.OPEN: lambda machine: machine._do(effects.OpenSession(FRESH)),
        SessionStep.FORK: _fork,
        SessionStep.RESUME: _resume,
        SessionStep.RECALL: _recall,
        SessionStep.FRESH: _begin_fresh,
        SessionStep.RESUMED: lambda machine: machine._hold(Start.RESUMED),
        SessionStep.STORED: lambda machine: machine._hold(Start.STORED),
        SessionStep.FORKED: lambda machine: machine._hold(Start.FORKED),
        SessionStep.FORGET: _forget,
        SessionStep.VERIFY: _verify,
        SessionStep.PREPARE: _prepare,
        SessionStep.MOVE_ON: _move_on,
        SessionStep.BEGIN: _begin,
        SessionStep.CONTINUE: lambda machine: machine._do(
            effects.ContinueTurn(machine._waiting.turn)
        ),
        SessionStep.INTRODUCE: _introduce,
        SessionStep.TELL: _tell,
        SessionStep.TELL_MORE: _tell_more,
        SessionStep.REPLY: _reply,
        SessionStep.END: lambda machine: machine._do(
            effects.EndResponse(is_settled=machine.state is SessionState.SETTLED)
        ),
        SessionStep.FAIL_RESPONSE: lambda machine: machine._do(effects.FailResponse(machine._met)),
        SessionStep.FAIL: _fail,
        SessionStep.DRAIN: lambda machine: machine._do(effects.DrainTurn()),
        SessionStep.DRAIN_FIRST: _drain_first,
        SessionStep.SETTLE: _settle,
        SessionStep.SKIP: _skip,
        SessionStep.BREAK: _break,
        SessionStep.LOSE: lambda machine: machine._close(Why.LOST),
        SessionStep.REPLACE: lambda machine: machine._close(Why.WITHDRAWN),
        SessionStep.LACK: lambda machine: machine._close(Why.TOOLS),
        SessionStep.LEAVE: _leave,
        SessionStep.RETIRE: lambda machine: machine._close(Why.SUPERSEDED),
    }
