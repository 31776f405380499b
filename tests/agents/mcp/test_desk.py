from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from agents.events import CallTool, ToolAnswer
from agents.habits import MOST_MISSES
from agents.mcp.desk import (
    ANNOUNCED_SECONDS,
    CANCELLED,
    CLOSED,
    MOST_CALLS,
    MOST_SECONDS,
    NO_TURN,
    SETTLE_SECONDS,
    TOO_MANY,
    Desk,
    Drop,
    Effect,
    Reply,
)


def call(number: int) -> CallTool:
    return CallTool(f"call-{number}", "read_file", {"n": number})


def open_desk(*, calls: int = 0) -> Desk:
    desk = Desk()
    desk.begin(0)
    for number in range(calls):
        assert desk.arrive(number, call(number), 0) == ()
    return desk


def ids(events: tuple[CallTool, ...]) -> list[str]:
    return [event.call_id for event in events]


@pytest.mark.limit("agents.mcp.desk.SETTLE_SECONDS")
def test_calls_that_come_together_go_out_together() -> None:
    desk = open_desk()
    desk.arrive("a", call(1), 1.0)
    desk.arrive("b", call(2), 1.04)
    assert desk.due == 1.04 + SETTLE_SECONDS
    assert (desk.waiting, desk.out) == (2, 0)
    assert ids(desk.emit(desk.due)) == ["call-1", "call-2"]
    assert (desk.waiting, desk.out, desk.due) == (0, 2, math.inf)
    assert desk.emit(2) == ()


@pytest.mark.limit("agents.mcp.desk.MOST_CALLS")
def test_calls_without_end_are_refused() -> None:
    desk = open_desk(calls=MOST_CALLS)
    assert desk.arrive("more", call(-1), 1) == (Reply("more", TOO_MANY, True),)
    desk.emit(1)
    assert desk.arrive("more", call(-1), 1) == (Reply("more", TOO_MANY, True),)
    desk.answer(ToolAnswer("call-0", "zero"))
    assert desk.arrive("more", call(-1), 1) == ()


def test_results_find_their_calls_in_any_order() -> None:
    desk = open_desk(calls=2)
    desk.emit(1)
    assert desk.answer(ToolAnswer("call-1", "one")) == (Reply(1, "one"),)
    assert desk.out == 1
    assert desk.answer(ToolAnswer("call-0", "zero", is_error=True)) == (Reply(0, "zero", True),)
    assert desk.out == 0


def test_a_late_call_goes_out_with_the_next_response_a_moment_after_it_began() -> None:
    desk = open_desk(calls=1)
    desk.emit(1)
    desk.arrive("late", call(5), 1.01)
    desk.answer(ToolAnswer("call-0", ""))
    desk.resume(9)
    assert desk.due == 9 + SETTLE_SECONDS
    assert ids(desk.emit(desk.due)) == ["call-5"]


def test_a_withdrawn_call_is_never_sent_out() -> None:
    desk = open_desk(calls=2)
    desk.withdraw(0)
    desk.withdraw("nobody")
    assert ids(desk.emit(1)) == ["call-1"]
    assert desk.answer(ToolAnswer("call-0", "")) == (Drop("call-0", "there is no such call"),)


def test_a_result_of_a_withdrawn_call_is_dropped_and_says_why() -> None:
    desk = open_desk(calls=1)
    desk.emit(1)
    desk.withdraw(0)
    dropped = desk.answer(ToolAnswer("call-0", ""))
    assert dropped == (Drop("call-0", "the agent has withdrawn the call"),)
    assert desk.answer(ToolAnswer("call-0", "")) == (Drop("call-0", "there is no such call"),)


def test_a_cancel_answers_everything_and_refuses_what_comes_after_it() -> None:
    desk = open_desk(calls=2)
    desk.emit(1)
    desk.arrive("c", call(3), 1)
    assert desk.cancel() == tuple(Reply(key, CANCELLED, True) for key in (0, 1, "c"))
    assert desk.arrive("d", call(4), 2) == (Reply("d", NO_TURN, True),)
    assert desk.answer(ToolAnswer("call-0", "")) == (Drop("call-0", CANCELLED),)
    assert (desk.out, desk.waiting, desk.emit(3)) == (0, 0, ())


def test_calls_before_the_first_turn_are_refused() -> None:
    assert Desk().arrive("a", call(1), 0) == (Reply("a", NO_TURN, True),)


def test_after_a_cancel_the_next_turn_is_as_good_as_new() -> None:
    desk = open_desk(calls=1)
    desk.emit(1)
    desk.cancel()
    desk.begin(5)
    assert desk.answer(ToolAnswer("call-0", "")) == (Drop("call-0", "there is no such call"),)
    desk.arrive("b", call(7), 5)
    assert ids(desk.emit(6)) == ["call-7"]


def test_calls_between_turns_wait_for_the_next_and_results_still_arrive() -> None:
    desk = open_desk(calls=1)
    desk.emit(1)
    desk.end()
    assert desk.arrive("b", call(7), 2) == ()
    assert (desk.due, desk.emit(3)) == (math.inf, ())
    assert desk.answer(ToolAnswer("call-0", "late")) == (Reply(0, "late"),)
    desk.begin(4)
    assert desk.due == 4 + SETTLE_SECONDS
    assert ids(desk.emit(desk.due)) == ["call-7"]


def test_the_end_of_a_cancelled_turn_does_not_let_calls_in_again() -> None:
    desk = open_desk()
    desk.cancel()
    desk.end()
    assert desk.arrive("a", call(1), 1) == (Reply("a", NO_TURN, True),)


def test_a_closed_desk_stays_closed() -> None:
    desk = open_desk(calls=1)
    assert desk.close() == (Reply(0, CLOSED, True),)
    desk.begin(1)
    desk.end()
    assert desk.cancel() == ()
    assert desk.arrive("a", call(1), 1) == (Reply("a", CLOSED, True),)


@pytest.mark.limit("agents.mcp.desk.ANNOUNCED_SECONDS")
def test_calls_that_are_announced_are_waited_for() -> None:
    desk = open_desk(calls=1)
    desk.announce(2)
    assert desk.due == ANNOUNCED_SECONDS
    desk.arrive("b", call(2), 0.2)
    assert desk.due == 0.2 + SETTLE_SECONDS
    desk.arrive("c", call(3), 0.21)  # more than were announced
    assert len(desk.emit(desk.due)) == 3


def test_an_agent_that_calls_one_by_one_is_waited_for_once() -> None:
    desk = open_desk(calls=1)
    desk.announce(2)
    desk.emit(ANNOUNCED_SECONDS)
    desk.answer(ToolAnswer("call-0", ""))
    desk.resume(1)
    desk.arrive("b", call(2), 1)
    desk.announce(2)
    assert desk.due == 1 + SETTLE_SECONDS


def test_an_agent_that_was_not_waited_for_is_trusted_further() -> None:
    desk = open_desk(calls=1)
    desk.announce(2)
    desk.emit(0.01)  # the user was asked something else
    desk.arrive("b", call(2), 1)
    desk.announce(3)
    assert desk.due == 1 + ANNOUNCED_SECONDS


@pytest.mark.limit("agents.mcp.desk.MOST_SECONDS")
@pytest.mark.parametrize("announced", [0, 1000])
def test_calls_that_come_without_end_hold_up_nothing_for_long(announced: int) -> None:
    desk = open_desk()
    desk.announce(announced)
    times = [5 + 0.04 * number for number in range(25)]
    for number, now in enumerate(times):
        assert desk.due > now
        desk.arrive(number, call(number), now)
    assert desk.due == 5 + MOST_SECONDS
    assert len(desk.emit(desk.due)) == len(times)
    desk.arrive("late", call(99), 7)
    desk.answer(ToolAnswer("call-0", ""))
    desk.resume(9)
    assert 9 + SETTLE_SECONDS <= desk.due <= 9 + ANNOUNCED_SECONDS
    desk.announce(desk.out + desk.waiting)
    assert desk.due == 9 + SETTLE_SECONDS, "that the agent was cut off is no fault of its own"


def announcing_desk() -> Desk:
    """Return an open desk of an agent that has announced calls before."""
    desk = open_desk()
    desk.habit.confirm()
    return desk


def test_a_call_that_overtakes_its_announcement_waits_for_it() -> None:
    desk = announcing_desk()
    desk.arrive("a", call(1), 1)
    assert desk.due == 1 + ANNOUNCED_SECONDS
    desk.announce(1, ["read_file"])
    assert desk.due == 1 + SETTLE_SECONDS, "which is over when that comes late"
    assert ids(desk.emit(1.2)) == ["call-1"]


def test_a_call_that_was_announced_before_is_not_delayed() -> None:
    desk = announcing_desk()
    desk.announce(1, ["read_file"])
    desk.arrive("a", call(1), 1)
    assert desk.due == 1 + SETTLE_SECONDS


def test_an_agent_that_never_announces_is_not_waited_for() -> None:
    desk = open_desk()
    for number in range(3):
        desk.arrive(number, call(number), number)
        assert desk.due == number + SETTLE_SECONDS
        desk.emit(desk.due)


def test_an_announcement_is_of_a_call_of_its_tool() -> None:
    desk = announcing_desk()
    desk.arrive("a", call(1), 1)
    desk.announce(1, ["another"])
    assert desk.due == 1 + ANNOUNCED_SECONDS
    desk.announce(2, ["read_file"])
    assert desk.due == 1 + ANNOUNCED_SECONDS, "the other one's call is still to come"
    desk.arrive("b", CallTool("call-2", "another", {}), 1.1)
    assert desk.due == 1.1 + SETTLE_SECONDS


def test_each_call_waits_for_an_announcement_of_its_own_and_no_longer_than_the_first() -> None:
    desk = announcing_desk()
    desk.arrive("a", call(1), 1)
    desk.arrive("b", call(2), 1.22)
    desk.announce(1, ["read_file"])
    assert desk.due == 1.22 + ANNOUNCED_SECONDS
    desk = announcing_desk()
    desk.arrive("a", call(1), 1)
    desk.arrive("b", call(2), 1.1)
    assert desk.due == 1 + ANNOUNCED_SECONDS


def test_an_agent_that_announces_too_late_is_waited_for_a_few_times() -> None:
    desk, waits = open_desk(), 0
    for number in range(10):
        now = float(number)
        desk.arrive(number, call(number), now)
        waits += desk.due == now + ANNOUNCED_SECONDS
        desk.emit(desk.due)
        if number % 2:
            desk.announce(1, ["read_file"])  # while the editor has the call
        desk.answer(ToolAnswer(f"call-{number}", ""))
        if not number % 2:
            desk.announce(1, ["read_file"])
    assert waits == MOST_MISSES


def test_a_call_that_was_announced_and_never_came_stands_for_no_other() -> None:
    desk = announcing_desk()
    desk.announce(1, ["read_file"])
    desk.announce(0)  # it has failed
    desk.arrive("a", call(1), 1)
    assert desk.due == 1 + ANNOUNCED_SECONDS


@pytest.mark.parametrize("end", [Desk.end, Desk.cancel])
def test_an_announcement_of_another_turn_stands_for_no_call(end: Callable[[Desk], Any]) -> None:
    desk = announcing_desk()
    desk.announce(1, ["read_file"])
    end(desk)
    desk.begin(1)
    desk.arrive("a", call(1), 1)
    assert desk.due == 1 + ANNOUNCED_SECONDS


def test_a_call_that_came_between_responses_goes_out_as_soon_as_others() -> None:
    desk = announcing_desk()
    desk.arrive("a", call(1), 1)
    desk.emit(desk.due)
    desk.arrive("b", call(2), 2)
    desk.resume(9)
    assert desk.due == 9 + SETTLE_SECONDS


def test_what_was_announced_in_a_turn_is_forgotten_with_it() -> None:
    desk = open_desk()
    desk.announce(5)
    desk.end()
    desk.begin(1)
    desk.arrive("a", call(1), 1)
    assert desk.due == 1 + SETTLE_SECONDS


class Calls(RuleBasedStateMachine):
    """An agent, a host and a user who do what they like, and a ledger of what became of it."""

    def __init__(self) -> None:
        super().__init__()
        self.desk = Desk()
        self.now = 0.0
        self.arrived: list[int] = []
        self.withdrawn: set[int] = set()
        self.replied: dict[int, Any] = {}
        self.emitted: list[str] = []
        self.brought: set[str] = set()
        self.is_open = False

    def take(self, effects: Any, brought: str | None = None) -> None:
        effect: Effect
        for effect in effects:
            match effect:
                case Reply(key=key, result=result, is_error=is_error):
                    assert key not in self.replied, "answered twice"
                    assert key not in self.withdrawn, "answered though nobody waits"
                    self.replied[key] = result
                    assert is_error or f"call-{key}" == brought, "somebody else's result"
                case Drop(call_id=call_id, reason=reason):
                    assert call_id == brought
                    assert reason

    @rule(seconds=st.sampled_from([0.0, 0.01, 0.06, 0.3]))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds
        if self.desk.due <= self.now:
            going = ids(self.desk.emit(self.now))
            assert going, "it was due and nothing went out"
            assert self.is_open
            assert not {f"call-{key}" for key in self.withdrawn | self.replied.keys()} & set(going)
            self.emitted += going

    @rule()
    def the_agent_calls(self) -> None:
        key = len(self.arrived)
        self.arrived.append(key)
        self.take(self.desk.arrive(key, call(key), self.now))

    @precondition(lambda self: self.arrived)
    @rule(data=st.data())
    def the_agent_withdraws(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(self.arrived))
        self.desk.withdraw(key)
        if key not in self.replied:
            self.withdrawn.add(key)

    @rule(count=st.integers(0, 5), tools=st.lists(st.sampled_from(["read_file", "b"]), max_size=3))
    def the_agent_announces(self, count: int, tools: list[str]) -> None:
        self.desk.announce(count, tools)

    @rule()
    def a_turn_begins(self) -> None:
        self.desk.begin(self.now)
        self.is_open = True

    @rule()
    def a_request_comes(self) -> None:
        self.desk.resume(self.now)

    @precondition(lambda self: self.emitted)
    @rule(data=st.data())
    def the_host_brings_a_result(self, data: st.DataObject) -> None:
        call_id = data.draw(st.sampled_from(self.emitted))
        effects = self.desk.answer(ToolAnswer(call_id, call_id))
        assert len(effects) == 1
        self.take(effects, call_id)
        self.brought.add(call_id)

    @rule()
    def the_host_brings_nonsense(self) -> None:
        assert isinstance(self.desk.answer(ToolAnswer("nonsense", 1))[0], Drop)

    @rule()
    def the_turn_ends(self) -> None:
        self.desk.end()
        self.is_open = False

    @rule()
    def the_user_cancels(self) -> None:
        self.take(self.desk.cancel())
        self.is_open = False
        assert self.desk.out == self.desk.waiting == 0

    @invariant()
    def nothing_is_lost(self) -> None:
        live = [k for k in self.arrived if k not in self.replied and k not in self.withdrawn]
        assert self.desk.out + self.desk.waiting == len(live)
        assert self.desk.out == sum(f"call-{key}" in self.emitted for key in live)
        if self.is_open and self.desk.waiting:
            assert self.desk.due <= self.now + MOST_SECONDS, "it would wait for long"
        assert len(set(self.emitted)) == len(self.emitted)

    def teardown(self) -> None:
        self.take(self.desk.close())
        assert set(self.arrived) == self.replied.keys() | self.withdrawn
        assert not self.replied.keys() & self.withdrawn
        for call_id in self.brought:
            key = int(call_id.removeprefix("call-"))
            assert key in self.replied or key in self.withdrawn
        for call_id in self.emitted:
            self.desk.answer(ToolAnswer(call_id, ""))
        assert not vars_left(self.desk)


SLOTS = ("_calls", "_ended", "_expected", "_overdue")


def vars_left(desk: Desk) -> list[Any]:
    """Return whatever the desk still holds."""
    return [held for held in (getattr(desk, slot) for slot in SLOTS) if held]


TestCalls = Calls.TestCase


@pytest.mark.parametrize("calls", [1, 40])
def test_a_turn_that_begins_forgets_whose_results_never_came(calls: int) -> None:
    desk = open_desk(calls=calls)
    desk.emit(1)
    for key in range(calls):
        desk.withdraw(key)
    desk.end()
    desk.begin(9)
    assert not vars_left(desk)
