from __future__ import annotations

import pytest

from agents.acp.render.session_state import Told


def test_calls_that_ended_are_remembered_but_not_for_ever() -> None:
    told = Told()
    for number in range(1001):
        told.end(str(number))
    assert not told.has_ended("0")
    assert told.has_ended("1")
    assert told.has_ended("1000")
    told.begin("1000")
    told.begin("never ended")
    assert not told.has_ended("1000")


def test_an_unknown_kind_is_noted_once() -> None:
    told = Told()
    told.note_unknown("an update", "dance\n")
    told.note_unknown("an update", "dance\n")
    assert told.take_notes() == [
        "the agent sent an update of an unknown kind, which isn't shown: dance"
    ]
    told.note_unknown("an update", "dance\n")
    assert told.take_notes() == []


def test_a_kind_of_an_extension_is_nothing_odd() -> None:
    told = Told()
    told.note_unknown("an update", "_example.com/dance")
    assert told.take_notes() == []


@pytest.mark.limit(
    "agents.acp.render.session_state._MOST_CALLS", "agents.acp.render.session_state._MOST_KINDS"
)
def test_notes_are_bounded() -> None:
    told = Told()
    for number in range(200):
        told.note_unknown("an update", str(number))
    assert len(told.take_notes()) == 100


def test_warnings_come_once_each_and_are_bounded() -> None:
    told = Told()
    for number in [*range(200), 0]:
        told.warn("It didn't work", str(number))
    assert len(told.take_warnings()) == 100
    assert told.take_warnings() == []
