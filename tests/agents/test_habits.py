from __future__ import annotations

import pytest

from agents.habits import MOST_MISSES, Announcing, Habits


def test_an_agent_that_never_announced_anything_is_not_waited_for() -> None:
    assert not Announcing().is_expected
    assert not Habits().questions.is_expected


def test_an_agent_that_announces_calls_may_announce_all_of_them() -> None:
    habits = Habits()
    habits.suppose()
    assert habits.calls.is_expected
    assert habits.questions.is_expected


@pytest.mark.limit("agents.habits.MOST_MISSES")
def test_an_agent_is_waited_for_in_vain_so_often_and_no_more() -> None:
    habit = Announcing()
    habit.suppose()
    for _ in range(MOST_MISSES):
        assert habit.is_expected
        habit.miss()
    assert not habit.is_expected
    habit.suppose()
    assert not habit.is_expected, "that it announces something is known already"


def test_an_announcement_that_was_worth_waiting_for_makes_up_for_others() -> None:
    habit = Announcing()
    habit.confirm()
    for _ in range(MOST_MISSES):
        habit.miss()
    habit.confirm()
    assert habit.is_expected
    for _ in range(MOST_MISSES - 1):
        habit.miss()
    assert habit.is_expected
