"""The table of a session's machine: what each input leads to in each state. Pure.

`TRANSITIONS` has a cell for every input that can come in a state. `SessionMachine` runs the steps
of a cell, and raises for an input without one. The diagram in docs/explanation/actors.md is drawn
from the table, and a test walks every state and input.
"""

from __future__ import annotations

from bridge.value import Value

from .states import SessionInput, SessionState, SessionStep

_S, _I, _T = SessionState, SessionInput, SessionStep


class SessionCell(Value):
    """The steps of a transition, in order, and the state that it leads to."""

    steps: tuple[SessionStep, ...]
    then: SessionState


TransitionRow = dict[SessionInput, SessionCell]


def _to(then: SessionState, *steps: SessionStep) -> SessionCell:
    return SessionCell(steps, then)


_REPLACED = _to(_S.ABSENT, _T.REPLACE)
_TAKEN = _to(_S.TAKEN, _T.LEAVE)
_INTRODUCED = _to(_S.RUNNING, _T.INTRODUCE, _T.TELL)


def _row(cells: TransitionRow) -> TransitionRow:
    """Return a row. A conversation can end in every state."""
    return {_I.ENDED: _to(_S.ABSENT, _T.LET_GO), **cells}


def _closed(state: SessionState, cells: TransitionRow) -> TransitionRow:
    """Return the row of a state without a session. Another one is looked for."""
    return _row(
        {
            _I.WAITS: _to(state),
            _I.WANTED: _to(state, _T.GET_READY),
            _I.COPIES: _to(_S.FORKING, _T.LET_GO, _T.FORK),
            _I.PAST: _to(_S.SEARCHING, _T.LET_GO, _T.SEARCH),
            _I.OPENS: _to(_S.OPENING, _T.LET_GO, _T.OPEN),
            _I.SKIPPED: _to(state, _T.SKIP),
            _I.BROKEN: _to(state),  # as it was closed: another one is opened anyway
            _I.FAILED: _to(state, _T.FAIL),
            **cells,
        }
    )


def _pending(left: SessionState, cells: TransitionRow) -> TransitionRow:
    """Return the row of a state in which a session is being opened; `left` if that ends."""
    return _row(
        {
            _I.SKIPPED: _to(left, _T.SKIP),
            _I.FAILED: _to(left, _T.FAIL),
            **cells,
        }
    )


def _opening(
    then: SessionState,
    knows: SessionStep,
    forgets: SessionStep,
    left: SessionState = _S.ABSENT,
) -> TransitionRow:
    return _pending(
        left,
        {
            _I.KNOWS: _to(then, knows),
            _I.FORGETS: _to(_S.UNTOLD, forgets),
        },
    )


def _resting(
    state: SessionState, kept: SessionState, ready: SessionCell, cells: TransitionRow
) -> TransitionRow:
    """Return the row of a session without a turn, which is `kept` if it is closed.

    `ready` is the cell for a prompt that is ready.
    """
    return _row(
        {
            _I.GOES_ON: _to(state, _T.PREPARE),
            _I.READY: ready,
            _I.SKIPPED: _to(state, _T.SKIP),
            _I.BROKEN: _to(kept, _T.BREAK),
            _I.FAILED: _to(kept, _T.BREAK, _T.FAIL),
            _I.SUPERSEDED: _to(kept, _T.RETIRE),
            _I.SHARED: _to(state),  # it costs little
            **cells,
        }
    )


def _after_turn(
    state: SessionState, kept: SessionState, ready: SessionCell, cells: TransitionRow
) -> TransitionRow:
    """Return the row of a session that is at rest after a turn; arguments as for `_resting`."""
    return _resting(
        state,
        kept,
        ready,
        {
            _I.CONTRADICTS: _REPLACED,
            _I.LOST: _to(kept, _T.LOSE),
            _I.TOOLLESS: _to(kept, _T.LACK),
            _I.ANSWERED: _to(state),
            _I.ABORTED: _to(state),  # while the end was said: the turn is over
            **cells,
        },
    )


def _running(
    state: SessionState, rest: SessionState, cut: SessionState, awaiting: SessionState
) -> TransitionRow:
    return _row(
        {
            _I.STOPPED: _to(rest, _T.END),
            _I.OWES: _to(state, _T.TELL_MORE),
            _I.CUT: _to(cut, _T.END),
            _I.TURN_FAILED: _to(cut, _T.FAIL_RESPONSE),
            _I.PAUSED: _to(awaiting, _T.END),
            _I.ABORTED: _to(cut, _T.DRAIN),
            _I.BROKEN: _to(_S.ABSENT, _T.BREAK),
            _I.FAILED: _to(_S.ABSENT, _T.BREAK, _T.FAIL),
        },
    )


def _awaiting(state: SessionState, running: SessionState, left: SessionState) -> TransitionRow:
    return _row(
        {
            _I.ANSWERED: _to(state),
            _I.ANSWERS: _to(state, _T.CONTINUE),
            _I.SKIPPED: _to(state, _T.SKIP),
            _I.TOLD: _to(running, _T.REPLY),
            _I.ABANDONS: _to(left, _T.DRAIN_FIRST),
            _I.CONTRADICTS: _REPLACED,
            _I.ABORTED: _to(left, _T.DRAIN),
            _I.BROKEN: _to(_S.ABSENT, _T.BREAK),
            _I.FAILED: _to(_S.ABSENT, _T.BREAK, _T.FAIL),
            _I.SUPERSEDED: _to(state),  # its user may still answer
            _I.SHARED: _to(state),
        },
    )


TRANSITIONS: dict[SessionState, TransitionRow] = {
    _S.ABSENT: _closed(_S.ABSENT, {}),
    _S.TAKEN: _closed(_S.TAKEN, {}),
    _S.KEPT: _closed(_S.KEPT, {_I.EXTENDS: _to(_S.RESUMING, _T.RESUME)}),
    _S.SEARCHING: _pending(
        _S.ABSENT,
        {
            _I.FOUND: _to(_S.RECALLING, _T.RECALL),
            _I.COPIES: _to(_S.FORKING, _T.FORK),
            _I.OPENS: _to(_S.OPENING, _T.OPEN),
        },
    ),
    _S.OPENING: _opening(_S.UNTOLD, _T.FRESH, _T.FRESH),
    _S.FORKING: _opening(_S.FORK, _T.FORKED, _T.FRESH),
    _S.RESUMING: _opening(_S.RESUMED, _T.RESUMED, _T.FORGET, _S.KEPT),
    _S.RECALLING: _opening(_S.KNOWING, _T.STORED, _T.FORGET),
    _S.UNTOLD: _resting(
        _S.UNTOLD,
        _S.ABSENT,
        _to(_S.UNTOLD, _T.BEGIN),
        {_I.LEFT: _TAKEN, _I.TOLD: _INTRODUCED},
    ),
    _S.KNOWING: _resting(
        _S.KNOWING,
        _S.ABSENT,
        _to(_S.KNOWING, _T.BEGIN),
        {_I.CONTRADICTS: _REPLACED, _I.LEFT: _TAKEN, _I.TOLD: _INTRODUCED},
    ),
    _S.FORK: _resting(
        _S.FORK,
        _S.ABSENT,
        _to(_S.KNOWING, _T.BEGIN),
        {
            _I.CONTRADICTS: _REPLACED,
            _I.GOES_ON: _to(_S.FORK, _T.VERIFY),
            _I.VERIFIED: _to(_S.FORK, _T.PREPARE),
            _I.LEFT: _TAKEN,
        },
    ),
    _S.RESUMED: _resting(
        _S.RESUMED,
        _S.KEPT,
        _to(_S.BEGUN, _T.MOVE_ON, _T.BEGIN),
        {_I.CONTRADICTS: _REPLACED},
    ),
    _S.BEGUN: _resting(
        _S.BEGUN,
        _S.ABSENT,
        _to(_S.BEGUN, _T.BEGIN),
        {
            _I.CONTRADICTS: _REPLACED,
            _I.LEFT: _TAKEN,
            _I.TOLD: _INTRODUCED,
            _I.TOLD_REWOUND: _to(_S.RERUNNING, _T.INTRODUCE, _T.TELL),
        },
    ),
    _S.RUNNING: _running(_S.RUNNING, _S.SETTLED, _S.UNSETTLED, _S.AWAITING),
    _S.AWAITING: _awaiting(_S.AWAITING, _S.RUNNING, _S.UNSETTLED),
    _S.SETTLED: _after_turn(
        _S.SETTLED,
        _S.KEPT,
        _to(_S.UNSETTLED, _T.MOVE_ON, _T.BEGIN),
        {
            _I.ANSWERED: _to(_S.SETTLED, _T.SETTLE),
            _I.ABORTED: _to(_S.UNSETTLED),
        },
    ),
    _S.UNSETTLED: _after_turn(
        _S.UNSETTLED,
        _S.ABSENT,
        _to(_S.UNSETTLED, _T.BEGIN),
        {
            _I.LEFT: _TAKEN,
            _I.TOLD: _to(_S.RUNNING, _T.TELL),
            _I.TOLD_REWOUND: _to(_S.RERUNNING, _T.TELL),
        },
    ),
    _S.RERUNNING: _running(_S.RERUNNING, _S.REWOUND, _S.REWOUND, _S.REAWAITING),
    _S.REAWAITING: _awaiting(_S.REAWAITING, _S.RERUNNING, _S.REWOUND),
    _S.REWOUND: _after_turn(
        _S.REWOUND,
        _S.ABSENT,
        _to(_S.REWOUND, _T.BEGIN),
        {
            _I.LEFT: _TAKEN,
            _I.TOLD: _to(_S.RERUNNING, _T.TELL),
            _I.TOLD_REWOUND: _to(_S.RERUNNING, _T.TELL),
        },
    ),
}
