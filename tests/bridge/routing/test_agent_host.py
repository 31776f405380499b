"""Whose conversation is a request of VS Code's Agent Host? Its folder names the chat."""

from __future__ import annotations

import pytest

from bridge.history.exchange import Extends
from bridge.history.message import Message
from bridge.history.rules import Rule
from bridge.routing.outcome import Opens, Reason
from bridge.routing.request import Hints, RequestClass
from bridge.wire import ToolCallPart
from tests.bridge.desk import NOBODY, Desk
from tests.strategies import assistant, user

Q1, Q2, Q3, OTHER = user("q1"), user("q2"), user("q3"), user("other")
A1, A2 = assistant("a1"), assistant("a2")
CALL = ToolCallPart("c1", "read", {})
CALLED = Message.of("assistant", [CALL])
CHAT, FORK = Hints(session="s"), Hints(session="t")
UNSEEN = frozenset({Rule.ANSWER_UNSEEN})
SUB_AGENT = RequestClass.SUB_AGENT


@pytest.fixture
def desk() -> Desk:
    return Desk()


def answered(desk: Desk, *chat: Message, hints: Hints) -> int:
    """Lead a chat of questions and answers, in turn, and return whose it is."""
    key = 0
    for index in range(0, len(chat), 2):
        key, _ = desk.ask(*chat[: index + 1], hints=hints)
        desk.finish(key, chat[index + 1].text)
    return key


def test_a_stop_that_nobody_told_us_of_keeps_the_session(desk: Desk) -> None:
    key = answered(desk, Q1, A1, hints=CHAT)
    joins, outcome = desk.ask(Q1, Q2, hints=CHAT)
    assert (joins, outcome.match) == (key, Extends(1, UNSEEN))
    desk.finish(key, "a2")
    assert [one.answer for one in desk.histories[key].exchanges] == [A1, A2], (
        "it knows what it said"
    )
    assert desk.joined(Q1, Q2, A2, Q3, hints=CHAT) == (key, Reason.EXTENDS)


@pytest.mark.parametrize("hints", [NOBODY, FORK, Hints(conversation="c"), Hints(chat="log")])
def test_only_the_chat_itself_leaves_out_a_whole_answer(desk: Desk, hints: Hints) -> None:
    answered(desk, Q1, A1, hints=CHAT)
    outcome = desk.route(Q1, Q2, hints=hints)
    assert isinstance(outcome, Opens)
    assert not outcome.match.rules


def test_a_message_ends_the_first_answer_of_the_chat_that_it_names(desk: Desk) -> None:
    key = desk.opened(Q1, hints=CHAT)
    assert isinstance(desk.route(Q1, Q2, hints=FORK), Opens)
    assert desk.joined(Q1, Q2, hints=CHAT) == (key, Reason.EXTENDS)


def dated(words: str, minute: int) -> Message:
    date = f"2030-01-02T03:{minute:02}:00.000+00:00"
    return user(f"<current_datetime>{date}</current_datetime>\n\n{words}")


def test_a_question_that_is_sent_anew_while_its_turn_runs_stays_in_its_chat(desk: Desk) -> None:
    """The user takes it back and types the same: unlike a repeat it has another date."""
    key = desk.opened(dated("q1", 1), hints=CHAT)
    assert isinstance(desk.route(dated("q1", 2), hints=FORK), Opens)
    assert desk.joined(dated("q1", 2), hints=CHAT) == (key, Reason.SUPERSEDES)


def test_a_repeat_by_the_host_joins_the_turn_that_runs(desk: Desk) -> None:
    key = desk.opened(Q1, hints=CHAT)
    assert isinstance(desk.route(Q1, hints=FORK), Opens)
    assert desk.joined(Q1, hints=CHAT) == (key, Reason.REPEAT)
    desk.finish(key, "a1")
    assert desk.joined(Q1, A1, Q2, hints=CHAT) == (key, Reason.EXTENDS)


def test_going_back_behind_a_summary_continues_no_equal_question_after_it(desk: Desk) -> None:
    """The summary is no preamble: what it stands for is told again, in other words."""
    summary = user("Some of the conversation history has been summarized to free up context.")
    desk.opened(summary, Q1, hints=CHAT)
    assert isinstance(desk.route(dated("q1", 1), dated("q1", 2), hints=CHAT), Opens)


def test_a_fork_with_another_folder_branches_off(desk: Desk) -> None:
    key = answered(desk, Q1, A1, Q2, A2, hints=CHAT)
    outcome = desk.route(Q1, A1, Q2, A2, Q3, hints=FORK)
    assert isinstance(outcome, Opens)
    assert (outcome.reason, outcome.origin, outcome.shared) == (Reason.BRANCH, key, 2)


def test_a_sub_agent_is_none_of_its_chat_though_it_names_it(desk: Desk) -> None:
    chat = answered(desk, Q1, A1, hints=CHAT)
    sub, outcome = desk.ask(Q1, hints=CHAT, request_class=SUB_AGENT)
    assert (sub != chat, outcome.reason) == (True, Reason.SUB_AGENT)
    desk.emit(sub, CALL)
    desk.finish(sub)
    assert desk.joined(Q1, A1, Q2, hints=CHAT) == (chat, Reason.EXTENDS)
    assert isinstance(desk.route(Q1, CALLED, Q2, hints=CHAT), Opens)


@pytest.mark.parametrize("hints", [CHAT, NOBODY])
def test_sub_agents_of_the_agent_host_with_one_task_stay_apart(desk: Desk, hints: Hints) -> None:
    """An explorer doesn't even name its chat."""
    one, _ = desk.ask(OTHER, hints=hints, request_class=SUB_AGENT)
    two, _ = desk.ask(OTHER, hints=hints, request_class=SUB_AGENT)
    desk.emit(one, CALL)
    desk.finish(one)
    three, outcome = desk.ask(OTHER, hints=hints, request_class=SUB_AGENT)
    assert len({one, two, three}) == 3
    assert outcome.reason is Reason.SUB_AGENT


def test_the_agent_hosts_sub_agent_has_the_parent_that_waits(desk: Desk) -> None:
    parent = desk.opened(Q1, hints=CHAT)
    desk.emit(parent, CALL)
    desk.finish(parent)
    outcome = desk.route(OTHER, hints=CHAT, request_class=SUB_AGENT)
    assert outcome == Opens(Extends(0), Reason.SUB_AGENT, SUB_AGENT, origin=parent)


def test_a_chat_keeps_its_session_when_it_changes_harness(desk: Desk) -> None:
    key = answered(desk, Q1, A1, hints=Hints("c", "r", 1, "log"))
    assert desk.joined(Q1, A1, Q2, hints=CHAT) == (key, Reason.EXTENDS)
    desk.finish(key, "a2")
    back = Hints("d", "r", 3, "another log")
    assert desk.joined(Q1, A1, Q2, A2, Q3, hints=back) == (key, Reason.EXTENDS)
