"""A host tells a chat again in other words: rules find it."""

from __future__ import annotations

from bridge.history.exchange import Extends, Supersedes
from bridge.history.rules import Rule
from bridge.routing.outcome import Candidate, Joins, Opens, Reason
from bridge.wire import TextPart
from tests.bridge.desk import Desk
from tests.bridge.routing.chats import (
    A1,
    A2,
    HERE,
    OTHER,
    Q1,
    Q2,
    Q3,
    REQUEST_ONLY,
    answered,
    asks_for,
)
from tests.strategies import assistant


def test_a_chat_is_found_by_a_question_where_the_newest_answer_was_rendered_anew(
    desk: Desk,
) -> None:
    """After a reload, from a host that gives no ids."""
    key = answered(desk, asks_for("q1"), assistant("see [app](src/app.py)"))
    _, outcome = desk.ask(Q1, assistant("see app"), Q2)
    rules = REQUEST_ONLY | {Rule.LINKS_REWRITTEN}
    assert outcome == Joins(key, Extends(2, rules), Reason.TOLERANT)


def test_a_chat_that_was_rebuilt_is_found_by_its_answers(desk: Desk) -> None:
    key = answered(desk, asks_for("q1"), A1, asks_for("q2"), A2)
    other = answered(desk, asks_for("q1"), assistant("another answer"))
    _, outcome = desk.ask(Q1, A1, Q2, A2, Q3)
    assert outcome == Joins(key, Extends(4, REQUEST_ONLY), Reason.TOLERANT)
    _, outcome = desk.ask(Q1, assistant("another answer"), Q3)
    assert outcome == Joins(other, Extends(2, REQUEST_ONLY), Reason.TOLERANT)


def test_a_line_that_failed_goes_on_after_anothers_answer_where_that_line_is_gone(
    desk: Desk,
) -> None:
    """It was asked last, but the other one knows more."""
    whole = answered(desk, asks_for("q1"), A1, asks_for("q2"), A2, hints=HERE)
    again = asks_for("q1"), A1, asks_for("q2")
    elder = desk.opened(*again, hints=HERE)
    younger = desk.opened(*again, hints=HERE)
    desk.fail(elder)
    desk.fail(younger)
    goes_on = Q1, A1, Q2, A2, Q3
    found = desk.route(*goes_on, hints=HERE)
    assert found == Joins(whole, Extends(4, REQUEST_ONLY), Reason.TOLERANT)
    desk.end(whole)
    found = desk.route(*goes_on, hints=HERE)
    assert found == Joins(younger, Extends(3, REQUEST_ONLY), Reason.TOLERANT)


def test_a_withdrawal_in_other_words_is_one(desk: Desk) -> None:
    key = desk.opened(asks_for("q1"))
    desk.finish(key, "a1")
    desk.ask(asks_for("q1"), A1, asks_for("q2"))
    desk.cancel(key)
    _, outcome = desk.ask(Q1, A1, OTHER)
    assert outcome == Joins(key, Supersedes(2, REQUEST_ONLY), Reason.SUPERSEDES)


def test_an_exact_repetition_beats_one_in_other_words_however_long_that_is(desk: Desk) -> None:
    """One chat has gone on in its own words, another was shown just this."""
    answered(desk, asks_for("q1"), A1, asks_for("q2"), A2)
    exact = answered(desk, Q1, A1)
    assert desk.joined(Q1, A1, Q2) == (exact, Reason.EXTENDS)


def test_an_answer_that_streams_may_be_repeated_as_far_as_it_has_come(desk: Desk) -> None:
    key = answered(desk, Q1, A1)
    desk.ask(Q1, A1, Q2)
    desk.emit(key, TextPart("a2"))
    _, outcome = desk.ask(Q1, A1, Q2, A2, Q3)
    assert outcome == Joins(key, Extends(4), Reason.EXTENDS)


def test_going_on_in_other_words_beats_taking_something_back(desk: Desk) -> None:
    cut = answered(desk, Q1, A1)
    desk.ask(Q1, A1, Q2)
    desk.cancel(cut)
    other = answered(desk, asks_for("q1"), A1, asks_for("other"), assistant("x"))
    _, outcome = desk.ask(Q1, A1, OTHER, assistant("x"), Q3)
    assert outcome == Joins(
        other,
        Extends(4, REQUEST_ONLY),
        Reason.TOLERANT,
        runner_up=Candidate(cut, "supersedes"),
    )


def test_asking_the_same_again_beats_going_on_in_other_words(desk: Desk) -> None:
    """Word for word is what the host repeats; no rule could be closer."""
    cut = desk.opened(Q1, A1, Q2)
    desk.cancel(cut, "a2")
    answered(desk, asks_for("q1"), A1)
    assert desk.joined(Q1, A1, Q2) == (cut, Reason.RETRY)
    desk.finish(cut, "a2")
    again = Opens(Extends(2), Reason.RETRY, origin=cut, shared=1)
    assert desk.route(Q1, A1, Q2) == again
