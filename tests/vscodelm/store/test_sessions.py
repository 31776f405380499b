from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from bridge.routing.sketch import Sketch
from vscodelm.store.database import Database, open_database
from vscodelm.store.folder import StoreFolder
from vscodelm.store.sessions import SessionName, Sessions

from .chats import CLOCK, SCOPE, chat, path

SYNCED = [(2,)]
NAME = SessionName(SCOPE, "s")


@pytest.fixture
def database(tmp_path: Path) -> Generator[Database]:
    database = open_database(StoreFolder(tmp_path))
    yield database
    database.close()


def settle(database: Database, sessions: Sessions) -> None:
    sketch = Sketch.of(chat("a", 1))
    assert sketch is not None
    with database.transaction(durable=False):
        sessions.settle(database, NAME, sketch, None, CLOCK, was_written=False)
    sessions.written.add(NAME)


def test_that_a_turn_begins_outlasts_a_loss_of_power(database: Database) -> None:
    sessions = Sessions(b"us")
    settle(database, sessions)
    assert database.rows("PRAGMA synchronous") != SYNCED
    assert sessions.begin(database, NAME)
    assert database.rows("PRAGMA synchronous") == SYNCED


def test_that_a_session_was_found_outlasts_a_loss_of_power(database: Database) -> None:
    settle(database, Sessions(b"us"))
    assert Sessions(b"them").find(database, SCOPE, path("a", 1))
    assert database.rows("PRAGMA synchronous") == SYNCED


def test_a_turn_in_a_session_without_a_row_costs_no_writing(database: Database) -> None:
    settle(database, Sessions(b"us"))
    assert Sessions(b"us").begin(database, SessionName(SCOPE, "another"))
    assert database.rows("PRAGMA synchronous") != SYNCED


def moved_on_elsewhere(database: Database) -> Sessions:
    """Return us, who have a session at rest that another process has gone on with."""
    us, them = Sessions(b"us"), Sessions(b"them")
    settle(database, us)
    assert them.find(database, SCOPE, path("a", 1))
    assert them.begin(database, NAME)
    settle(database, them)
    return us


def test_a_chat_of_ours_does_not_take_a_session_that_another_one_believes_to_have(
    database: Database,
) -> None:
    """Or both would begin turns in it, the other one as if nothing had been said elsewhere."""
    us = moved_on_elsewhere(database)
    assert us.find(database, SCOPE, path("a", 1)) is None
    assert not us.begin(database, NAME), "that other one notices"


@pytest.mark.parametrize("has_noticed", [True, False])
def test_once_that_one_has_let_go_of_it_it_does(database: Database, has_noticed: bool) -> None:
    us = moved_on_elsewhere(database)
    if has_noticed:
        us.begin(database, NAME)
    with database.transaction(durable=False):
        was_ours = us.release(database, NAME, CLOCK)
    us.let_go(NAME, was_ours=was_ours)
    assert us.find(database, SCOPE, path("a", 1))
    assert us.begin(database, NAME)


def test_what_we_have_closed_we_find_ourselves(database: Database) -> None:
    us = Sessions(b"us")
    settle(database, us)
    with database.transaction(durable=False):
        was_ours = us.release(database, NAME, CLOCK)
    us.let_go(NAME, was_ours=was_ours)
    assert us.find(database, SCOPE, path("a", 1))
    assert us.begin(database, NAME)


@pytest.mark.limit("vscodelm.store.sessions.MOST_LOST")
def test_of_sessions_that_others_took_only_the_newest_are_remembered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("vscodelm.store.sessions.MOST_LOST", 3)
    us = Sessions(b"us")
    names = [SessionName(SCOPE, f"{number}") for number in range(4)]
    for name in names:
        us.written.add(name)
        us.let_go(name, was_ours=False)
    assert us.written == {*names[1:]}
    assert [*us.lost] == names[1:]
