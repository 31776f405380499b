"""Which conversations end so that there is room for others."""

from __future__ import annotations

import pytest

from bridge.history.message import Message
from bridge.routing.room import MOST_DENIALS, Denials, Occupant, giving_way
from bridge.wire import ToolResultPart


def idle(key: int, size: int = 1) -> Occupant:
    return Occupant(key, size, is_busy=False, waits_since=None)


def busy(key: int) -> Occupant:
    return Occupant(key, 1, is_busy=True, waits_since=None)


def asking(key: int, since: float) -> Occupant:
    return Occupant(key, 1, is_busy=False, waits_since=since)


@pytest.mark.parametrize(
    ("occupants", "excess", "leaving"),
    [
        ([idle(1)], 0, []),
        ([idle(1), idle(2)], 1, [1]),
        ([asking(1, 5.0), idle(2)], 1, [2]),
        ([asking(1, 5.0), asking(2, 3.0), busy(3)], 1, [2]),
        ([asking(1, 5.0), asking(2, 3.0), busy(3)], 3, [2, 1]),
        ([busy(1)], 1, []),
    ],
)
def test_idle_ones_give_way_first_then_who_waited_longest(
    occupants: list[Occupant], excess: int, leaving: list[int]
) -> None:
    assert [one.key for one in giving_way(occupants, excess)] == leaving


def test_as_many_give_way_as_free_the_bytes() -> None:
    occupants = [idle(1, 3), idle(2, 3), idle(3, 3)]
    for excess, number in ((1, 1), (3, 1), (4, 2)):
        assert len(giving_way(occupants, excess, lambda one: one.size)) == number


def test_questions_may_be_spared() -> None:
    assert giving_way([asking(1, 0.0)], 1, spare_questions=True) == []


@pytest.mark.limit("bridge.routing.room.MOST_DENIALS")
def test_only_so_many_denials_are_remembered_and_each_is_told_once() -> None:
    denials = Denials()
    denials.note(map(str, range(MOST_DENIALS + 1)), "the chats took too much")
    told = [
        denials.notices([Message.of("user", [ToolResultPart(call_id, "x")])])
        for call_id in ("0", "1", "1")
    ]
    assert [len(one) for one in told] == [0, 1, 0]
    assert told[1][0].startswith("*The chats took too much, so the session")
