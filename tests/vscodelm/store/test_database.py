from __future__ import annotations

import sqlite3
import threading
from collections.abc import Generator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from vscodelm.store.database import (
    AT_ONCE,
    KEPT_SECONDS,
    DamagedStore,
    Database,
    FullStore,
    StoreError,
    make_room,
    open_database,
    prune,
)
from vscodelm.store.folder import StoreFolder
from vscodelm.store.schema import VERSION

from .damages import DAMAGES, damaged, execute, locked

INSERT = (
    "INSERT INTO point (scope, digest, response_id, setup, calls, settled_at) "
    "VALUES (x'00', ?, 'r', x'00', zeroblob(1000), 0)"
)

LATE = {"overwritten", "without_table", "other_columns"}
"""Damages that are seen when something else is read."""


@pytest.fixture
def place(tmp_path: Path) -> StoreFolder:
    return StoreFolder(tmp_path)


@pytest.fixture
def database(place: StoreFolder) -> Generator[Database]:
    database = open_database(place)
    yield database
    database.close()


def count(database: Database) -> int:
    ((rows,),) = database.rows("SELECT count(*) FROM point")
    return rows


def test_a_transaction_is_written_whole_or_not_at_all(database: Database) -> None:
    with pytest.raises(LookupError), database.transaction(durable=True):  # noqa: PT012  the block
        database.change(INSERT, "1")
        raise LookupError
    assert count(database) == 0
    with database.transaction(durable=True):
        database.change(INSERT, "1")
    assert count(database) == 1


@pytest.mark.parametrize(("durable", "mode"), [(True, 2), (False, 1)])
def test_what_must_outlast_a_loss_of_power_is_synced(
    database: Database, durable: bool, mode: int
) -> None:
    with database.transaction(durable=durable):
        assert database.rows("PRAGMA synchronous") == [(mode,)]
    assert database.rows("PRAGMA journal_mode") == [("wal",)]
    assert database.rows("PRAGMA fullfsync") == [(1,)]


def test_a_commit_that_fails_is_in_doubt_and_the_next_one_succeeds(database: Database) -> None:
    database.change("PRAGMA foreign_keys = ON")
    database.change(
        "CREATE TABLE child (parent REFERENCES point (number) DEFERRABLE INITIALLY DEFERRED)"
    )
    with pytest.raises(StoreError) as raised, database.transaction(durable=True):
        database.change("INSERT INTO child VALUES (7)")
    assert raised.value.is_in_doubt
    with database.transaction(durable=True):
        database.change(INSERT, "1")
    assert count(database) == 1


def test_a_lock_is_waited_for_no_longer_than_is_said(place: StoreFolder) -> None:
    database = open_database(place, patience=0.01)
    with locked(place):
        with (
            pytest.raises(StoreError, match="locked") as raised,
            database.transaction(durable=True),
        ):
            raise AssertionError("somebody else writes")
        assert not raised.value.is_in_doubt
        assert count(database) == 0, "reading goes on"
    database.close()


@pytest.mark.parametrize("statement", ["PRAGMA application_id", "SELECT count"])
def test_a_store_that_another_process_makes_meanwhile_is_no_other_programs(
    place: StoreFolder, monkeypatch: pytest.MonkeyPatch, statement: str
) -> None:
    """It is empty when we begin to look at it, and isn't when we go on."""
    connect = sqlite3.connect
    made: list[str] = []

    def connect_and_be_overtaken(*values: Any, **options: Any) -> sqlite3.Connection:
        connection = connect(*values, **options)

        def overtake(said: str) -> None:
            if said.startswith(statement) and not made:
                made.append(said)
                open_database(place).close()

        connection.set_trace_callback(overtake)
        return connection

    monkeypatch.setattr(sqlite3, "connect", connect_and_be_overtaken)
    database = open_database(place)
    assert made
    assert database.rows("SELECT count(*) FROM session") == [(0,)]
    database.close()


class Contended(sqlite3.Connection):
    """Another process changes the mode of the file, too, for so many tries."""

    tries = 0

    def execute(self, *statement: Any) -> sqlite3.Cursor:
        if "journal_mode" in statement[0] and Contended.tries > 0:
            Contended.tries -= 1
            error = sqlite3.OperationalError("database is locked")
            error.sqlite_errorcode = sqlite3.SQLITE_BUSY
            raise error
        return super().execute(*statement)


@pytest.mark.parametrize(("tries", "patience", "opens"), [(2, 10, True), (9, 0, False)])
def test_the_mode_of_the_file_is_tried_again_for_as_long_as_is_said(
    place: StoreFolder, monkeypatch: pytest.MonkeyPatch, tries: int, patience: float, opens: bool
) -> None:
    """SQLite waits for nobody there, because two that do would wait for one another."""
    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=Contended))
    monkeypatch.setattr(Contended, "tries", tries)
    if opens:
        open_database(place, patience=patience).close()
    else:
        with pytest.raises(StoreError, match="locked"):
            open_database(place, patience=patience)
    assert (Contended.tries == 0) is opens


def test_processes_that_open_a_new_store_at_once_make_one(place: StoreFolder) -> None:
    errors: list[Exception] = []
    barrier = threading.Barrier(8)

    def open_one() -> None:
        try:
            barrier.wait(10)
            open_database(place, patience=10).close()
        except Exception as error:  # a thread can't raise to us
            errors.append(error)

    threads = [threading.Thread(target=open_one) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join(20)
    assert not errors
    database = open_database(place)
    assert database.rows("PRAGMA user_version") == [(VERSION,)]
    database.close()


def test_a_newer_program_s_tables_are_not_written_to(place: StoreFolder) -> None:
    database = open_database(place)
    execute(place, f"PRAGMA user_version = {VERSION + 1}")
    with pytest.raises(StoreError, match="version"), database.transaction(durable=False):
        raise AssertionError("they are another's")
    database.close()
    with pytest.raises(StoreError, match="version") as raised:
        open_database(place)
    assert not isinstance(raised.value, DamagedStore)


@pytest.mark.parametrize("how", sorted(set(DAMAGES) - LATE))
def test_a_damaged_file_is_seen_when_it_is_opened_or_read(tmp_path: Path, how: str) -> None:
    database = open_database(StoreFolder(tmp_path))
    with database.transaction(durable=False):
        for number in range(50):
            database.change(INSERT, str(number))
    database.close()
    place = damaged(tmp_path, how)
    with pytest.raises(DamagedStore):  # noqa: PT012  either of them
        database = open_database(place)
        try:
            database.rows("SELECT sum(length(calls)) FROM point")
        finally:
            database.close()


@pytest.mark.limit("vscodelm.store.database.MOST_BYTES")
def test_a_store_that_may_not_grow_is_full(place: StoreFolder) -> None:
    database = open_database(place, most_bytes=128 * 1024)
    with pytest.raises(FullStore) as raised:  # noqa: PT012  one of them
        for number in range(1000):
            with database.transaction(durable=False):
                database.change(INSERT, str(number))
    assert not raised.value.is_in_doubt
    assert count(database) > 20
    database.close()


def test_a_value_that_can_not_be_written_is_no_damage(database: Database) -> None:
    with pytest.raises(StoreError) as raised:
        database.change(INSERT, "\ud800")
    assert not isinstance(raised.value, DamagedStore)


def test_a_file_that_was_moved_is_not_in_its_place(database: Database, place: StoreFolder) -> None:
    assert database.is_in_place
    place.put_aside()
    assert not database.is_in_place
    open_database(place).close()
    assert not database.is_in_place


NOW = 1_800_000_000.0
INSERTS = (
    "INSERT INTO session (scope, handle, lookup, steps, marker, holder, settled_at) "
    "VALUES (x'00', ?, x'00', x'00', NULL, x'00', ?)",
    "INSERT INTO point (scope, digest, response_id, setup, calls, settled_at) "
    "VALUES (x'00', ?, 'r', x'00', '{}', ?)",
)


def fill(database: Database, *ages: float) -> None:
    with database.transaction(durable=False):
        for number, age in enumerate(ages):
            for insert in INSERTS:
                database.change(insert, str(number), int(NOW - age))


def left(database: Database) -> list[str]:
    sessions = database.rows("SELECT handle FROM session ORDER BY number")
    assert sessions == database.rows("SELECT digest FROM point ORDER BY number")
    return [name for (name,) in sessions]


@pytest.mark.limit("vscodelm.store.database.KEPT_SECONDS")
def test_what_is_older_than_a_month_goes(database: Database) -> None:
    fill(database, KEPT_SECONDS + 1, KEPT_SECONDS - 1, 0)
    assert not prune(database, NOW)
    assert left(database) == ["1", "2"]


def test_what_is_from_the_future_is_as_old_as_it_is_seen(database: Database) -> None:
    fill(database, -10 * KEPT_SECONDS)
    assert not prune(database, NOW)
    assert left(database) == ["0"]
    prune(database, NOW + KEPT_SECONDS + 1)
    assert left(database) == []


@pytest.mark.limit("vscodelm.store.database.MOST_ROWS")
def test_of_too_many_the_oldest_go(database: Database) -> None:
    fill(database, *[0] * 10)
    assert not prune(database, NOW, most=4)
    assert left(database) == ["6", "7", "8", "9"]


@pytest.mark.parametrize("age", [KEPT_SECONDS + 1, 0])
def test_it_is_done_a_little_at_a_time(database: Database, age: int) -> None:
    fill(database, *[age] * (AT_ONCE + 1))
    assert prune(database, NOW, most=0)
    assert len(left(database)) in (0, 1), "too old and too many are two reasons"
    prune(database, NOW, most=0)
    assert left(database) == []


def test_room_is_made_of_the_oldest_tenth(database: Database) -> None:
    fill(database, *[0] * 20)
    make_room(database)
    assert left(database) == [str(number) for number in range(3, 20)]
