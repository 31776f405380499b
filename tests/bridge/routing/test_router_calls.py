"""Results of a tool call go to the conversation that made the call."""

from __future__ import annotations

from bridge.history.exchange import Extends
from bridge.history.message import Message
from bridge.history.rules import Rule
from bridge.routing.outcome import Joins, Opens, Reason
from bridge.wire import ToolCallPart, ToolResultPart
from tests.bridge.desk import OTHER_AGENT, Desk
from tests.bridge.routing.chats import (
    A1,
    A2,
    CALL,
    CALLED,
    OTHER,
    Q1,
    Q2,
    Q3,
    REQUEST_ONLY,
    RESULT,
    asks_for,
)


def test_results_find_the_conversation_that_made_the_call(desk: Desk) -> None:
    one, two = desk.opened(Q1), desk.opened(Q1)
    desk.emit(one, CALL)
    desk.finish(one)
    desk.emit(two, ToolCallPart("c2", "read", {}))
    desk.finish(two)
    assert desk[one].calls
    assert desk.joined(Q1, CALLED, RESULT) == (one, Reason.PENDING_CALL)
    assert not desk[one].calls
    assert desk[two].calls


def test_text_after_results_goes_where_the_results_go(desk: Desk) -> None:
    key = desk.opened(Q1)
    desk.emit(key, CALL)
    desk.finish(key)
    assert desk.joined(Q1, CALLED, RESULT, Q2) == (key, Reason.PENDING_CALL)


def test_a_call_is_pending_only_when_the_turn_waits_for_it(desk: Desk) -> None:
    key = desk.opened(Q1)
    desk.emit(key, CALL)
    assert not desk[key].calls
    desk.finish(key)
    assert desk[key].calls
    desk.ask(Q1, CALLED, RESULT)
    desk.finish(key, "a1")
    assert not desk[key].calls


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
