"""Whose conversation is this? Windows stay apart, and every outcome has its reason."""

from __future__ import annotations

from collections.abc import Callable

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.events import Ask
from bridge.exchange import Ending
from bridge.history import History, Phase
from bridge.match import Diverges, Extends, Supersedes
from bridge.message import Message
from bridge.request import Hints, RequestClass
from bridge.router import (
    MOST_CANDIDATES,
    Candidate,
    Joins,
    Opens,
    Outcome,
    Reason,
    Tally,
)
from bridge.rules import Rule
from bridge.wire import DataPart, TextPart, ToolCallPart, ToolResultPart
from tests.strategies import assistant, user, words

from .desk import AGENT, OTHER_AGENT, Desk

Q1, Q2, Q3, OTHER = user("q1"), user("q2"), user("q3"), user("other")
A1, A2, A3 = assistant("a1"), assistant("a2"), assistant("a3")
SAID = assistant("said")
ABSENT = frozenset({Rule.ANSWER_ABSENT})
REQUEST_ONLY = frozenset({Rule.REQUEST_ONLY})


@pytest.fixture
def desk() -> Desk:
    return Desk()


def answered(desk: Desk, *chat: Message, hints: Hints | None = None) -> int:
    """Lead a chat of questions and answers, in turn, and return whose it is."""
    key = 0
    for index in range(0, len(chat), 2):
        key, _ = desk.ask(*chat[: index + 1], hints=hints or Hints())
        desk.finish(key, chat[index + 1].text)
    return key


# Windows.


def test_two_windows_with_equal_openings_stay_apart(desk: Desk) -> None:
    """The first implementation of this idea let the second cancel the first."""
    one, two = desk.opened(Q1), desk.opened(Q1)
    assert one != two
    assert desk.histories[one].phase is Phase.STREAMING
    desk.finish(two, "from two")
    desk.finish(one, "from one")
    assert desk.joined(Q1, assistant("from two"), Q2) == (two, Reason.EXTENDS)
    assert desk.joined(Q1, assistant("from one"), Q2) == (one, Reason.EXTENDS)


def test_two_windows_in_one_first_turn_do_not_notice_each_other(desk: Desk) -> None:
    one, two = desk.opened(Q1), desk.opened(OTHER)
    assert desk.histories[one].request == 1
    assert desk.histories[two].request == 2


def test_windows_with_equal_openings_and_equal_answers_both_go_on(desk: Desk) -> None:
    """Which is which can't be told, and doesn't matter: both were shown the same."""
    one, two = desk.opened(Q1), desk.opened(Q1)
    desk.finish(one, "a1")
    desk.finish(two, "a1")
    first, _ = desk.joined(Q1, A1, Q2)
    second, _ = desk.joined(Q1, A1, Q3)
    assert {first, second} == {one, two}


def test_agents_keep_their_conversations_apart(desk: Desk) -> None:
    one = desk.opened(Q1)
    desk.finish(one, "a1")
    two = desk.opened(Q1, A1, Q2, agent=OTHER_AGENT)
    desk.finish(two, "a2")
    assert desk.joined(Q1, A1, Q2) == (one, Reason.EXTENDS)
    assert desk.joined(Q1, A1, Q2, A2, Q3, agent=OTHER_AGENT) == (two, Reason.EXTENDS)


def test_a_utility_request_in_mid_turn_touches_nothing(desk: Desk) -> None:
    """Titles and commit messages come while the chat they are about streams."""
    chat = desk.opened(Q1)
    desk.finish(chat, "a1")
    desk.ask(Q1, A1, Q2)
    desk.emit(chat, TextPart("a"))
    title = desk.opened(user("Please write a brief title for: q1"))
    desk.finish(title, "A title")
    assert desk.histories[chat].phase is Phase.STREAMING
    desk.finish(chat, "2")
    assert desk.joined(Q1, A1, Q2, A2, Q3) == (chat, Reason.EXTENDS)


# Prefixes.


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


# Supersession, and what stays.


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


# Branches.


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


CHAT, COPY = Hints("c", chat="here"), Hints("c", chat="there")
"""A chat, and its fork: the host gives them one id, and each a log of its own."""


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


# Calls.

CALL = ToolCallPart("c1", "read", {})
RESULT = Message.of("user", [ToolResultPart("c1", "text")])
CALLED = Message.of("assistant", [CALL])


def test_results_find_the_conversation_that_made_the_call(desk: Desk) -> None:
    one, two = desk.opened(Q1), desk.opened(Q1)
    desk.emit(one, CALL)
    desk.finish(one)
    desk.emit(two, ToolCallPart("c2", "read", {}))
    desk.finish(two)
    assert desk.index[one].calls
    assert desk.joined(Q1, CALLED, RESULT) == (one, Reason.PENDING_CALL)
    assert not desk.index[one].calls
    assert desk.index[two].calls


def test_text_after_results_goes_where_the_results_go(desk: Desk) -> None:
    key = desk.opened(Q1)
    desk.emit(key, CALL)
    desk.finish(key)
    assert desk.joined(Q1, CALLED, RESULT, Q2) == (key, Reason.PENDING_CALL)


def test_a_call_is_pending_only_when_the_turn_waits_for_it(desk: Desk) -> None:
    key = desk.opened(Q1)
    desk.emit(key, CALL)
    assert not desk.index[key].calls
    desk.finish(key)
    assert desk.index[key].calls
    desk.ask(Q1, CALLED, RESULT)
    desk.finish(key, "a1")
    assert not desk.index[key].calls


def test_results_of_another_agents_calls_find_nothing(desk: Desk) -> None:
    key = desk.opened(Q1)
    desk.emit(key, CALL)
    desk.finish(key)
    assert desk.opened(Q1, CALLED, RESULT, agent=OTHER_AGENT) != key


def test_results_alone_make_a_conversation_ones_own(desk: Desk) -> None:
    """Call ids are unique in the process: nobody else has results of this call, whatever became
    of the rest (a compacted history, say). The rule is named.
    """
    key = desk.opened(Q1)
    desk.emit(key, CALL)
    desk.finish(key)
    _, outcome = desk.ask(OTHER, CALLED, RESULT)
    assert outcome == Joins(key, Extends(2, frozenset({Rule.CALL_ALONE})), Reason.PENDING_CALL)


def test_results_that_fit_by_a_rule_are_told_with_that_rule(desk: Desk) -> None:
    key = desk.opened(asks_for("q1"))
    desk.emit(key, CALL)
    desk.finish(key)
    outcome = desk.route(Q1, CALLED, RESULT)
    assert outcome == Joins(key, Extends(2, REQUEST_ONLY), Reason.PENDING_CALL)


def test_results_in_any_message_after_the_last_answer_are_looked_at(desk: Desk) -> None:
    key = desk.opened(Q1)
    desk.emit(key, CALL, ToolCallPart("c2", "read", {}))
    desk.finish(key)
    both = Message.of("assistant", [CALL, ToolCallPart("c2", "read", {})])
    unknown = Message.of("user", [ToolResultPart("c9")])
    assert desk.joined(Q1, both, RESULT, unknown, Q2) == (key, Reason.PENDING_CALL)


def test_results_of_earlier_turns_are_no_key(desk: Desk) -> None:
    """A call id that comes back with the history says nothing about who asks now."""
    key = desk.opened(Q1)
    desk.emit(key, CALL)
    desk.finish(key)
    desk.ask(Q1, CALLED, RESULT)
    desk.finish(key, "a1")
    assert desk.joined(Q1, CALLED, RESULT, A1, Q2) == (key, Reason.EXTENDS)
    desk.emit(key, ToolCallPart("c2", "read", {}))
    desk.finish(key)
    earlier = Message.of("assistant", [ToolCallPart("c2", "read", {})])
    result = Message.of("user", [ToolResultPart("c2")])
    assert isinstance(desk.route(OTHER, earlier, result, A2, Q3), Opens)


# Requests that nobody builds on, and sub-agents.


@pytest.mark.parametrize(
    "request_class", [RequestClass.UTILITY, RequestClass.COMPACTION, RequestClass.INLINE]
)
def test_a_one_shot_touches_nothing_whatever_it_repeats(
    desk: Desk, request_class: RequestClass
) -> None:
    """The fork for a summary repeats the whole chat, with its id, while that goes on."""
    hints = Hints(conversation="c")
    chat = desk.opened(Q1, hints=hints)
    desk.finish(chat, "a1")
    key, outcome = desk.ask(Q1, A1, Q2, hints=hints, request_class=request_class)
    assert outcome == Opens(Extends(2), Reason.ONE_SHOT, request_class)
    assert desk.joined(Q1, A1, Q2, hints=hints) == (chat, Reason.EXTENDS)
    desk.finish(key, "a2")
    assert desk.ended_if_done(key)
    assert desk.histories[chat].phase is Phase.STREAMING


def test_nobody_joins_a_one_shot(desk: Desk) -> None:
    desk.ask(Q1, request_class=RequestClass.UTILITY)
    desk.finish(1, "a1")
    assert desk.route(Q1, A1, Q2) == Opens(Extends(2), Reason.NEW)


PARENT = Hints(conversation="c", run="r", turn=1)


def waiting_parent(desk: Desk, *call_ids: str) -> int:
    key = desk.opened(Q1, hints=PARENT)
    desk.emit(key, *(ToolCallPart(call_id, "runSubagent", {}) for call_id in call_ids))
    desk.finish(key)
    return key


def test_a_sub_agent_is_led_by_the_conversation_that_waits(desk: Desk) -> None:
    parent = waiting_parent(desk, "c1")
    child, outcome = desk.ask(OTHER, hints=PARENT)
    assert outcome == Opens(Extends(0), Reason.SUB_AGENT, RequestClass.SUB_AGENT, origin=parent)
    assert desk.histories[child].committed == []
    desk.emit(child, CALL)
    desk.finish(child)
    assert not desk.ended_if_done(child), "it waits for a result"
    again, outcome = desk.ask(OTHER, CALLED, RESULT, hints=PARENT)
    assert (again, outcome.request_class) == (child, RequestClass.SUB_AGENT)
    desk.finish(child, "found it")
    assert desk.ended_if_done(child), "nobody asks a sub-agent twice"


def test_a_sub_agent_that_has_the_facts_of_its_chat_is_no_edit_of_it(desk: Desk) -> None:
    facts = user("<environment_info>\nLinux\n</environment_info>")
    parent = desk.opened(facts, Q1, hints=PARENT)
    desk.finish(parent, "a1")
    desk.ask(facts, Q1, A1, Q2, hints=PARENT)
    desk.emit(parent, ToolCallPart("p1", "runSubagent", {}))
    desk.finish(parent)
    outcome = desk.route(facts, OTHER, hints=PARENT)
    assert isinstance(outcome, Opens)
    assert (outcome.reason, outcome.origin) == (Reason.SUB_AGENT, parent)


def test_sub_agents_work_side_by_side_and_the_parent_gets_their_results(desk: Desk) -> None:
    parent = waiting_parent(desk, "p1", "p2")
    tasks = [user("look here"), user("look there")]
    one, two = (desk.ask(task, hints=PARENT)[0] for task in tasks)
    assert len({parent, one, two}) == 3
    for child, call_id in ((one, "c1"), (two, "c2")):
        desk.emit(child, ToolCallPart(call_id, "read", {}))
        desk.finish(child)
    for child, task, call_id in ((two, tasks[1], "c2"), (one, tasks[0], "c1")):
        called = Message.of("assistant", [ToolCallPart(call_id, "read", {})])
        result = Message.of("user", [ToolResultPart(call_id)])
        assert desk.joined(task, called, result, hints=PARENT) == (child, Reason.PENDING_CALL)
        desk.finish(child, "done")
        assert desk.ended_if_done(child)
    calls = [ToolCallPart(call_id, "runSubagent", {}) for call_id in ("p1", "p2")]
    results = [Message.of("user", [ToolResultPart(call_id)]) for call_id in ("p1", "p2")]
    chat = (Q1, Message.of("assistant", calls), *results)
    assert desk.joined(*chat, hints=PARENT) == (parent, Reason.PENDING_CALL)


def test_sub_agents_with_the_same_task_at_the_same_time_stay_apart(desk: Desk) -> None:
    parent = waiting_parent(desk, "p1", "p2")
    one, first = desk.ask(OTHER, hints=PARENT)
    two, second = desk.ask(OTHER, hints=PARENT)
    assert len({parent, one, two}) == 3
    assert first.reason is second.reason is Reason.SUB_AGENT


@pytest.mark.parametrize(
    "hints",
    [
        Hints(conversation="another", run="r"),
        Hints(conversation="c", run="another"),
        Hints(run="r"),
        Hints(),
    ],
)
def test_what_another_chat_or_run_asks_is_no_sub_agent(desk: Desk, hints: Hints) -> None:
    waiting_parent(desk, "c1")
    assert desk.route(OTHER, hints=hints).reason is not Reason.SUB_AGENT


@pytest.mark.parametrize("run", [None, "r"])
def test_a_host_that_does_not_tell_runs_leads_sub_agents_too(desk: Desk, run: str | None) -> None:
    parent = waiting_parent(desk, "c1")
    outcome = desk.route(OTHER, hints=Hints(conversation="c", run=run))
    assert isinstance(outcome, Opens)
    assert (outcome.reason, outcome.origin) == (Reason.SUB_AGENT, parent)


def test_only_a_first_turn_is_a_sub_agents(desk: Desk) -> None:
    waiting_parent(desk, "c1")
    assert desk.route(OTHER, A1, Q2, hints=PARENT).reason is not Reason.SUB_AGENT


def test_a_conversation_that_waits_for_nothing_leads_nobody(desk: Desk) -> None:
    desk.finish(desk.opened(Q1, hints=PARENT), "a1")
    assert desk.route(OTHER, hints=PARENT).reason is not Reason.SUB_AGENT


def test_agents_do_not_lead_each_others_sub_agents(desk: Desk) -> None:
    waiting_parent(desk, "c1")
    assert desk.route(OTHER, hints=PARENT, agent=OTHER_AGENT).reason is Reason.NEW


# What the host says.

HERE, THERE = Hints(conversation="here"), Hints(conversation="there")


@pytest.mark.parametrize("hints", [HERE, THERE])
def test_of_two_that_fit_equally_the_host_decides(desk: Desk, hints: Hints) -> None:
    keys = {h: desk.opened(Q1, hints=h) for h in (HERE, THERE)}
    for key in keys.values():
        desk.finish(key, "a1")
    assert desk.joined(Q1, A1, Q2, hints=hints) == (keys[hints], Reason.EXTENDS)


@pytest.mark.parametrize("first", [HERE, Hints()])
@pytest.mark.parametrize("second", [HERE, Hints()])
def test_of_two_that_may_be_it_the_one_that_the_host_names_goes_on(
    desk: Desk, first: Hints, second: Hints
) -> None:
    """Who has no id yet isn't ruled out, but comes after; of equals the most recent goes on."""
    one, two = desk.opened(Q1, hints=first), desk.opened(Q1, hints=second)
    desk.finish(one, "a1")
    desk.finish(two, "a1")
    expected = one if (first, second) == (HERE, Hints()) else two
    assert desk.joined(Q1, A1, Q2, hints=HERE) == (expected, Reason.EXTENDS)


def test_a_contrary_id_rules_out_whatever_fits(desk: Desk) -> None:
    key = answered(desk, Q1, A1, Q2, A2, hints=HERE)
    for incoming in [(Q1, A1, Q2, A2, Q3), (Q1, A1, Q2), (Q1, A1, OTHER), (Q1,)]:
        assert desk.route(*incoming, hints=THERE).reason is Reason.NEW
        assert desk.route(*incoming).reason is not Reason.NEW, "no id is no contrary id"
    assert desk.histories[key].shown == [Q1, A1, Q2, A2]


def test_results_of_a_call_weigh_more_than_a_contrary_id(desk: Desk) -> None:
    key = desk.opened(Q1, hints=HERE)
    desk.emit(key, CALL)
    desk.finish(key)
    assert desk.joined(Q1, CALLED, RESULT, hints=THERE) == (key, Reason.PENDING_CALL)


def test_an_id_alone_proves_nothing(desk: Desk) -> None:
    """Forks, sub-agents and summaries have the id of their chat."""
    key = answered(desk, Q1, A1, Q2, A2, hints=HERE)
    for incoming in [(OTHER,), (OTHER, assistant("x"), Q2), (Q3, A1, Q3)]:
        assert isinstance(desk.route(*incoming, hints=HERE), Opens)
    assert desk.histories[key].shown == [Q1, A1, Q2, A2]


def test_an_id_and_what_was_typed_are_enough(desk: Desk) -> None:
    """Here the host dropped the only answer, which was cut short, and rendered the question."""
    key = desk.opened(asks_for("q1"), hints=HERE)
    desk.cancel(key, "a1")
    _, outcome = desk.ask(Q1, Q2, hints=HERE)
    assert outcome == Joins(key, Extends(1, ABSENT | REQUEST_ONLY), Reason.TOLERANT)


def test_what_was_typed_is_not_enough_without_an_id(desk: Desk) -> None:
    key = desk.opened(asks_for("q1"))
    desk.cancel(key, "a1")
    assert isinstance(desk.route(Q1, Q2), Opens)
    assert desk.histories[key].shown == [asks_for("q1"), A1]


def marked(text: str, token: str) -> Message:
    return Message.of("assistant", [TextPart(text), DataPart("stateful_marker", token.encode())])


def asks_for(text: str) -> Message:
    """A question as the host wraps it."""
    return user(f"<context>\nMonday\n</context>\n<userRequest>\n{text}\n</userRequest>\n")


@pytest.mark.parametrize("number", [0, 1])
def test_of_two_that_fit_equally_by_a_rule_our_marker_decides(desk: Desk, number: int) -> None:
    keys = [desk.opened(asks_for("q1")), desk.opened(asks_for("q1"))]
    for key in keys:
        desk.index.remember_marker(f"token-{key}", key)
        desk.finish(key, "a1")
    ours = marked("a1", f"any-model\\token-{keys[number]}")
    assert desk.joined(Q1, ours, Q2) == (keys[number], Reason.TOLERANT)


def test_a_marker_alone_proves_nothing(desk: Desk) -> None:
    key = desk.opened(Q1)
    desk.index.remember_marker("token", key)
    desk.finish(key, "a1")
    outcome = desk.route(OTHER, marked("something else", "m\\token"), Q2)
    nothing = Candidate(key, "nothing proves it")
    assert outcome == Opens(Extends(2), Reason.UNPROVEN, runner_up=nothing)


def test_a_marker_that_nobody_remembers_is_nothing(desk: Desk) -> None:
    key = desk.opened(Q1)
    desk.finish(key, "a1")
    assert desk.joined(Q1, marked("a1", "m\\unheard-of"), Q2) == (key, Reason.EXTENDS)


# Forks, and lines of one chat.

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


def test_only_the_newest_line_of_a_chat_needs_no_proof(desk: Desk) -> None:
    """The line before knows what was taken back since."""
    old = answered(desk, Q1, A1, hints=HERE)
    new = desk.opened(Q1, hints=HERE)
    desk.finish(new, "b1")
    _, outcome = desk.ask(SUMMARY, Q2, hints=HERE)
    assert outcome == Joins(
        new, Extends(1, frozenset({Rule.SUMMARY})), Reason.TOLERANT, runner_up=outcome.runner_up
    )
    assert desk.histories[old].shown == [Q1, A1]


def test_an_earlier_line_of_a_chat_needs_proof_also_where_the_newest_does_not_fit(
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


def test_a_sub_agent_is_not_the_newest_line_of_its_chat(desk: Desk) -> None:
    parent = waiting_parent(desk, "c1")
    desk.finish(desk.opened(OTHER, hints=PARENT), "done")
    summarised = SUMMARY, Message.of("assistant", [ToolCallPart("c1", "runSubagent", {})]), RESULT
    assert desk.joined(*summarised, hints=PARENT) == (parent, Reason.PENDING_CALL)
    desk.finish(parent, "a1")
    next_turn = Hints("c", run="r2", turn=2)
    assert desk.joined(SUMMARY, Q2, hints=next_turn) == (parent, Reason.TOLERANT)


SUMMARY = user("<conversation-summary>\nThey said q1.\n</conversation-summary>")


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
    """A summary of everything fits every line of a chat."""
    key = desk.opened(Q1, hints=Hints("here", turn=1))
    desk.finish(key, "x1")
    desk.joined(Q1, assistant("x1"), Q2, hints=Hints("here", turn=2))
    desk.finish(key, "x2")
    outcome = desk.route(SUMMARY, *after, hints=Hints("here", turn=turn))
    assert isinstance(outcome, Joins) is goes_on
    if not goes_on:
        other_line = Candidate(key, "another line of the chat")
        assert (outcome.reason, outcome.runner_up) == (Reason.UNPROVEN, other_line)


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


def test_asking_the_same_again_beats_going_on_in_other_words(desk: Desk) -> None:
    """Word for word is what the host repeats; no rule could be closer."""
    cut = desk.opened(Q1, A1, Q2)
    desk.cancel(cut, "a2")
    answered(desk, asks_for("q1"), A1)
    assert desk.joined(Q1, A1, Q2) == (cut, Reason.RETRY)
    desk.finish(cut, "a2")
    again = Opens(Extends(2), Reason.RETRY, origin=cut, shared=1)
    assert desk.route(Q1, A1, Q2) == again


def test_sub_agents_with_the_same_task_are_not_retries_of_each_other(desk: Desk) -> None:
    """Within a run a host asks again only what got no answer. Nor does one lead the other."""
    parent = waiting_parent(desk, "p1", "p2")
    one = desk.opened(OTHER, hints=PARENT)
    desk.emit(one, CALL)
    desk.finish(one)
    two, outcome = desk.ask(OTHER, hints=PARENT)
    twin = Candidate(one, "twin")
    assert outcome == Opens(
        Extends(0), Reason.SUB_AGENT, RequestClass.SUB_AGENT, origin=parent, runner_up=twin
    )
    assert two not in {parent, one}


def test_a_sub_agent_that_got_no_answer_is_asked_again(desk: Desk) -> None:
    waiting_parent(desk, "p1")
    child = desk.opened(OTHER, hints=PARENT)
    desk.fail(child)
    assert desk.joined(OTHER, hints=PARENT) == (child, Reason.RETRY)


def test_a_sub_agent_of_another_run_is_no_twin(desk: Desk) -> None:
    waiting_parent(desk, "p1")
    child = desk.opened(OTHER, hints=PARENT)
    desk.emit(child, CALL)
    desk.finish(child)
    assert desk.route(OTHER, hints=Hints("c", run="another")).reason is Reason.RETRY


# In other words.


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


@pytest.mark.limit("bridge.router.MOST_CANDIDATES")
def test_no_more_conversations_are_compared_than_a_few(desk: Desk) -> None:
    """Each of them has the host's id, and only the oldest would be it."""
    oldest = desk.opened(asks_for("q1"), hints=HERE)
    desk.finish(oldest, "a1")
    for number in range(MOST_CANDIDATES - 1):
        desk.finish(desk.opened(user(f"unlike {number}"), hints=HERE), f"unlike {number}")
    found = desk.route(Q1, assistant("[a1](x)"), Q2, hints=HERE)
    desk.finish(desk.opened(user("one too many"), hints=HERE), "one too many")
    lost = desk.route(Q1, assistant("[a1](x)"), Q2, hints=HERE)
    assert (found.reason, lost.reason) == (Reason.TOLERANT, Reason.UNPROVEN)


@pytest.mark.parametrize(("others", "found"), [(0, True), (1, False)])
def test_no_more_conversations_are_looked_at_at_a_point_than_a_few(
    desk: Desk, others: int, found: bool
) -> None:
    """Many windows ask the same and wait; the request repeats what the oldest asked."""
    cut = desk.opened(Q1)
    desk.cancel(cut)
    for key in range(2, 1 + MOST_CANDIDATES + others):
        waiting = History()
        waiting.apply(Ask(key, (Q1,), Extends(0)))
        desk.index.place(key, AGENT, waiting)
    assert isinstance(desk.route(Q1), Joins) is found


# Coming and going.


def test_a_conversation_that_ended_is_not_found_any_more(desk: Desk) -> None:
    key = desk.opened(Q1)
    desk.emit(key, CALL)
    desk.finish(key)
    desk.end(key)
    assert desk.ask(Q1, CALLED, RESULT)[1] == Opens(Extends(2), Reason.NEW)


def test_the_end_of_one_conversation_leaves_the_others(desk: Desk) -> None:
    one, two = desk.opened(Q1), desk.opened(Q1)
    desk.finish(one, "a1")
    desk.finish(two, "a1")
    desk.end(two)
    assert desk.joined(Q1, A1, Q2) == (one, Reason.EXTENDS)


def test_a_history_to_which_nothing_happened_is_found_by_nothing(desk: Desk) -> None:
    desk.index.place(1, AGENT, History())
    assert desk.route(Q1) == Opens(Extends(0), Reason.NEW)
    assert not desk.index[1].calls


# Why, and who else.


def test_every_reason_can_be_the_reason_and_is_counted(desk: Desk) -> None:
    key = desk.opened(Q1)
    desk.cancel(key)
    desk.joined(Q1)
    desk.finish(key, "a1")
    desk.joined(Q1, A1, Q2)
    desk.emit(key, CALL)
    desk.finish(key)
    desk.joined(Q1, A1, Q2, CALLED, RESULT)
    desk.cancel(key, "cut")
    desk.joined(Q1, A1, Q2, CALLED, RESULT, Q3)
    desk.joined(Q1, A1, Q2, CALLED, RESULT, OTHER)
    desk.finish(key, "a3")
    desk.opened(Q1, A1, OTHER)
    desk.opened(Q1, assistant("never said"), Q2)
    desk.joined(asks_for("q1"), A1, Q2, CALLED, RESULT, OTHER, A3, Q3)
    desk.ask(user("a title"), request_class=RequestClass.UTILITY)
    waiting = desk.opened(user("lead"), hints=PARENT)
    desk.emit(waiting, ToolCallPart("p1", "runSubagent", {}))
    desk.finish(waiting)
    desk.opened(user("task"), hints=PARENT)
    misses = [Reason.NEW, Reason.UNPROVEN, Reason.ONE_SHOT, Reason.SUB_AGENT]
    assert desk.reasons.keys() == set(Reason)
    assert desk.tally.misses == {reason: desk.reasons[reason] for reason in misses}
    assert desk.tally.matches == {
        **{r.value: n for r, n in desk.reasons.items() if r not in misses},
        Rule.ANSWER_ABSENT.value: 2,  # at once, and when the whole was told in other words
        Rule.REQUEST_ONLY.value: 1,
    }
    assert desk.tally.classes == {
        RequestClass.MAIN: desk.reasons.total() - 2,
        RequestClass.UTILITY: 1,
        RequestClass.SUB_AGENT: 1,
    }


@pytest.mark.parametrize("rules", [frozenset[Rule](), ABSENT, ABSENT | REQUEST_ONLY])
@pytest.mark.parametrize("request_class", RequestClass)
def test_each_outcome_is_counted_by_its_class_its_reason_and_its_rules(
    rules: frozenset[Rule], request_class: RequestClass
) -> None:
    tally = Tally()
    tally.count(Joins(1, Extends(2, rules), Reason.TOLERANT, request_class))
    tally.count(Opens(Extends(2, rules), Reason.BRANCH, request_class, origin=1))
    tally.count(Opens(Extends(0), Reason.NEW, request_class))
    assert tally.classes == {request_class: 3}
    assert tally.misses == {Reason.NEW: 1}
    assert tally.matches == {"extends-by-rule": 1, "branch": 1, **{r.value: 2 for r in rules}}


def verdict(outcome: Outcome) -> tuple[int, str] | None:
    runner_up = outcome.runner_up
    return runner_up and (runner_up.conversation, runner_up.verdict)


def test_the_runner_up_is_told_with_what_spoke_against_it(desk: Desk) -> None:
    """Whatever the outcome, if anybody else was considered; and it is never the winner."""
    one = answered(desk, Q1, A1, Q2, A2)
    two = answered(desk, Q1, A1, Q3, A3)
    chat = asks_for("q1"), A1, asks_for("q2"), assistant("a2 [x](y)")
    three = answered(desk, *chat, hints=HERE)
    assert verdict(desk.route(Q1, A1, Q2, A2, OTHER)) is None, "nobody else was thought of"
    assert verdict(desk.route(OTHER)) is None
    by_rule = desk.route(Q1, A1, Q2, assistant("a2 x"), OTHER, hints=HERE)
    assert isinstance(by_rule, Joins)
    assert by_rule.conversation == three
    assert verdict(by_rule) in {(one, "diverges"), (two, "diverges")}
    branch = desk.route(Q1, A1, OTHER)
    assert isinstance(branch, Opens)
    assert branch.origin in {one, two, three}
    assert branch.runner_up is not None
    assert branch.runner_up.conversation != branch.origin
    assert desk.route(Q1, assistant("x"), Q2).runner_up is not None


def test_the_runner_up_of_a_withdrawal_is_another(desk: Desk) -> None:
    complete = answered(desk, Q1, A1, Q2, A2)
    cut = answered(desk, Q1, A1)
    desk.ask(Q1, A1, Q3)
    desk.cancel(cut)
    outcome = desk.route(Q1, A1, OTHER)
    assert outcome.reason is Reason.SUPERSEDES
    assert isinstance(outcome, Joins)
    assert (outcome.conversation, verdict(outcome)) == (cut, (complete, "diverges"))


def test_a_verdict_names_the_relation() -> None:
    """They are read in logs (docs/explanation/routing.md)."""
    assert [kind.__name__.lower() for kind in (Extends, Supersedes, Diverges)] == [
        "extends",
        "supersedes",
        "diverges",
    ]


# Any number of windows, at any time.


@attrs.define
class Window:
    """A faithful editor: it sends back what it was shown, and its next question."""

    record: tuple[Message, ...] = ()
    conversation: int = 0
    request: int = 0


@attrs.frozen
class Act:
    """A window asks; or, where its request is open, that ends so."""

    window: int
    question: str
    answer: str
    is_cancelled: bool


acts = st.lists(
    st.builds(Act, st.integers(0, 2), words, st.sampled_from(["", "a", "b", "ab"]), st.booleans()),
    min_size=10,
    max_size=40,
)


def settle(desk: Desk, window: Window, act: Act) -> None:
    end = desk.cancel if act.is_cancelled else desk.finish
    end(window.conversation, act.answer)
    if act.answer:
        window.record += (assistant(act.answer),)


def is_found_by_its_owner(history: History) -> bool:
    """Whether there is evidence of whose it is: more than a question that others may ask, too."""
    return history.is_acknowledged or history.phase is Phase.IDLE


def ask_and_check(desk: Desk, window: Window, question: str) -> None:
    known = list(window.record)
    incoming = (*known, user(question))
    shown = {key: history.shown for key, history in desk.histories.items()}
    answers = {key: history.answer for key, history in desk.histories.items()}
    twins = [
        key
        for key, history in desk.histories.items()
        if known and shown[key] == known and is_found_by_its_owner(history)
    ]
    key, outcome = desk.ask(*incoming)
    window.record, window.conversation = incoming, key
    window.request = int(desk.histories[key].request or 0)
    assert desk.histories[key].shown == [*incoming], "now it shows what the window shows"
    said = [*incoming[: outcome.match.new_from]]
    assert key in twins or not twins, "somebody has just this history, and was not found"
    match outcome:
        case Opens():
            pass
        case Joins(match=Extends() as match) if twins or not match.rules:
            assert shown[key] == said
            assert not match.rules, "a faithful echo needs none"
        case Joins(match=Extends(rules=rules)) if rules == ABSENT and shown[key][:-1] == said:
            assert shown[key][-1] == answers[key], "all but an answer cut short"
        case Joins(match=Extends()):
            ours = {m for m in said if m.role == "assistant"} & {*shown[key]}
            assert ours, "what differs is told by rules, and an answer proves it"
        case Joins(match=match):
            assert not match.rules
            assert shown[key][: match.new_from] == said


def let_windows_work(acts: list[Act]) -> Desk:
    desk = Desk()
    windows = [Window(), Window(), Window()]
    for act in acts:
        window = windows[act.window]
        history = desk.histories.get(window.conversation)
        if history is not None and history.request == window.request:
            settle(desk, window, act)
        else:
            ask_and_check(desk, window, act.question)
    asked = next(desk.requests) - 1
    assert desk.tally.classes.total() == desk.reasons.total() == asked
    assert desk.tally.misses[Reason.NEW] <= len(desk.histories) <= asked
    return desk


@given(acts)
def test_a_faithful_window_joins_only_what_shows_its_own_history(acts: list[Act]) -> None:
    """Windows that say the same may be taken for each other, but for nothing they did not say."""
    let_windows_work(acts)


@given(acts)
def test_windows_that_say_different_things_never_meet(acts: list[Act]) -> None:
    told_apart = [attrs.evolve(act, question=f"{act.window} {act.question}") for act in acts]
    desk = let_windows_work(told_apart)
    assert desk.tally.matches.keys() <= {Reason.EXTENDS.value}, "nobody is retried, none by a rule"
    assert len(desk.histories) == len({act.window for act in acts})


def test_a_session_that_was_found_though_no_conversation_was_is_counted_with_the_matches() -> None:
    tally = Tally()
    tally.count(Opens(Extends(2), Reason.NEW))
    tally.count_stored()
    assert tally.matches == {"stored": 1}
    assert tally.misses == {Reason.NEW: 1}
