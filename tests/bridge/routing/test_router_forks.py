"""A fork of a chat is a line of its own, and only its own line ends a turn."""

from __future__ import annotations

import pytest

from bridge.history.exchange import Extends
from bridge.history.rules import Rule
from bridge.routing.outcome import Joins, Opens, Reason
from bridge.routing.request import Hints
from bridge.wire import TextPart
from tests.bridge.desk import Desk
from tests.bridge.routing.chats import (
    A1,
    A2,
    CALL,
    HERE,
    OTHER,
    Q1,
    Q2,
    Q3,
    SUMMARY,
    answered,
)
from tests.strategies import assistant

ORIGIN, FORK = Hints("c", chat="log of the origin"), Hints("c", chat="log of the fork")


def test_a_fork_branches_off_and_leaves_its_origin_alone(desk: Desk) -> None:
    """It has the id of its origin, and all that this was told; only the log is another."""
    key = answered(desk, Q1, A1, Q2, A2, hints=ORIGIN)
    fork, outcome = desk.ask(Q1, A1, Q2, A2, OTHER, hints=FORK)
    assert isinstance(outcome, Opens)
    assert fork != key
    desk.finish(fork, "b")
    assert desk.joined(Q1, A1, Q2, A2, Q3, hints=ORIGIN) == (key, Reason.EXTENDS)
    line = (Q1, A1, Q2, A2, OTHER, assistant("b"), Q3)
    assert desk.joined(*line, hints=FORK) == (fork, Reason.EXTENDS)


def test_a_fork_supersedes_nothing_of_its_origin(desk: Desk) -> None:
    key = answered(desk, Q1, A1, hints=ORIGIN)
    desk.ask(Q1, A1, Q2, hints=ORIGIN)
    desk.cancel(key)
    assert desk.route(Q1, A1, OTHER, hints=ORIGIN).reason is Reason.SUPERSEDES
    expected = Opens(Extends(2), Reason.BRANCH, origin=key, shared=1)
    assert desk.route(Q1, A1, OTHER, hints=FORK) == expected


@pytest.mark.parametrize("hints", [Hints("c"), Hints(), Hints(chat="log of the origin")])
def test_who_does_not_name_its_chat_is_taken_for_the_one_that_fits(
    desk: Desk, hints: Hints
) -> None:
    key = answered(desk, Q1, A1, hints=ORIGIN)
    assert desk.joined(Q1, A1, Q2, hints=hints) == (key, Reason.EXTENDS)


def test_only_the_newest_branch_of_a_chat_needs_no_proof(desk: Desk) -> None:
    """The line before knows what was taken back since."""
    old = answered(desk, Q1, A1, hints=HERE)
    new = desk.opened(Q1, hints=HERE)
    desk.finish(new, "b1")
    _, outcome = desk.ask(SUMMARY, Q2, hints=HERE)
    assert outcome == Joins(
        new, Extends(1, frozenset({Rule.SUMMARY})), Reason.TOLERANT, runner_up=outcome.runner_up
    )
    assert desk.histories[old].shown == [Q1, A1]


def test_an_earlier_branch_of_a_chat_needs_proof_also_where_the_newest_does_not_fit(
    desk: Desk,
) -> None:
    answered(desk, Q1, A1, hints=HERE)
    desk.opened(Q1, hints=HERE)
    assert desk.route(SUMMARY, Q2, hints=HERE).reason is Reason.UNPROVEN


@pytest.mark.parametrize(
    ("hints", "goes_on"), [(ORIGIN, True), (FORK, False), (Hints("c"), False), (Hints(), True)]
)
def test_a_turn_that_streams_is_ended_only_by_its_own_chat(
    desk: Desk, hints: Hints, goes_on: bool
) -> None:
    """Not every prompt names its chat, so whoever gives the id alone may be a fork."""
    key = answered(desk, Q1, A1, hints=ORIGIN)
    desk.ask(Q1, A1, Q2, hints=ORIGIN)
    desk.emit(key, TextPart("a2"))
    assert isinstance(desk.route(Q1, A1, Q2, A2, Q3, hints=hints), Joins) is goes_on


@pytest.mark.parametrize("hints", [Hints("c"), Hints()])
def test_a_turn_that_streams_is_not_ended_by_who_gives_an_id_and_names_no_chat(
    desk: Desk, hints: Hints
) -> None:
    """Both may be in ask mode, and one a fork of the other: it said stop, or still wants it."""
    key = answered(desk, Q1, A1, hints=hints)
    desk.ask(Q1, A1, Q2, hints=hints)
    desk.emit(key, TextPart("a2"))
    goes_on = hints.conversation is None
    assert isinstance(desk.route(Q1, A1, Q2, A2, Q3, hints=hints), Joins) is goes_on
    desk.cancel(key)
    assert desk.joined(Q1, A1, Q2, A2, Q3, hints=hints) == (key, Reason.EXTENDS)


@pytest.mark.parametrize(
    ("waits_in", "asked_in", "withdrawn"),
    [
        (ORIGIN, ORIGIN, True),
        (ORIGIN, FORK, False),
        (ORIGIN, Hints("c"), False),
        (Hints("c"), Hints("c"), True),
        (Hints("c"), ORIGIN, True),
    ],
)
def test_a_turn_of_a_chat_with_a_name_that_waits_for_tools_is_withdrawn_only_under_that_name(
    desk: Desk, waits_in: Hints, asked_in: Hints, withdrawn: bool
) -> None:
    key = answered(desk, Q1, A1, hints=waits_in)
    desk.ask(Q1, A1, Q2, hints=waits_in)
    desk.emit(key, CALL)
    desk.finish(key)
    reason = Reason.SUPERSEDES if withdrawn else Reason.BRANCH
    assert desk.route(Q1, A1, OTHER, hints=asked_in).reason is reason


def test_the_same_again_is_a_retry_also_where_it_no_longer_names_its_chat(desk: Desk) -> None:
    """Recorded: in ask mode a host can't use a call, and repeats the request that it answers."""
    key = answered(desk, Q1, A1, hints=ORIGIN)
    desk.ask(Q1, A1, Q2, hints=Hints("c"))
    desk.emit(key, CALL)
    desk.finish(key)
    assert desk.joined(Q1, A1, Q2, hints=Hints("c")) == (key, Reason.RETRY)


def test_what_was_cut_short_is_withdrawn_also_by_who_names_no_chat(desk: Desk) -> None:
    key = answered(desk, Q1, A1, hints=ORIGIN)
    desk.ask(Q1, A1, Q2, hints=ORIGIN)
    desk.cancel(key, "a2")
    assert desk.route(Q1, A1, OTHER, hints=Hints("c")).reason is Reason.SUPERSEDES
