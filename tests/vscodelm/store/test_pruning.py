from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from vscodelm.store.database import Database, open_database
from vscodelm.store.folder import StoreFolder
from vscodelm.store.pruning import AT_ONCE, KEPT_SECONDS, make_room, prune

NOW = 1_800_000_000.0
INSERTS = (
    "INSERT INTO session (scope, handle, lookup, steps, marker, holder, settled_at) "
    "VALUES (x'00', ?, x'00', x'00', NULL, x'00', ?)",
    "INSERT INTO point (scope, digest, response_id, setup, calls, settled_at) "
    "VALUES (x'00', ?, 'r', x'00', '{}', ?)",
)


@pytest.fixture
def database(tmp_path: Path) -> Generator[Database]:
    database = open_database(StoreFolder(tmp_path))
    yield database
    database.close()


def fill(database: Database, *ages: float) -> None:
    with database.transaction(durable=False):
        for number, age in enumerate(ages):
            for insert in INSERTS:
                database.change(insert, str(number), int(NOW - age))


def left(database: Database) -> list[str]:
    sessions = database.rows("SELECT handle FROM session ORDER BY number")
    assert sessions == database.rows("SELECT digest FROM point ORDER BY number")
    return [name for (name,) in sessions]


@pytest.mark.limit("vscodelm.store.pruning.KEPT_SECONDS")
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


@pytest.mark.limit("vscodelm.store.pruning.MOST_ROWS")
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
