"""A request that repeats a conversation and goes on goes to the longest that fits."""

from __future__ import annotations

import pytest

from bridge.history.exchange import Extends
from bridge.routing.outcome import Joins, Reason
from bridge.wire import TextPart
from tests.bridge.desk import Desk
from tests.bridge.routing.chats import (
    A1,
    A2,
    A3,
    ABSENT,
    OTHER,
    Q1,
    Q2,
    Q3,
)


def test_the_longest_match_wins_not_the_last(desk: Desk) -> None:
    """Two chats share a beginning; the shorter one was used last."""
    long = desk.opened(Q1, A1, Q2)
    desk.finish(long, "a2")
    assert desk.joined(Q1, A1, Q2, A2, Q3) == (long, Reason.EXTENDS)
    desk.finish(long, "a3")
    short = desk.opened(Q1)
    desk.finish(short, "a1")
    assert desk.joined(Q1, A1, Q2, A2, Q3, A3, OTHER) == (long, Reason.EXTENDS)
    assert desk.joined(Q1, A1, OTHER) == (short, Reason.EXTENDS)


def test_an_extension_beats_a_supersession_however_long_that_is(desk: Desk) -> None:
    """One chat ends where the other has committed just that and asks something else."""
    ahead, behind = desk.opened(Q1), desk.opened(Q1)
    desk.finish(ahead, "a1")
    desk.finish(behind, "a1")
    key, _ = desk.joined(Q1, A1, Q2)
    other = ahead if key == behind else behind
    desk.finish(key, "a2")
    assert desk.joined(Q1, A1, Q3) == (other, Reason.EXTENDS)


def test_of_equal_conversations_the_most_recent_goes_on(desk: Desk) -> None:
    one, two = desk.opened(Q1), desk.opened(Q1)
    desk.finish(two, "a1")
    desk.finish(one, "a1")
    assert desk.joined(Q1, A1, Q2) == (one, Reason.EXTENDS)


@pytest.mark.parametrize("answer", ["", "a1"])
def test_a_cancelled_answer_that_did_not_come_back_is_no_obstacle(desk: Desk, answer: str) -> None:
    """That is an extension by a rule; where nothing was shown, without one."""
    key = desk.opened(Q1)
    desk.cancel(key, answer)
    _, outcome = desk.ask(Q1, Q2)
    match = Extends(1, ABSENT if answer else frozenset())
    assert outcome == Joins(key, match, Reason.EXTENDS)


def test_a_cancelled_answer_that_came_back_is_an_extension(desk: Desk) -> None:
    key = desk.opened(Q1)
    desk.cancel(key, "a1")
    assert desk.joined(Q1, A1, Q2) == (key, Reason.EXTENDS)


def test_going_on_while_the_answer_streams_stops_it(desk: Desk) -> None:
    key = desk.opened(Q1)
    desk.finish(key, "a1")
    desk.ask(Q1, A1, Q2)
    desk.emit(key, TextPart("a2"))
    assert desk.joined(Q1, A1, Q2, A2, Q3) == (key, Reason.EXTENDS)
    assert desk.joined(Q1, A1, Q2, A2, Q3, OTHER) == (key, Reason.EXTENDS)
    assert desk.histories[key].shown == [Q1, A1, Q2, A2, Q3, OTHER]


def test_a_history_that_was_shown_just_so_beats_one_whose_answer_was_left_out(desk: Desk) -> None:
    """Exact first, then what is tolerated."""
    exact, tolerated = desk.opened(Q1), desk.opened(Q1)
    desk.finish(exact)
    desk.cancel(tolerated, "a1")
    assert desk.joined(Q1, Q2) == (exact, Reason.EXTENDS)
