"""After a summary, the number of the turn has to fit."""

from __future__ import annotations

import pytest

from bridge.history.message import Message
from bridge.routing.outcome import Candidate, Joins, Reason
from bridge.routing.request import Hints
from bridge.wire import ToolCallPart
from tests.bridge.desk import Desk
from tests.bridge.routing.chats import (
    A1,
    OTHER,
    Q1,
    Q2,
    Q3,
    RESULT,
    SUMMARY,
)
from tests.strategies import assistant


@pytest.mark.parametrize(
    ("turn", "after", "goes_on"),
    [
        (None, [Q3], True),
        (3, [Q3], True),
        (2, [Q3], False),  # given again: the second turn was taken back
        (1, [Q3], False),
        (4, [Q3], False),  # the third was led elsewhere
        (4, [OTHER, A1, Q3], True),
        (3, [OTHER, A1, Q3], True),
        (4, [OTHER, A1, RESULT], False),  # a result is no turn
    ],
)
def test_after_a_summary_the_number_of_the_turn_has_to_fit(
    desk: Desk, turn: int | None, after: list[Message], goes_on: bool
) -> None:
    """A summary of everything fits every branch of a chat."""
    key = desk.opened(Q1, hints=Hints("here", turn=1))
    desk.finish(key, "x1")
    desk.joined(Q1, assistant("x1"), Q2, hints=Hints("here", turn=2))
    desk.finish(key, "x2")
    outcome = desk.route(SUMMARY, *after, hints=Hints("here", turn=turn))
    assert isinstance(outcome, Joins) is goes_on
    if not goes_on:
        other_branch = Candidate(key, "another branch of the chat")
        assert (outcome.reason, outcome.runner_up) == (Reason.UNPROVEN, other_branch)


def test_after_a_summary_an_answer_that_was_never_given_takes_no_waiting_turn_back(
    desk: Desk,
) -> None:
    """It answers nobody knows what, and the turn may still get its results."""
    hints = Hints("here", chat="this")
    key = desk.opened(Q1, hints=hints)
    desk.finish(key, "a1")
    desk.ask(Q1, A1, Q2, hints=hints)
    desk.emit(key, ToolCallPart("c1", "tool", {}))
    desk.finish(key)
    assert desk.route(SUMMARY, assistant("of another"), Q3, hints=hints).reason is Reason.UNPROVEN


@pytest.mark.parametrize("turn", [1, 2, 7])
def test_without_a_summary_the_number_says_nothing(desk: Desk, turn: int) -> None:
    key = desk.opened(Q1, hints=Hints("here", turn=1))
    desk.finish(key, "a1")
    assert desk.joined(Q1, A1, Q2, hints=Hints("here", turn=turn)) == (key, Reason.EXTENDS)
