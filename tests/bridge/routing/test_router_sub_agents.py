"""Sub-agents are led by the chat that waits; nobody goes on with a one-shot request."""

from __future__ import annotations

import pytest

from bridge.history.exchange import Extends
from bridge.history.machine import Phase
from bridge.history.message import Message
from bridge.routing.outcome import Candidate, Opens, Reason
from bridge.routing.request import Hints, RequestClass
from bridge.wire import ToolCallPart, ToolResultPart
from tests.bridge.desk import OTHER_AGENT, Desk
from tests.bridge.routing.chats import (
    A1,
    CALL,
    CALLED,
    OTHER,
    PARENT,
    Q1,
    Q2,
    RESULT,
    SUMMARY,
    waiting_parent,
)
from tests.strategies import user


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
    assert desk.has_ended(key)
    assert desk.histories[chat].phase is Phase.STREAMING


def test_nobody_joins_a_one_shot(desk: Desk) -> None:
    desk.ask(Q1, request_class=RequestClass.UTILITY)
    desk.finish(1, "a1")
    assert desk.route(Q1, A1, Q2) == Opens(Extends(2), Reason.NEW)


def test_a_sub_agent_is_led_by_the_conversation_that_waits(desk: Desk) -> None:
    parent = waiting_parent(desk, "c1")
    child, outcome = desk.ask(OTHER, hints=PARENT)
    assert outcome == Opens(Extends(0), Reason.SUB_AGENT, RequestClass.SUB_AGENT, origin=parent)
    assert desk.histories[child].committed == []
    desk.emit(child, CALL)
    desk.finish(child)
    assert not desk.has_ended(child), "it waits for a result"
    again, outcome = desk.ask(OTHER, CALLED, RESULT, hints=PARENT)
    assert (again, outcome.request_class) == (child, RequestClass.SUB_AGENT)
    desk.finish(child, "found it")
    assert desk.has_ended(child), "nobody asks a sub-agent twice"


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
        assert desk.has_ended(child)
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


def test_a_sub_agent_is_not_the_newest_branch_of_its_chat(desk: Desk) -> None:
    parent = waiting_parent(desk, "c1")
    desk.finish(desk.opened(OTHER, hints=PARENT), "done")
    summarised = SUMMARY, Message.of("assistant", [ToolCallPart("c1", "runSubagent", {})]), RESULT
    assert desk.joined(*summarised, hints=PARENT) == (parent, Reason.PENDING_CALL)
    desk.finish(parent, "a1")
    next_turn = Hints("c", run="r2", turn=2)
    assert desk.joined(SUMMARY, Q2, hints=next_turn) == (parent, Reason.TOLERANT)


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


def test_after_a_sub_agent_that_failed_another_one_is_led(desk: Desk) -> None:
    parent = waiting_parent(desk, "p1")
    desk.fail(desk.opened(OTHER, hints=PARENT))
    outcome = desk.route(OTHER, hints=PARENT)
    assert isinstance(outcome, Opens)
    assert (outcome.reason, outcome.origin) == (Reason.SUB_AGENT, parent)


def test_a_sub_agent_of_another_run_is_no_twin(desk: Desk) -> None:
    waiting_parent(desk, "p1")
    child = desk.opened(OTHER, hints=PARENT)
    desk.emit(child, CALL)
    desk.finish(child)
    assert desk.route(OTHER, hints=Hints("c", run="another")).reason is Reason.RETRY
