"""The states of a turn with an ACP agent, its events, and what each event leads to. Pure.

`TRANSITIONS` has a cell for every state and event. `TurnMachine` runs the steps of a cell, the
diagram in docs/explanation/acp.md is drawn from the table, and a test walks every cell.
"""

from __future__ import annotations

from typing import TypeAlias, get_args

from agents.acp.rpc.news import Returned
from agents.acp.schema.content import ContentBlock
from agents.acp.schema.errors import Error
from bridge.errors import Failure
from bridge.value import Key, Value


class TurnState(Key):
    """The state of a turn."""

    NEW = "new"
    """The prompt isn't sent."""
    LOGIN = "login"
    """The agent has refused the prompt until the user logs in."""
    UNSENT = "unsent"
    """The user has cancelled before the prompt was sent."""
    RUNNING = "running"
    """The agent works, and some of its news may be held back."""
    QUIET = "quiet"
    """The agent works, and nothing is held back."""
    AWAITING = "awaiting"
    """The turn waits for answers to its questions and calls."""
    STOPPING = "stopping"
    """The agent was told to stop, and its prompt isn't answered."""
    ENDING = "ending"
    """The agent has answered the prompt, and late news may come."""
    STOPPED = "stopped"
    """The agent has answered a cancelled prompt, and late news may come."""
    OVER = "over"
    """The last event was received."""
    LOST = "lost"
    """The session is of no more use."""
    CLOSED = "closed"


class PromptSent(Value):
    """The prompt is ready to be sent."""

    blocks: tuple[ContentBlock, ...]


class PromptNotSent(Value):
    """The prompt can't be sent. Without a failure the turn was cancelled before."""

    failure: Failure | None


class LoginWanted(Value):
    """The agent refuses the prompt until the user logs in, for the first time in the turn."""

    error: Error


class NewsTaken(Value):
    """The agent has sent something."""


class PauseDue(Value):
    """Questions or calls are to be answered now."""


class AllAnswered(Value):
    """Every question and every call has its answer."""


class Silence(Value):
    """The agent has said nothing for a while."""


class LateTimeOver(Value):
    """The time for late news is over."""


class SessionGone(Value):
    """The time for late news is over, and the answer says that the session can't be used."""

    failure: Failure


class Cancelling(Value):
    """The user cancels the turn."""


class Closing(Value):
    """The turn's receiver has gone."""


TurnEvent: TypeAlias = (
    PromptSent
    | PromptNotSent
    | LoginWanted
    | NewsTaken
    | Returned
    | PauseDue
    | AllAnswered
    | Silence
    | LateTimeOver
    | SessionGone
    | Cancelling
    | Closing
)
TURN_EVENTS: tuple[type[TurnEvent], ...] = get_args(TurnEvent)


class TurnStep(Key):
    """One thing that a transition does; `TurnMachine` carries it out."""

    SEND = "send the prompt"
    BREAK = "end with the failure"
    ASK_LOGIN = "ask for a login"
    LISTEN = "listen for late news"
    PAUSE = "await answers"
    RESUME = "begin another response"
    FLUSH = "show all that is held back"
    END = "end as the agent says"
    END_STOPPED = "end as cancelled"
    END_UNSENT = "end without a prompt"
    LOSE = "give the session up"
    STOP = "stop the agent"
    REFUSE = "refuse the editor's tools"
    LEAVE = "take no more news"


class TurnCell(Value):
    """The steps of a transition, in order, and the state that it leads to."""

    steps: tuple[TurnStep, ...]
    then: TurnState


def _to(then: TurnState, *steps: TurnStep) -> TurnCell:
    return TurnCell(steps, then)


_Row: TypeAlias = dict[type[TurnEvent], TurnCell]
_CLOSED = _to(TurnState.CLOSED, TurnStep.REFUSE, TurnStep.LEAVE)
_LOST = _to(TurnState.LOST, TurnStep.LOSE, TurnStep.LEAVE)
_UNSENT = _to(TurnState.UNSENT, TurnStep.STOP)
_NEVER_SENT = _to(TurnState.OVER, TurnStep.END_UNSENT, TurnStep.LEAVE)
_STOPPING = _to(TurnState.STOPPING, TurnStep.STOP)
_STOPPED = _to(TurnState.STOPPED, TurnStep.LISTEN)
_WORKING: _Row = {
    LoginWanted: _to(TurnState.LOGIN, TurnStep.ASK_LOGIN),
    Returned: _to(TurnState.ENDING, TurnStep.LISTEN),
    PauseDue: _to(TurnState.AWAITING, TurnStep.PAUSE),
    Cancelling: _STOPPING,
    Closing: _CLOSED,
}
_ROWS: dict[TurnState, _Row] = {
    TurnState.NEW: {
        PromptSent: _to(TurnState.RUNNING, TurnStep.SEND),
        PromptNotSent: _to(TurnState.OVER, TurnStep.BREAK, TurnStep.LEAVE),
        Cancelling: _UNSENT,
        Closing: _CLOSED,
    },
    TurnState.LOGIN: {
        PromptSent: _to(TurnState.RUNNING, TurnStep.SEND),
        PromptNotSent: _LOST,
        Cancelling: _UNSENT,
        Closing: _CLOSED,
    },
    TurnState.UNSENT: {PromptSent: _NEVER_SENT, PromptNotSent: _NEVER_SENT, Closing: _CLOSED},
    TurnState.RUNNING: {**_WORKING, Silence: _to(TurnState.QUIET, TurnStep.FLUSH)},
    TurnState.QUIET: {**_WORKING, NewsTaken: _to(TurnState.RUNNING)},
    TurnState.AWAITING: {
        AllAnswered: _to(TurnState.RUNNING, TurnStep.RESUME),
        Cancelling: _to(TurnState.STOPPING, TurnStep.STOP, TurnStep.RESUME),
        Closing: _CLOSED,
    },
    TurnState.STOPPING: {LoginWanted: _STOPPED, Returned: _STOPPED, Closing: _CLOSED},
    TurnState.ENDING: {
        LateTimeOver: _to(TurnState.OVER, TurnStep.END, TurnStep.LEAVE),
        SessionGone: _LOST,
        Cancelling: _to(TurnState.STOPPED, TurnStep.STOP),
        Closing: _CLOSED,
    },
    TurnState.STOPPED: {
        LateTimeOver: _to(TurnState.OVER, TurnStep.END_STOPPED, TurnStep.LEAVE),
        SessionGone: _LOST,
        Closing: _CLOSED,
    },
    TurnState.OVER: {Closing: _to(TurnState.CLOSED, TurnStep.LEAVE)},
    TurnState.LOST: {Closing: _to(TurnState.CLOSED, TurnStep.LEAVE)},
    TurnState.CLOSED: {},
}
TRANSITIONS: dict[TurnState, dict[type[TurnEvent], TurnCell]] = {
    state: {event: row.get(event, _to(state)) for event in TURN_EVENTS}
    for state, row in _ROWS.items()
}
"""Every cell. An event that isn't in the row of a state changes nothing there."""


def changes(state: TurnState, event: type[TurnEvent]) -> bool:
    """Return whether an event does anything in a state."""
    return TRANSITIONS[state][event] != _to(state)
