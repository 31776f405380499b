from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from agents.events import TURN_CANCELLED, CallTool, ToolAnswer
from agents.habits import MOST_MISSES
from agents.mcp.call_broker import (
    ANNOUNCED_SECONDS,
    CLOSED,
    MOST_CALLS,
    MOST_SECONDS,
    NO_TURN,
    SETTLE_SECONDS,
    TOO_MANY,
    BrokerEffect,
    CallBroker,
    Drop,
    Reply,
)


def call(number: int) -> CallTool:
    return CallTool(f"call-{number}", "read_file", {"n": number})


def open_broker(*, calls: int = 0) -> CallBroker:
    broker = CallBroker()
    broker.begin(0)
    for number in range(calls):
        assert broker.arrive(number, call(number), 0) == ()
    return broker


def ids(events: tuple[CallTool, ...]) -> list[str]:
    return [event.call_id for event in events]


@pytest.mark.limit("agents.mcp.call_broker.SETTLE_SECONDS")
def test_calls_that_come_together_go_out_together() -> None:
    broker = open_broker()
    broker.arrive("a", call(1), 1.0)
    broker.arrive("b", call(2), 1.04)
    assert broker.due == 1.04 + SETTLE_SECONDS
    assert (broker.waiting, broker.out) == (2, 0)
    assert ids(broker.emit(broker.due)) == ["call-1", "call-2"]
    assert (broker.waiting, broker.out, broker.due) == (0, 2, math.inf)
    assert broker.emit(2) == ()


@pytest.mark.limit("agents.mcp.call_broker.MOST_CALLS")
def test_calls_without_end_are_refused() -> None:
    broker = open_broker(calls=MOST_CALLS)
    assert broker.arrive("more", call(-1), 1) == (Reply("more", TOO_MANY, True),)
    broker.emit(1)
    assert broker.arrive("more", call(-1), 1) == (Reply("more", TOO_MANY, True),)
    broker.answer(ToolAnswer("call-0", "zero"))
    assert broker.arrive("more", call(-1), 1) == ()


def test_results_find_their_calls_in_any_order() -> None:
    broker = open_broker(calls=2)
    broker.emit(1)
    assert broker.answer(ToolAnswer("call-1", "one")) == (Reply(1, "one"),)
    assert broker.out == 1
    assert broker.answer(ToolAnswer("call-0", "zero", is_error=True)) == (Reply(0, "zero", True),)
    assert broker.out == 0


def test_a_late_call_goes_out_with_the_next_response_a_moment_after_it_began() -> None:
    broker = open_broker(calls=1)
    broker.emit(1)
    broker.arrive("late", call(5), 1.01)
    broker.answer(ToolAnswer("call-0", ""))
    broker.resume(9)
    assert broker.due == 9 + SETTLE_SECONDS
    assert ids(broker.emit(broker.due)) == ["call-5"]


def test_a_withdrawn_call_is_never_sent_out() -> None:
    broker = open_broker(calls=2)
    broker.withdraw(0)
    broker.withdraw("nobody")
    assert ids(broker.emit(1)) == ["call-1"]
    assert broker.answer(ToolAnswer("call-0", "")) == (Drop("call-0", "there is no such call"),)


def test_a_result_of_a_withdrawn_call_is_dropped_and_says_why() -> None:
    broker = open_broker(calls=1)
    broker.emit(1)
    broker.withdraw(0)
    dropped = broker.answer(ToolAnswer("call-0", ""))
    assert dropped == (Drop("call-0", "the agent has withdrawn the call"),)
    assert broker.answer(ToolAnswer("call-0", "")) == (Drop("call-0", "there is no such call"),)


def test_a_cancel_answers_everything_and_refuses_what_comes_after_it() -> None:
    broker = open_broker(calls=2)
    broker.emit(1)
    broker.arrive("c", call(3), 1)
    assert broker.cancel() == tuple(Reply(key, TURN_CANCELLED, True) for key in (0, 1, "c"))
    assert broker.arrive("d", call(4), 2) == (Reply("d", NO_TURN, True),)
    assert broker.answer(ToolAnswer("call-0", "")) == (Drop("call-0", TURN_CANCELLED),)
    assert (broker.out, broker.waiting, broker.emit(3)) == (0, 0, ())


def test_calls_before_the_first_turn_are_refused() -> None:
    assert CallBroker().arrive("a", call(1), 0) == (Reply("a", NO_TURN, True),)


def test_after_a_cancel_the_next_turn_is_as_good_as_new() -> None:
    broker = open_broker(calls=1)
    broker.emit(1)
    broker.cancel()
    broker.begin(5)
    assert broker.answer(ToolAnswer("call-0", "")) == (Drop("call-0", "there is no such call"),)
    broker.arrive("b", call(7), 5)
    assert ids(broker.emit(6)) == ["call-7"]


def test_calls_between_turns_wait_for_the_next_and_results_still_arrive() -> None:
    broker = open_broker(calls=1)
    broker.emit(1)
    broker.end()
    assert broker.arrive("b", call(7), 2) == ()
    assert (broker.due, broker.emit(3)) == (math.inf, ())
    assert broker.answer(ToolAnswer("call-0", "late")) == (Reply(0, "late"),)
    broker.begin(4)
    assert broker.due == 4 + SETTLE_SECONDS
    assert ids(broker.emit(broker.due)) == ["call-7"]


def test_the_end_of_a_cancelled_turn_does_not_let_calls_in_again() -> None:
    broker = open_broker()
    broker.cancel()
    broker.end()
    assert broker.arrive("a", call(1), 1) == (Reply("a", NO_TURN, True),)


def test_a_closed_desk_stays_closed() -> None:
    broker = open_broker(calls=1)
    assert broker.close() == (Reply(0, CLOSED, True),)
    broker.begin(1)
    broker.end()
    assert broker.cancel() == ()
    assert broker.arrive("a", call(1), 1) == (Reply("a", CLOSED, True),)


@pytest.mark.limit("agents.mcp.call_broker.ANNOUNCED_SECONDS")
def test_calls_that_are_announced_are_waited_for() -> None:
    broker = open_broker(calls=1)
    broker.announce(2)
    assert broker.due == ANNOUNCED_SECONDS
    broker.arrive("b", call(2), 0.2)
    assert broker.due == 0.2 + SETTLE_SECONDS
    broker.arrive("c", call(3), 0.21)  # more than were announced
    assert len(broker.emit(broker.due)) == 3


def test_an_agent_that_calls_one_by_one_is_waited_for_once() -> None:
    broker = open_broker(calls=1)
    broker.announce(2)
    broker.emit(ANNOUNCED_SECONDS)
    broker.answer(ToolAnswer("call-0", ""))
    broker.resume(1)
    broker.arrive("b", call(2), 1)
    broker.announce(2)
    assert broker.due == 1 + SETTLE_SECONDS


def test_an_agent_that_was_not_waited_for_is_trusted_further() -> None:
    broker = open_broker(calls=1)
    broker.announce(2)
    broker.emit(0.01)  # the user was asked something else
    broker.arrive("b", call(2), 1)
    broker.announce(3)
    assert broker.due == 1 + ANNOUNCED_SECONDS


@pytest.mark.limit("agents.mcp.call_broker.MOST_SECONDS")
@pytest.mark.parametrize("announced", [0, 1000])
def test_calls_that_come_without_end_hold_up_nothing_for_long(announced: int) -> None:
    broker = open_broker()
    broker.announce(announced)
    times = [5 + 0.04 * number for number in range(25)]
    for number, now in enumerate(times):
        assert broker.due > now
        broker.arrive(number, call(number), now)
    assert broker.due == 5 + MOST_SECONDS
    assert len(broker.emit(broker.due)) == len(times)
    broker.arrive("late", call(99), 7)
    broker.answer(ToolAnswer("call-0", ""))
    broker.resume(9)
    assert 9 + SETTLE_SECONDS <= broker.due <= 9 + ANNOUNCED_SECONDS
    broker.announce(broker.out + broker.waiting)
    assert broker.due == 9 + SETTLE_SECONDS, "that the agent was cut off is no fault of its own"


def announcing_broker() -> CallBroker:
    """Return an open broker of an agent that has announced calls before."""
    broker = open_broker()
    broker.habit.confirm()
    return broker


def test_a_call_that_overtakes_its_announcement_waits_for_it() -> None:
    broker = announcing_broker()
    broker.arrive("a", call(1), 1)
    assert broker.due == 1 + ANNOUNCED_SECONDS
    broker.announce(1, ["read_file"])
    assert broker.due == 1 + SETTLE_SECONDS, "which is over when that comes late"
    assert ids(broker.emit(1.2)) == ["call-1"]


def test_a_call_that_was_announced_before_is_not_delayed() -> None:
    broker = announcing_broker()
    broker.announce(1, ["read_file"])
    broker.arrive("a", call(1), 1)
    assert broker.due == 1 + SETTLE_SECONDS


def test_an_agent_that_never_announces_is_not_waited_for() -> None:
    broker = open_broker()
    for number in range(3):
        broker.arrive(number, call(number), number)
        assert broker.due == number + SETTLE_SECONDS
        broker.emit(broker.due)


def test_an_announcement_is_of_a_call_of_its_tool() -> None:
    broker = announcing_broker()
    broker.arrive("a", call(1), 1)
    broker.announce(1, ["another"])
    assert broker.due == 1 + ANNOUNCED_SECONDS
    broker.announce(2, ["read_file"])
    assert broker.due == 1 + ANNOUNCED_SECONDS, "the other one's call is still to come"
    broker.arrive("b", CallTool("call-2", "another", {}), 1.1)
    assert broker.due == 1.1 + SETTLE_SECONDS


def test_each_call_waits_for_an_announcement_of_its_own_and_no_longer_than_the_first() -> None:
    broker = announcing_broker()
    broker.arrive("a", call(1), 1)
    broker.arrive("b", call(2), 1.22)
    broker.announce(1, ["read_file"])
    assert broker.due == 1.22 + ANNOUNCED_SECONDS
    broker = announcing_broker()
    broker.arrive("a", call(1), 1)
    broker.arrive("b", call(2), 1.1)
    assert broker.due == 1 + ANNOUNCED_SECONDS


def test_an_agent_that_announces_too_late_is_waited_for_a_few_times() -> None:
    broker, waits = open_broker(), 0
    for number in range(10):
        now = float(number)
        broker.arrive(number, call(number), now)
        waits += broker.due == now + ANNOUNCED_SECONDS
        broker.emit(broker.due)
        if number % 2:
            broker.announce(1, ["read_file"])  # while the editor has the call
        broker.answer(ToolAnswer(f"call-{number}", ""))
        if not number % 2:
            broker.announce(1, ["read_file"])
    assert waits == MOST_MISSES


def test_a_call_that_was_announced_and_never_came_stands_for_no_other() -> None:
    broker = announcing_broker()
    broker.announce(1, ["read_file"])
    broker.announce(0)  # it has failed
    broker.arrive("a", call(1), 1)
    assert broker.due == 1 + ANNOUNCED_SECONDS


@pytest.mark.parametrize("end", [CallBroker.end, CallBroker.cancel])
def test_an_announcement_of_another_turn_stands_for_no_call(
    end: Callable[[CallBroker], Any],
) -> None:
    broker = announcing_broker()
    broker.announce(1, ["read_file"])
    end(broker)
    broker.begin(1)
    broker.arrive("a", call(1), 1)
    assert broker.due == 1 + ANNOUNCED_SECONDS


def test_a_call_that_came_between_responses_goes_out_as_soon_as_others() -> None:
    broker = announcing_broker()
    broker.arrive("a", call(1), 1)
    broker.emit(broker.due)
    broker.arrive("b", call(2), 2)
    broker.resume(9)
    assert broker.due == 9 + SETTLE_SECONDS


def test_what_was_announced_in_a_turn_is_forgotten_with_it() -> None:
    broker = open_broker()
    broker.announce(5)
    broker.end()
    broker.begin(1)
    broker.arrive("a", call(1), 1)
    assert broker.due == 1 + SETTLE_SECONDS


class Calls(RuleBasedStateMachine):
    """An agent, a host and a user who do what they like, and a ledger of what became of it."""

    def __init__(self) -> None:
        super().__init__()
        self.broker = CallBroker()
        self.now = 0.0
        self.arrived: list[int] = []
        self.withdrawn: set[int] = set()
        self.replied: dict[int, Any] = {}
        self.emitted: list[str] = []
        self.brought: set[str] = set()
        self.is_open = False

    def take(self, effects: Any, brought: str | None = None) -> None:
        effect: BrokerEffect
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
        if self.broker.due <= self.now:
            going = ids(self.broker.emit(self.now))
            assert going, "it was due and nothing went out"
            assert self.is_open
            assert not {f"call-{key}" for key in self.withdrawn | self.replied.keys()} & set(going)
            self.emitted += going

    @rule()
    def the_agent_calls(self) -> None:
        key = len(self.arrived)
        self.arrived.append(key)
        self.take(self.broker.arrive(key, call(key), self.now))

    @precondition(lambda self: self.arrived)
    @rule(data=st.data())
    def the_agent_withdraws(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(self.arrived))
        self.broker.withdraw(key)
        if key not in self.replied:
            self.withdrawn.add(key)

    @rule(count=st.integers(0, 5), tools=st.lists(st.sampled_from(["read_file", "b"]), max_size=3))
    def the_agent_announces(self, count: int, tools: list[str]) -> None:
        self.broker.announce(count, tools)

    @rule()
    def a_turn_begins(self) -> None:
        self.broker.begin(self.now)
        self.is_open = True

    @rule()
    def a_request_comes(self) -> None:
        self.broker.resume(self.now)

    @precondition(lambda self: self.emitted)
    @rule(data=st.data())
    def the_host_brings_a_result(self, data: st.DataObject) -> None:
        call_id = data.draw(st.sampled_from(self.emitted))
        effects = self.broker.answer(ToolAnswer(call_id, call_id))
        assert len(effects) == 1
        self.take(effects, call_id)
        self.brought.add(call_id)

    @rule()
    def the_host_brings_nonsense(self) -> None:
        assert isinstance(self.broker.answer(ToolAnswer("nonsense", 1))[0], Drop)

    @rule()
    def the_turn_ends(self) -> None:
        self.broker.end()
        self.is_open = False

    @rule()
    def the_user_cancels(self) -> None:
        self.take(self.broker.cancel())
        self.is_open = False
        assert self.broker.out == self.broker.waiting == 0

    @invariant()
    def nothing_is_lost(self) -> None:
        live = [k for k in self.arrived if k not in self.replied and k not in self.withdrawn]
        assert self.broker.out + self.broker.waiting == len(live)
        assert self.broker.out == sum(f"call-{key}" in self.emitted for key in live)
        if self.is_open and self.broker.waiting:
            assert self.broker.due <= self.now + MOST_SECONDS, "it would wait for long"
        assert len(set(self.emitted)) == len(self.emitted)

    def teardown(self) -> None:
        self.take(self.broker.close())
        assert set(self.arrived) == self.replied.keys() | self.withdrawn
        assert not self.replied.keys() & self.withdrawn
        for call_id in self.brought:
            key = int(call_id.removeprefix("call-"))
            assert key in self.replied or key in self.withdrawn
        for call_id in self.emitted:
            self.broker.answer(ToolAnswer(call_id, ""))
        assert not vars_left(self.broker)


SLOTS = ("_calls", "_ended", "_expected", "_overdue")


def vars_left(broker: CallBroker) -> list[Any]:
    """Return whatever the broker still holds."""
    return [held for held in (getattr(broker, slot) for slot in SLOTS) if held]


TestCalls = Calls.TestCase


@pytest.mark.parametrize("calls", [1, 40])
def test_a_turn_that_begins_forgets_whose_results_never_came(calls: int) -> None:
    broker = open_broker(calls=calls)
    broker.emit(1)
    for key in range(calls):
        broker.withdraw(key)
    broker.end()
    broker.begin(9)
    assert not vars_left(broker)
