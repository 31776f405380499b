"""A request that goes back behind what is committed branches off."""

from __future__ import annotations

import pytest

from bridge.history.exchange import Ending, Extends
from bridge.routing.outcome import Candidate, Opens, Reason
from bridge.routing.request import Hints
from bridge.wire import TextPart
from tests.bridge.desk import Desk
from tests.bridge.routing.chats import (
    A1,
    A2,
    A3,
    CALL,
    CHAT,
    COPY,
    OTHER,
    Q1,
    Q2,
    Q3,
    REQUEST_ONLY,
    answered,
    asks_for,
)
from tests.strategies import assistant, user


def test_going_back_behind_what_is_committed_branches(desk: Desk) -> None:
    key = answered(desk, Q1, A1, Q2, A2, Q3, A3)
    branch, outcome = desk.ask(Q1, A1, OTHER)
    assert outcome == Opens(Extends(2), Reason.BRANCH, origin=key, shared=1)
    assert desk.histories[key].shown == [Q1, A1, Q2, A2, Q3, A3]
    desk.finish(branch, "b")
    assert desk.joined(Q1, A1, OTHER, assistant("b"), Q2) == (branch, Reason.EXTENDS)
    assert desk.joined(Q1, A1, Q2, A2, Q3, A3, OTHER) == (key, Reason.EXTENDS)


def test_asking_an_earlier_question_again_is_a_retry_on_a_branch(desk: Desk) -> None:
    key = answered(desk, Q1, A1, Q2, A2, Q3, A3)
    expected = Opens(Extends(2), Reason.RETRY, origin=key, shared=1)
    assert desk.route(Q1, A1, Q2) == expected


def test_a_shared_question_alone_is_no_branch(desk: Desk) -> None:
    key = desk.opened(Q1)
    desk.finish(key, "a1")
    outcome = desk.route(Q1, assistant("other"), Q2)
    nothing = Candidate(key, "nothing proves it")
    assert outcome == Opens(Extends(2), Reason.UNPROVEN, runner_up=nothing)


def test_a_branch_names_a_conversation_that_is_alive(desk: Desk) -> None:
    one, two = desk.opened(Q1, A1, Q2, A2, Q3), desk.opened(Q1, A1, Q3, A3, OTHER)
    for key, origin in ((two, one), (one, None)):
        desk.end(key)
        outcome = desk.route(Q1, A1, OTHER)
        assert isinstance(outcome, Opens)
        assert outcome.origin == origin


def test_a_branch_shares_what_was_said_and_not_only_what_the_host_kept(desk: Desk) -> None:
    key = desk.opened(Q1)
    desk.cancel(key, "a cut answer")
    desk.ask(Q1, Q2)
    desk.finish(key, "a2")
    desk.ask(Q1, Q2, A2, Q3)
    desk.finish(key, "a3")
    branch, outcome = desk.ask(Q1, Q2, A2, OTHER)
    assert isinstance(outcome, Opens)
    assert (outcome.origin, outcome.shared) == (key, 2)
    first, _ = desk.histories[branch].committed
    assert (first.answer, first.ending) == (assistant("a cut answer"), Ending.CANCELLED)


def test_a_fork_of_a_whole_chat_shares_all_of_it(desk: Desk) -> None:
    key = answered(desk, Q1, A1, Q2, A2, hints=CHAT)
    fork, outcome = desk.ask(Q1, A1, Q2, A2, OTHER, hints=COPY)
    assert outcome == Opens(Extends(4), Reason.BRANCH, origin=key, shared=2)
    assert [one.answer for one in desk.histories[fork].committed] == [A1, A2]
    assert desk.joined(Q1, A1, Q2, A2, Q3, hints=CHAT) == (key, Reason.EXTENDS)


def test_a_fork_in_other_words_shares_all_of_its_origin_too(desk: Desk) -> None:
    key = desk.opened(asks_for("q1"), hints=CHAT)
    desk.finish(key, "a1")
    _, outcome = desk.ask(user("<userRequest>\nq1\n</userRequest>\n"), A1, OTHER, hints=COPY)
    expected = Opens(Extends(2, REQUEST_ONLY), Reason.BRANCH, origin=key, shared=1)
    assert outcome == expected


def test_the_head_of_another_line_is_closer_than_a_chat_that_went_on(desk: Desk) -> None:
    origin = answered(desk, Q1, A1, hints=CHAT)
    fork, _ = desk.ask(Q1, A1, Q2, hints=COPY)
    desk.finish(fork, "a2")
    desk.ask(Q1, A1, Q2, A2, Q3, hints=COPY)
    desk.finish(fork, "a3")
    elsewhere = Hints("c", chat="elsewhere")
    _, outcome = desk.ask(Q1, A1, OTHER, hints=elsewhere)
    assert isinstance(outcome, Opens)
    assert (outcome.origin, outcome.shared) == (origin, 1)


@pytest.mark.parametrize("ended", ["cancelled", "failed", "waits", "streams"])
def test_a_line_that_is_not_at_rest_has_no_whole_to_share(desk: Desk, ended: str) -> None:
    key = answered(desk, Q1, A1, hints=CHAT)
    desk.ask(Q1, A1, Q2, hints=CHAT)
    match ended:
        case "cancelled":
            desk.cancel(key, "a2")
        case "failed":
            desk.fail(key, "a2")
        case "waits":
            desk.emit(key, TextPart("a2"), CALL)
            desk.finish(key)
        case _:
            desk.emit(key, TextPart("a2"))
    shown = desk.histories[key].shown
    outcome = desk.route(*shown, OTHER, hints=COPY)
    assert isinstance(outcome, Opens)
    assert (outcome.origin, outcome.shared) != (key, 2)
