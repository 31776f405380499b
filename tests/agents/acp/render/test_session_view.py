from __future__ import annotations

import pytest

from agents.acp.render.changes import Changes
from agents.acp.render.session_view import SessionView


def test_calls_that_ended_are_remembered_but_not_for_ever() -> None:
    view = SessionView()
    for number in range(1001):
        view.end(str(number))
    assert not view.has_ended("0")
    assert view.has_ended("1")
    assert view.has_ended("1000")
    view.begin("1000")
    view.begin("never ended")
    assert not view.has_ended("1000")


def test_an_unknown_kind_is_noted_once() -> None:
    view = SessionView()
    view.note_unknown("an update", "dance\n")
    view.note_unknown("an update", "dance\n")
    assert view.take_notes() == [
        "the agent sent an update of an unknown kind, which isn't shown: dance"
    ]
    view.note_unknown("an update", "dance\n")
    assert view.take_notes() == []


def test_a_kind_of_an_extension_is_nothing_odd() -> None:
    view = SessionView()
    view.note_unknown("an update", "_example.com/dance")
    assert view.take_notes() == []


@pytest.mark.limit(
    "agents.acp.render.session_view._MOST_CALLS", "agents.acp.render.session_view._MOST_KINDS"
)
def test_notes_are_bounded() -> None:
    view = SessionView()
    for number in range(200):
        view.note_unknown("an update", str(number))
    assert len(view.take_notes()) == 100


def test_warnings_come_once_each_and_are_bounded() -> None:
    view = SessionView()
    for number in [*range(200), 0]:
        view.warn("It didn't work", str(number))
    assert len(view.take_warnings()) == 100
    assert view.take_warnings() == []


def test_a_mode_is_news_only_where_the_agent_has_changed_it() -> None:
    view = SessionView("ask")
    assert not view.change_mode("ask")
    assert not view.change_mode("")
    before = view.choose("plan", {})
    assert not view.change_mode("plan"), "the user has chosen it"
    view.choose(*before)
    assert view.change_mode("plan")
    view.choose(None, {})
    assert not view.change_mode("plan")


def test_options_that_the_agent_has_changed_are_news_and_others_are_not() -> None:
    view = SessionView(options={"a": "1", "b": "1"})
    assert view.change_options({"a": "2", "b": "1", "new": "1"}) == {"a": "2"}
    before = view.choose(None, {"a": "3"})
    assert view.change_options({"a": "3"}) == {}
    view.choose(*before)
    assert view.change_options({"a": "3", "new": "2"}) == {"a": "3", "new": "2"}


def test_the_permissions_of_a_turn_forbid_values_until_another_turn_begins() -> None:
    view = SessionView()
    view.forbid({"mode": {"yolo"}})
    assert view.is_forbidden("mode", "yolo")
    assert not view.is_forbidden("mode", "ask")
    assert not view.is_forbidden("option", "yolo")
    view.forbid({})
    assert not view.is_forbidden("mode", "yolo")


def test_the_files_of_a_stopped_turn_are_given_once() -> None:
    view, changes = SessionView(), Changes()
    assert view.take_stopped() is None
    view.keep_stopped(changes)
    assert view.take_stopped() is changes
    assert view.take_stopped() is None
