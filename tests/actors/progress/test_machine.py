"""The decisions of a paced turn, without a clock and without an agent."""

from __future__ import annotations

import math
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.progress.machine import (
    TRANSITIONS,
    PacedEvent,
    PacedMachine,
    PacedState,
    PacedStep,
    unasked,
)
from actors.progress.pace import FORM_SECONDS, LONGEST_SECONDS
from agents.events import (
    AskPermission,
    Await,
    Batch,
    CallTool,
    Counted,
    Elicit,
    ElicitAnswer,
    Event,
    PermissionAnswer,
    Prompt,
    Say,
    Stop,
    TakeBack,
    Think,
    ToolAnswer,
)
from bridge.wire import PROGRESS_TOOL

PACED = Prompt((), is_paced=True)
READ = CallTool("a", "read_file", {})
ASK = AskPermission("b", "Delete it")
FORM = Elicit("c", "Your name?", {})


def machine() -> PacedMachine:
    made = PacedMachine(PACED)
    made.respond(PACED, 0)
    return made


# The table.


def test_the_machine_has_a_cell_for_every_state_and_event() -> None:
    assert {(state, event) for state, row in TRANSITIONS.items() for event in row} == {
        (state, event) for state in PacedState for event in PacedEvent
    }


@pytest.mark.parametrize("last", PacedEvent)
@pytest.mark.parametrize("before", [*product(PacedEvent, repeat=3)])
def test_the_agent_is_told_to_stop_and_to_go_on_as_two_facts_say(
    before: tuple[PacedEvent, ...], last: PacedEvent
) -> None:
    """Every cell: whether the agent was told to stop by itself, and whether the chat cancelled."""
    made, is_stopped, is_cancelled = machine(), False, False
    for event in (*before, last):
        match event:
            case PacedEvent.NO_RESULT:
                expected = () if is_cancelled else (PacedStep.STOP,)
                is_stopped = is_stopped or not is_cancelled
            case PacedEvent.CANCEL:
                expected = () if is_stopped else (PacedStep.STOP,)
                is_cancelled = True
            case PacedEvent.CANCELLED_END:
                goes_on = is_stopped and not is_cancelled
                expected = (PacedStep.GO_ON,) if goes_on else ()
                is_stopped = is_stopped and not goes_on
        assert made.apply(event) == expected
        assert (made.is_stopped, made.is_cancelled) == (is_stopped, is_cancelled)
        assert (made.due == math.inf) == is_cancelled


# The ends of responses.


@pytest.mark.parametrize(
    ("batch", "due"),
    [
        ((), LONGEST_SECONDS),
        ((Say("x"),), 2),
        ((Think("x"),), 2),
        ((READ,), LONGEST_SECONDS),
        ((Say("x"), ASK), LONGEST_SECONDS),
        ((Say("x"), FORM), FORM_SECONDS),
        ((Say("x"), FORM, TakeBack("c")), 2),
    ],
)
def test_a_response_ends_soon_after_words_unless_the_user_is_asked(
    batch: Batch, due: float
) -> None:
    made = machine()
    assert made.hear(batch, 0) == batch
    assert made.due == due


def test_a_form_that_was_filled_in_lets_the_response_go_on_for_a_moment() -> None:
    made = machine()
    made.hear((Say("x"), FORM), 0)
    assert not made.answer(ElicitAnswer("c", "accept", {}), 100)
    assert made.due == 102


def test_a_question_that_is_answered_holds_up_nothing_any_more() -> None:
    made = machine()
    made.hear((Say("x"), READ), 10)
    assert not made.answer(ToolAnswer("a", "text"), 11)
    assert made.due == 12


def test_a_response_ends_with_the_call_or_with_the_agents_own_question() -> None:
    made = machine()
    made.hear((Say("x"),), 0)
    assert made.pause("one", 2) == (CallTool("one", PROGRESS_TOOL, {}), Await())
    assert made.waits_for("one")
    assert made.answer(ToolAnswer("one", ""), 3)
    assert not made.waits_for("one")
    made.respond(PACED, 3)
    made.hear((ASK,), 4)
    assert made.pause("two", 30) == (Await(),)
    assert not made.waits_for("two")


def test_a_turn_that_is_cancelled_waits_for_no_result() -> None:
    made = machine()
    made.pause("one", 20)
    made.apply(PacedEvent.CANCEL)
    assert not made.waits_for("one")


def test_a_prompt_that_is_not_paced_ends_no_response() -> None:
    made = machine()
    made.respond(Prompt(()), 0)
    assert made.due == math.inf


def test_a_count_is_told_only_before_words_were_shown() -> None:
    made, counted = machine(), Counted(1)
    assert made.hear((Say("x"), counted), 0) == (Say("x"), counted)
    made.pause("one", 2)
    assert made.hear((Say("y"), counted), 3) == (Say("y"),)


# A stop.

EVENTS = (Say("x"), READ, ASK, FORM, TakeBack("c"), Await(), Stop())


@given(st.lists(st.sampled_from(EVENTS)))
def test_after_a_stop_each_question_is_answered_once_and_the_rest_is_kept(
    events: list[Event],
) -> None:
    left, answers = unasked(tuple(events))
    asked = [one for one in events if isinstance(one, CallTool | AskPermission | Elicit)]
    assert [one.call_id for one in answers] == [one.call_id for one in asked]
    kinds = {CallTool: ToolAnswer, AskPermission: PermissionAnswer, Elicit: ElicitAnswer}
    assert [type(one) for one in answers] == [kinds[type(one)] for one in asked]
    assert [one for one in events if one in left] == list(left)
    assert len(left) + len(asked) + events.count(Await()) == len(events)
