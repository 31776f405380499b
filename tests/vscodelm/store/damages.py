"""What can be wrong with a store's file, and what other processes do to it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from vscodelm.store.folder import StoreFolder


def connect(place: StoreFolder) -> sqlite3.Connection:
    return sqlite3.connect(place.file, isolation_level=None)


@contextmanager
def locked(place: StoreFolder) -> Generator[None]:
    """Somebody writes all the time."""
    connection = connect(place)
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        connection.rollback()
        connection.close()


def execute(place: StoreFolder, statement: str) -> None:
    connection = connect(place)
    connection.execute(statement)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def _truncated(place: StoreFolder) -> None:
    content = place.file.read_bytes()
    place.file.write_bytes(content[: len(content) // 2 - 100])


def _cut_short(place: StoreFolder) -> None:
    place.file.write_bytes(place.file.read_bytes()[:60])


def _garbage(place: StoreFolder) -> None:
    place.file.write_bytes(b"garbage " * 4096)


def _overwritten(place: StoreFolder) -> None:
    content = place.file.read_bytes()
    place.file.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))


def _folder(place: StoreFolder) -> None:
    place.file.unlink()
    place.file.mkdir()
    (place.file / "something").touch()


def _foreign(place: StoreFolder) -> None:
    execute(place, "PRAGMA application_id = 7")


def _without_version(place: StoreFolder) -> None:
    execute(place, "PRAGMA user_version = 0")


def _negative(place: StoreFolder) -> None:
    execute(place, "PRAGMA user_version = -1")


def _without_table(place: StoreFolder) -> None:
    execute(place, "DROP TABLE session")


def _other_columns(place: StoreFolder) -> None:
    execute(place, "ALTER TABLE session RENAME COLUMN steps TO hops")


DAMAGES: dict[str, Callable[[StoreFolder], None]] = {
    function.__name__.strip("_"): function
    for function in (
        *(_truncated, _cut_short, _garbage, _overwritten, _folder, _foreign),
        *(_without_version, _negative, _without_table, _other_columns),
    )
}


def damaged(state: Path, how: str) -> StoreFolder:
    """Do that to a store that nobody has open."""
    place = StoreFolder(state)
    DAMAGES[how](place)
    return place
