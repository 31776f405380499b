"""Decide what a paced turn does: when a response ends, and what a missing result means. Pure.

Time comes in as an argument. `TRANSITIONS` has a cell for every state and event: the diagram in
docs/explanation/actors.md is drawn from it, and a test walks every cell.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import attrs

from actors.plan import abandoned
from agents.events import (
    Answer,
    AskPermission,
    Await,
    Batch,
    Break,
    CallTool,
    Counted,
    Elicit,
    Prompt,
    Say,
    Stop,
    StopReason,
    TakeBack,
    Think,
)
from bridge.value import Key
from bridge.wire import PROGRESS_TOOL

from .pace import FIRST_SECONDS, LONGEST_SECONDS, Pace


class PacedState(Key):
    """The state of a paced turn."""

    RUNNING = "running"
    """The agent works, or waits for answers."""
    STOPPED = "stopped"
    """A result didn't come, so the agent was told to stop."""
    CANCELLED = "cancelled"
    """The chat has cancelled the turn."""
    CANCELLED_LATE = "cancelled_late"
    """The chat has cancelled the turn after the agent was told to stop."""


class PacedEvent(Key):
    """An event that changes the state of a paced turn."""

    NO_RESULT = "no result"
    """A call of the progress tool got no result in time."""
    CANCEL = "cancel"
    """The chat cancels the turn."""
    CANCELLED_END = "end as cancelled"
    """The end of a turn that was cancelled is received, in a response that somebody waits for."""


class PacedStep(Key):
    """A step of a transition."""

    STOP = "stop the agent"
    GO_ON = "have the agent go on"


_QUESTIONS = (CallTool, AskPermission, Elicit)
PacedCell: TypeAlias = tuple[PacedState, tuple[PacedStep, ...]]
"""The state that a transition leads to, and its steps."""
_S, _E, _STOP = PacedState, PacedEvent, (PacedStep.STOP,)
TRANSITIONS: dict[PacedState, dict[PacedEvent, PacedCell]] = {
    _S.RUNNING: {
        _E.NO_RESULT: (_S.STOPPED, _STOP),
        _E.CANCEL: (_S.CANCELLED, _STOP),
        _E.CANCELLED_END: (_S.RUNNING, ()),
    },
    _S.STOPPED: {
        _E.NO_RESULT: (_S.STOPPED, _STOP),
        _E.CANCEL: (_S.CANCELLED_LATE, ()),
        _E.CANCELLED_END: (_S.RUNNING, (PacedStep.GO_ON,)),  # the user hasn't stopped after all
    },
    _S.CANCELLED: {
        _E.NO_RESULT: (_S.CANCELLED, ()),
        _E.CANCEL: (_S.CANCELLED, _STOP),
        _E.CANCELLED_END: (_S.CANCELLED, ()),
    },
    _S.CANCELLED_LATE: {
        _E.NO_RESULT: (_S.CANCELLED_LATE, ()),
        _E.CANCEL: (_S.CANCELLED_LATE, ()),
        _E.CANCELLED_END: (_S.CANCELLED_LATE, ()),
    },
}


@attrs.define(eq=False, repr=False)
class PacedMachine:
    """The decisions of one turn; `prompt` is that of the response that is open."""

    prompt: Prompt
    state: PacedState = attrs.field(default=PacedState.RUNNING, init=False)
    _pace: Pace = attrs.field(factory=Pace, init=False)
    _open: set[str] = attrs.field(factory=set[str], init=False)
    """The agent's own questions in this response that wait for an answer."""
    _forms: set[str] = attrs.field(factory=set[str], init=False)
    """The calls of the forms that are open in this response."""
    _filled_in: float = attrs.field(default=-math.inf, init=False)
    """When a form was answered last."""
    _asked: float = attrs.field(default=-math.inf, init=False)
    """When a question of the agent's own came last, or a response ended with one."""
    _call: str | None = attrs.field(default=None, init=False)
    """The call of the progress tool that waits for its result."""

    def apply(self, event: PacedEvent) -> tuple[PacedStep, ...]:
        """Take one event in; return the steps to carry out."""
        self.state, steps = TRANSITIONS[self.state][event]
        return steps

    @property
    def is_stopped(self) -> bool:
        """Whether the agent was told to stop, because no result came."""
        return self.state in (PacedState.STOPPED, PacedState.CANCELLED_LATE)

    @property
    def is_cancelled(self) -> bool:
        """Whether the chat has cancelled the turn."""
        return self.state in (PacedState.CANCELLED, PacedState.CANCELLED_LATE)

    def waits_for(self, call: str) -> bool:
        """Return whether the result of a call of the progress tool is still to come."""
        return self._call == call and not self.is_cancelled

    @property
    def due(self) -> float:
        """When the response is to end; infinite if the agent ends it.

        An agent that needs an answer waits for it soon. If it doesn't, it took its question back.
        With the response a form would disappear, so the response waits for its user.
        """
        if not self.prompt.is_paced or self.is_cancelled:
            return math.inf
        if self._forms:
            return self._pace.latest
        due = max(self._pace.due, self._filled_in + FIRST_SECONDS)
        return max(due, self._asked + LONGEST_SECONDS) if self._open else due

    def respond(self, prompt: Prompt, now: float) -> None:
        """Begin a response."""
        self.prompt = prompt
        self._open.clear()
        self._forms.clear()
        self._pace.respond(now)

    def answer(self, answer: Answer, now: float) -> bool:
        """Take an answer in; return whether it was one to a call of the progress tool."""
        self._open.discard(answer.call_id)
        if answer.call_id in self._forms:
            self._forms.discard(answer.call_id)
            self._filled_in = now
        if answer.call_id != self._call:
            return False
        self._call = None
        return True

    def hear(self, batch: Batch, now: float) -> Batch:
        """Take a batch of the agent's in; return what the editor gets of it."""
        for event in batch:
            match event:
                case Say() | Think():
                    self._pace.say(now)
                case CallTool(call_id=call_id) | AskPermission(call_id=call_id):
                    self._open.add(call_id)
                    self._asked = now
                case Elicit(call_id=call_id):
                    self._forms.add(call_id)
                case TakeBack(call_id=call_id):
                    self._forms.discard(call_id)
                case _:
                    pass
        if self._pace.has_shown:  # the editor has more words by now than were counted
            return tuple(event for event in batch if not isinstance(event, Counted))
        return batch

    def pause(self, call: str, now: float) -> Batch:
        """Return the events that end a response, with this call of the progress tool.

        A response with a question ends with that. No result comes before the user has answered.
        """
        self._pace.pause()
        if self._open:
            self._asked = now
            return (Await(),)
        self._call = call
        return (CallTool(call, PROGRESS_TOOL, {}), Await())


def ends_response(batch: Batch) -> bool:
    """Return whether the agent ends the response itself."""
    return any(isinstance(event, Stop | Break | Await) for event in batch)


def ends_as_cancelled(batch: Batch) -> bool:
    """Return whether the agent's turn ends because it was told to stop."""
    last = batch[-1]
    return isinstance(last, Stop) and last.reason is StopReason.CANCELLED


def unasked(batch: Batch) -> tuple[Batch, list[Answer]]:
    """Return a batch without its questions, and their answers: nobody else answers them."""
    questions = [one for one in batch if isinstance(one, _QUESTIONS)]
    left = tuple(one for one in batch if not isinstance(one, (*_QUESTIONS, Await)))
    return left, [abandoned(question) for question in questions]
