"""A retry or an edit: what it takes back, and what stays on a branch."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bridge.history.exchange import Extends, Supersedes
from bridge.history.machine import Phase
from bridge.history.message import Message
from bridge.routing.outcome import Joins, Opens, Reason
from bridge.routing.request import Hints
from bridge.wire import ToolCallPart
from tests.bridge.desk import Desk
from tests.bridge.routing.chats import (
    A1,
    A2,
    CHAT,
    OTHER,
    Q1,
    Q2,
    Q3,
    SAID,
    answered,
)
from tests.strategies import assistant, user


def test_the_same_request_again_after_it_was_cut_short_is_a_retry(desk: Desk) -> None:
    key = desk.opened(Q1)
    desk.cancel(key, "a1")
    assert desk.joined(Q1) == (key, Reason.RETRY)
    desk.fail(key, "a1")
    assert desk.joined(Q1) == (key, Reason.RETRY)
    desk.finish(key)
    assert desk.joined(Q1) == (key, Reason.RETRY)
    desk.finish(key, "a1 again")
    assert desk.joined(Q1, assistant("a1 again"), Q2) == (key, Reason.EXTENDS)
    desk.cancel(key)
    assert desk.joined(Q1, assistant("a1 again"), Q2) == (key, Reason.RETRY)


def test_the_same_request_again_after_a_complete_answer_is_a_retry_on_a_branch(desk: Desk) -> None:
    """The answer stays, for a second window that asks the same, or a user who goes back to it."""
    key = desk.opened(Q1)
    desk.finish(key, "a1")
    branch, outcome = desk.ask(Q1)
    assert outcome == Opens(Extends(0), Reason.RETRY, origin=key, shared=0)
    desk.finish(branch, "b1")
    assert desk.joined(Q1, assistant("b1"), Q2) == (branch, Reason.EXTENDS)
    assert desk.joined(Q1, A1, Q3) == (key, Reason.EXTENDS)


def test_who_keeps_one_session_retries_in_place(desk: Desk) -> None:
    key = desk.opened(Q1)
    desk.finish(key, "a1")
    assert desk.ask(Q1, keep=True) == (key, Joins(key, Supersedes(0), Reason.RETRY))


def test_who_keeps_one_session_edits_an_earlier_question_in_place(desk: Desk) -> None:
    key = desk.opened(Q1)
    desk.finish(key, "a1")
    for question, answer in ((Q2, "a2"), (Q3, "a3")):
        desk.ask(*desk.histories[key].shown, question, keep=True)
        desk.finish(key, answer)
    edited = (Q1, A1, user("edited"))
    assert desk.ask(*edited, keep=True) == (
        key,
        Joins(key, Supersedes(2, exchange=1), Reason.SUPERSEDES),
    )
    desk.finish(key, "a")
    assert desk.histories[key].shown == [*edited, assistant("a")]
    assert [one.asked for one in desk.histories[key].exchanges] == [(Q1,), edited[2:]]
    assert desk.joined(*edited, assistant("a"), Q2) == (key, Reason.EXTENDS)


def _finish(desk: Desk, key: int) -> None:
    desk.finish(key, "said")


def _kept(desk: Desk, *ends: Callable[[Desk, int], None]) -> int:
    """Lead a chat of three questions without branches, each of which ends so."""
    key = desk.opened(Q1, hints=CHAT)
    for end, question in zip(ends, (Q2, Q3, None), strict=True):
        end(desk, key)
        if question is not None:
            desk.ask(*desk.histories[key].shown, question, hints=CHAT, keep=True)
    return key


def _nothing(desk: Desk, key: int) -> None:
    """Let it stream."""


def _calls(desk: Desk, key: int) -> None:
    desk.emit(key, ToolCallPart("c1", "read", {}))
    desk.finish(key)


@pytest.mark.parametrize("end", [_nothing, Desk.cancel, Desk.fail, _calls])
def test_who_keeps_one_session_leaves_one_that_is_at_work_or_was_cut_short(
    desk: Desk, end: Callable[[Desk, int], None]
) -> None:
    """Its agent may not have seen all of it yet, or may wait."""
    key = _kept(desk, _finish, _finish, end)
    outcome = desk.route(Q1, SAID, user("edited"), hints=CHAT, keep=True)
    assert outcome == Opens(Extends(2), Reason.BRANCH, origin=key, shared=1)


def test_who_keeps_one_session_leaves_one_of_which_an_answer_never_came(desk: Desk) -> None:
    key = _kept(desk, _finish, Desk.cancel, _finish)
    outcome = desk.route(Q1, SAID, user("edited"), hints=CHAT, keep=True)
    assert outcome == Opens(Extends(2), Reason.BRANCH, origin=key, shared=1)


def test_who_keeps_one_session_leaves_one_that_shows_no_answer(desk: Desk) -> None:
    """Though the host says that it is the same chat: so does it of a copy."""
    key = _kept(desk, Desk.cancel, _finish, _finish)
    outcome = desk.route(Q1, user("edited"), hints=CHAT, keep=True)
    assert outcome == Opens(Extends(1), Reason.BRANCH, origin=key, shared=1)


def test_who_keeps_one_session_leaves_it_to_an_edit_and_not_to_an_undo(desk: Desk) -> None:
    key = _kept(desk, _finish, _finish, _finish)
    undone = (Q1, SAID, user("another"), assistant("said then"), OTHER)
    outcome = desk.route(*undone, hints=CHAT, keep=True)
    assert outcome == Opens(Extends(2), Reason.BRANCH, origin=key, shared=1)


def test_an_edit_of_a_question_that_streams_supersedes_its_exchange(desk: Desk) -> None:
    key = desk.opened(Q1)
    desk.finish(key, "a1")
    desk.ask(Q1, A1, Q2)
    assert desk.joined(Q1, A1, Q3) == (key, Reason.SUPERSEDES)
    desk.cancel(key, "a3")
    assert desk.joined(Q1, A1, OTHER) == (key, Reason.SUPERSEDES)
    assert desk.histories[key].shown == [Q1, A1, OTHER]


def test_an_edit_of_the_last_question_leaves_its_complete_answer_on_a_branch(desk: Desk) -> None:
    key = answered(desk, Q1, A1, Q2, A2)
    branch, outcome = desk.ask(Q1, A1, OTHER)
    assert outcome == Opens(Extends(2), Reason.BRANCH, origin=key, shared=1)
    assert desk.histories[key].shown == [Q1, A1, Q2, A2]
    assert desk.histories[branch].shown == [Q1, A1, OTHER]
    desk.finish(branch, "b")
    assert desk.joined(Q1, A1, Q2, A2, Q3) == (key, Reason.EXTENDS), "the edit is undone"
    assert desk.joined(Q1, A1, OTHER, assistant("b"), Q3) == (branch, Reason.EXTENDS)


def test_a_host_that_cancels_by_itself_still_wants_the_turn_that_streams(desk: Desk) -> None:
    """Hosts that say whose a request is have said "stop" for longer, so this is a fork."""
    hints = Hints(conversation="c")
    key = desk.opened(Q1, hints=hints)
    desk.finish(key, "a1")
    desk.ask(Q1, A1, Q2, hints=hints)
    _, outcome = desk.ask(Q1, A1, Q3, hints=hints)
    assert outcome == Opens(Extends(2), Reason.BRANCH, origin=key, shared=1)
    assert desk.histories[key].phase is Phase.STREAMING


def test_an_edit_of_the_first_question_is_a_new_conversation(desk: Desk) -> None:
    key = desk.opened(Q1)
    desk.finish(key, "a1")
    outcome = desk.route(OTHER)
    assert outcome == Opens(Extends(0), Reason.NEW)
    assert desk.histories[key].shown == [Q1, A1]


def test_an_empty_history_matches_nothing(desk: Desk) -> None:
    desk.opened(Q1)
    incoming: tuple[Message, ...]
    for incoming in [(OTHER,), (OTHER, A1, Q2), (Q1,), ()]:
        assert isinstance(desk.route(*incoming), Opens)


@pytest.mark.parametrize("ended", ["failed", "cancelled", "empty"])
def test_a_conversation_of_nothing_matches_nothing(desk: Desk, ended: str) -> None:
    """Such as a request of system messages alone, or of a part that we don't know."""
    key = desk.opened()
    match ended:
        case "failed":
            desk.fail(key)
        case "cancelled":
            desk.cancel(key)
        case _:
            desk.finish(key)
    desk.opened(Q1)


@pytest.mark.parametrize("incoming", [(Q1, OTHER), (Q1, assistant("to the other window"), OTHER)])
def test_a_question_that_was_never_answered_is_no_evidence(
    desk: Desk, incoming: tuple[Message, ...]
) -> None:
    """Two windows asked the same, and here the first answer failed: whose turn is stopped?"""
    key = desk.opened(Q1)
    desk.cancel(key)
    desk.joined(Q1, Q2)
    assert isinstance(desk.route(*incoming), Opens)
    assert desk.histories[key].phase is Phase.STREAMING
