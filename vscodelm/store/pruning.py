"""What is too old or too much for the store, a little at a time: nobody may wait for it long."""

from __future__ import annotations

from .database import Database
from .schema import TABLES

KEPT_SECONDS = 30 * 24 * 3600
MOST_ROWS = 100_000
AT_ONCE = 500
"""How many rows one transaction deletes."""


def prune(database: Database, now: float, *, most: int = MOST_ROWS) -> bool:
    """Delete some of what is too old or too much; return whether there is more of it."""
    left = [_prune_table(database, table, int(now), most) for table in TABLES]
    return any(left)


def make_room(database: Database) -> None:
    """Delete the oldest tenth."""
    for table in TABLES:
        with database.transaction(durable=False):
            ((rows,),) = database.rows(f"SELECT count(*) FROM {table}")
            _delete_oldest(database, table, rows // 10 + 1)


def _prune_table(database: Database, table: str, now: int, most: int) -> bool:
    with database.transaction(durable=False):
        # A clock that was ahead for a while must not keep a row for ever.
        database.change(f"UPDATE {table} SET settled_at = ? WHERE settled_at > ?", now, now)
        old = database.change(
            f"DELETE FROM {table} WHERE number IN "
            f"(SELECT number FROM {table} WHERE settled_at < ? LIMIT ?)",
            *(now - KEPT_SECONDS, AT_ONCE),
        )
        ((rows,),) = database.rows(f"SELECT count(*) FROM {table}")
        too_many = max(rows - most, 0)
        _delete_oldest(database, table, min(too_many, AT_ONCE))
    return old == AT_ONCE or too_many > AT_ONCE


def _delete_oldest(database: Database, table: str, count: int) -> None:
    database.change(
        f"DELETE FROM {table} WHERE number IN (SELECT number FROM {table} ORDER BY number LIMIT ?)",
        count,
    )
