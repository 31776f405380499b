"""Which conversations are candidates, why one is taken, and who came second."""

from __future__ import annotations

import pytest

from bridge.history.events import Ask, Cancel
from bridge.history.exchange import Diverges, Extends, Supersedes
from bridge.history.machine import History
from bridge.history.message import Message
from bridge.history.progress_rounds import CALL_PREFIX
from bridge.history.rules import Rule
from bridge.routing.index import Index
from bridge.routing.outcome import Joins, Opens, Outcome, Reason, RoutedRequest, Tally
from bridge.routing.request import Harness, Hints, RequestClass, RequestSource
from bridge.routing.router import MOST_CANDIDATES, route
from bridge.wire import PROGRESS_TOOL, ToolCallPart, ToolResultPart
from tests.bridge.desk import AGENT, Desk
from tests.bridge.routing.chats import (
    A1,
    A2,
    A3,
    ABSENT,
    CALL,
    CALLED,
    HERE,
    OTHER,
    PARENT,
    Q1,
    Q2,
    Q3,
    REQUEST_ONLY,
    RESULT,
    answered,
    asks_for,
)
from tests.strategies import assistant, user


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


def test_a_history_to_which_nothing_happened_is_found_by_nothing() -> None:
    index = Index()
    index.place(1, AGENT, History())
    assert route(index, RoutedRequest(AGENT, (Q1,))) == Opens(Extends(0), Reason.NEW)
    assert not index[1].calls


@pytest.mark.limit("bridge.routing.router.MOST_CANDIDATES")
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
    others: int, found: bool
) -> None:
    """Many windows ask the same and wait; the request repeats what the oldest asked."""
    index = Index()
    for key in range(1, 1 + MOST_CANDIDATES + others):
        history = History()
        history.apply(Ask(key, (Q1,), Extends(0)))
        if key == 1:
            history.apply(Cancel(key))
        index.place(key, AGENT, history)
    assert isinstance(route(index, RoutedRequest(AGENT, (Q1,))), Joins) is found


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
    shown = ToolCallPart(f"{CALL_PREFIX}1", PROGRESS_TOOL, {})
    long = desk.opened(user("long"))
    desk.emit(long, shown)
    desk.finish(long)
    assert not desk[long].awaits_results, "the host may go on without the answer"
    goes_on = Message.of("user", [ToolResultPart(shown.tool_call_id)])
    desk.joined(user("long"), Message.of("assistant", [shown]), goes_on)
    desk.opened(user("again"), hints=Hints(session="s"))
    desk.joined(user("again"), hints=Hints(session="s"))
    misses = [Reason.NEW, Reason.UNPROVEN, Reason.ONE_SHOT, Reason.SUB_AGENT]
    assert desk.reasons.keys() == set(Reason)
    assert desk.tally.misses == {reason: desk.reasons[reason] for reason in misses}
    assert desk.tally.rounds == desk.reasons[Reason.PROGRESS]
    assert desk.tally.matches == {
        **{
            reason.value: times
            for reason, times in desk.reasons.items()
            if reason not in (*misses, Reason.PROGRESS)
        },
        Rule.ANSWER_ABSENT.value: 2,  # at once, and when the whole was told in other words
        Rule.REQUEST_ONLY.value: 1,
    }
    assert desk.tally.classes == {
        RequestClass.MAIN: desk.reasons.total() - 2 - desk.tally.rounds,
        RequestClass.UTILITY: 1,
        RequestClass.SUB_AGENT: 1,
    }


@pytest.mark.parametrize("rules", [frozenset[Rule](), ABSENT, ABSENT | REQUEST_ONLY])
@pytest.mark.parametrize("request_class", RequestClass)
def test_each_outcome_is_counted_by_its_class_its_reason_and_its_rules(
    rules: frozenset[Rule], request_class: RequestClass
) -> None:
    tally = Tally()
    source, newest = (
        RequestSource(Harness.AGENT_HOST, has_progress_tool=True),
        RequestSource(Harness.LOCAL),
    )
    tally.count(Joins(1, Extends(2, rules), Reason.TOLERANT, request_class), source)
    tally.count(Opens(Extends(2, rules), Reason.BRANCH, request_class, origin=1), source)
    tally.count(Opens(Extends(0), Reason.NEW, request_class), newest)
    assert tally.classes == {request_class: 3}
    is_main = request_class is RequestClass.MAIN
    assert tally.harnesses == ({Harness.AGENT_HOST: 2, Harness.LOCAL: 1} if is_main else {})
    assert tally.newest == (newest if is_main else None)
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
