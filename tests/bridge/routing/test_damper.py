"""Storms of identical requests end, and nobody else is held up."""

from __future__ import annotations

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.routing.damper import MOST_BAD, MOST_GOOD, WINDOW_SECONDS, Damper


def repeats(damper: Damper, count: int, *, answered: bool, since: float = 0.0) -> list[bool]:
    """Repeat one request, ten times a second; return what was admitted."""
    return [
        damper.admit("q", is_retry=True, answered=answered, now=since + number / 10)
        for number in range(count)
    ]


def ask(damper: Damper, key: str = "q", now: float = 0.0) -> bool:
    return damper.admit(key, is_retry=False, answered=True, now=now)


def test_a_request_that_repeats_nothing_is_always_admitted() -> None:
    damper = Damper()
    assert all(ask(damper) for _ in range(100))


@pytest.mark.limit("bridge.routing.damper.MOST_BAD")
def test_after_an_answer_that_was_no_good_one_repeat_is_answered() -> None:
    """So identical requests are answered twice; fifteen in two seconds were recorded."""
    damper = Damper()
    assert ask(damper)
    assert repeats(damper, 15, answered=False) == [True] * MOST_BAD + [False] * (15 - MOST_BAD)


@pytest.mark.limit("bridge.routing.damper.MOST_GOOD")
def test_after_good_answers_a_few_repeats_in_a_row_are_answered() -> None:
    """A person may press "again" for another answer; a host in a loop presses faster."""
    damper = Damper()
    assert ask(damper)
    assert repeats(damper, 15, answered=True) == [True] * MOST_GOOD + [False] * (15 - MOST_GOOD)


@pytest.mark.parametrize("answered", [True, False])
def test_a_storm_is_over_once_it_was_quiet_for_a_while(answered: bool) -> None:
    damper = Damper()
    assert not repeats(damper, 15, answered=answered)[-1]
    last = 1.4
    assert repeats(damper, 1, answered=answered, since=last + WINDOW_SECONDS + 0.1) == [True]


def test_what_was_refused_counts_too() -> None:
    """Else a host that never stops would get an answer every few seconds."""
    damper = Damper()
    admitted = [
        damper.admit("q", is_retry=True, answered=False, now=now) for now in range(0, 100, 5)
    ]
    assert admitted == [True] + [False] * 19


@pytest.mark.limit("bridge.routing.damper.WINDOW_SECONDS")
@pytest.mark.parametrize(("pause", "admitted"), [(0.0, False), (0.5, True)])
def test_the_window_ends_when_it_is_told_to(pause: float, admitted: bool) -> None:
    damper = Damper()
    assert repeats(damper, MOST_BAD, answered=False) == [True] * MOST_BAD
    assert repeats(damper, 1, answered=False, since=WINDOW_SECONDS + pause) == [admitted]


def test_anything_else_ends_a_run_of_repeats_after_good_answers() -> None:
    damper = Damper()
    for now in range(5):
        assert ask(damper, "q", now)
        assert repeats(damper, MOST_GOOD, answered=True, since=now) == [True] * MOST_GOOD
        assert ask(damper, "r", now)


def test_a_first_request_of_the_same_words_ends_a_run_too() -> None:
    """It is another window with the same opening."""
    damper = Damper()
    assert repeats(damper, MOST_GOOD, answered=True) == [True] * MOST_GOOD
    assert ask(damper)
    assert repeats(damper, 1, answered=True) == [True]


def test_a_repeat_of_something_else_ends_a_run_too() -> None:
    damper = Damper()
    assert repeats(damper, MOST_GOOD, answered=True) == [True] * MOST_GOOD
    assert damper.admit("r", is_retry=True, answered=True, now=0.4)
    assert repeats(damper, 1, answered=True) == [True]


def test_what_happens_in_other_chats_does_not_help_a_storm_after_bad_answers() -> None:
    damper = Damper()
    assert repeats(damper, MOST_BAD, answered=False) == [True] * MOST_BAD
    assert ask(damper, "r", 0.2)
    assert damper.admit("r", is_retry=True, answered=False, now=0.3), "each has its own count"
    assert repeats(damper, 1, answered=False, since=0.4) == [False]


@attrs.frozen
class Arrival:
    key: str
    is_retry: bool
    answered: bool
    pause: float


arrivals = st.lists(
    st.builds(
        Arrival,
        st.sampled_from("qr"),
        st.booleans(),
        st.booleans(),
        st.sampled_from([0.0, 1.0, WINDOW_SECONDS, WINDOW_SECONDS + 1]),
    )
)


@given(arrivals)
def test_it_admits_what_a_naive_count_admits(arrivals: list[Arrival]) -> None:
    damper = Damper()
    now = 0.0
    seen: list[tuple[float, Arrival]] = []
    for arrival in arrivals:
        now += arrival.pause
        seen.append((now, arrival))
        admitted = damper.admit(
            arrival.key, is_retry=arrival.is_retry, answered=arrival.answered, now=now
        )
        if not arrival.is_retry:
            assert admitted
            continue
        alike = [
            (time, one)
            for time, one in seen
            if one.key == arrival.key and one.is_retry and one.answered == arrival.answered
        ]
        if arrival.answered:
            last = max(
                (
                    i
                    for i, (_, one) in enumerate(seen)
                    if one.key != arrival.key or not one.is_retry
                ),
                default=-1,
            )
            alike = [(time, one) for time, one in seen[last + 1 :] if one.answered]
        recent = [time for time, _ in alike if time >= now - WINDOW_SECONDS]
        assert admitted is (len(recent) <= (MOST_GOOD if arrival.answered else MOST_BAD))


def test_what_no_longer_matters_is_forgotten() -> None:
    """Keys are whole requests, so holding on to them would hold on to every chat."""
    damper = Damper()
    for number in range(100):
        damper.admit(f"q{number}", is_retry=True, answered=False, now=float(number))
    fresh = Damper()
    for number in range(99 - int(WINDOW_SECONDS), 100):
        fresh.admit(f"q{number}", is_retry=True, answered=False, now=float(number))
    assert damper == fresh
