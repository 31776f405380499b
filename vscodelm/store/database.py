"""The SQLite file: opening it, and transactions that end well or leave nothing behind.

A transaction is *durable* if it must outlast a loss of power as soon as it is done: it is synced,
which takes a millisecond or many. One that isn't may be lost then, it and what came after it. Both
outlast the end of the process, however that comes.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, TypeAlias

from .folder import StoreFolder
from .schema import APPLICATION_ID, MIGRATIONS, TABLES, VERSION


class StoreError(Exception):
    """The store can't be used now; the message says why.

    `is_in_doubt` if the change may have been written nevertheless.
    """

    is_in_doubt = False


class DamagedStore(StoreError):
    """The file isn't our store, or not any more."""


class FullStore(StoreError):
    """There is no room."""


Row: TypeAlias = tuple[Any, ...]

PATIENCE_SECONDS = 0.8
"""Seconds to wait for another process's transaction."""
MOST_BYTES = 256 * 1024 * 1024
"""Bytes of the database."""
_PAGE_BYTES = 4096
KEPT_SECONDS = 30 * 24 * 3600
"""Seconds that an unused row is kept."""
MOST_ROWS = 100_000
"""Rows of each table; beyond that the oldest are deleted."""
AT_ONCE = 500
"""Rows that one transaction deletes."""
_PAUSE_SECONDS = 0.001
"""Between tries to change the mode of a file that another process changes."""
_DAMAGES = {
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_FORMAT,
    sqlite3.SQLITE_ERROR,  # our statement doesn't fit: the tables aren't ours
    sqlite3.SQLITE_MISMATCH,
}


class Database:
    """A connection; one thread at a time may use it."""

    def __init__(self, place: StoreFolder, connection: sqlite3.Connection) -> None:
        self._place = place
        self.identity = place.identity()
        self._connection = connection

    @property
    def is_in_place(self) -> bool:
        """Whether the file is still the one that others open."""
        try:
            return self._place.identity() == self.identity
        except OSError:
            return False

    def rows(self, query: str, *values: object) -> list[Row]:
        """Return what a query finds."""
        with translated():
            return self._connection.execute(query, values).fetchall()

    def change(self, statement: str, *values: object) -> int:
        """Return how many rows a statement changed."""
        with translated():
            return self._connection.execute(statement, values).rowcount

    @contextmanager
    def transaction(self, *, durable: bool) -> Generator[None]:
        """Write all that is written in the block, or nothing."""
        self.change(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
        self.change("BEGIN IMMEDIATE")
        try:
            self._check_version()
            yield
        except BaseException:
            self._roll_back()
            raise
        try:
            self.change("COMMIT")
        except StoreError as error:
            error.is_in_doubt = True
            self._roll_back()
            raise

    def close(self) -> None:
        """Close the connection."""
        with translated():
            self._connection.close()

    def _check_version(self) -> None:
        """Raise if a newer program has changed the tables while we had them open."""
        ((version,),) = self.rows("PRAGMA user_version")
        if version != VERSION:
            raise StoreError(f"it is of version {version}, and this program knows {VERSION}")

    def _roll_back(self) -> None:
        try:
            if self._connection.in_transaction:
                self._connection.rollback()
        except sqlite3.Error:
            self._connection.close()  # which rolls back, too


def open_database(
    place: StoreFolder,
    *,
    patience: float = PATIENCE_SECONDS,
    most_bytes: int = MOST_BYTES,
) -> Database:
    """Open the store, or begin one; raises `StoreError`."""
    try:
        if place.file.is_dir():
            raise DamagedStore("a folder stands in its place")
        place.prepare()
    except OSError as error:
        raise StoreError(str(error)) from None
    with translated():
        # trio's threads take turns with it, one at a time
        connection = sqlite3.connect(
            place.file, timeout=patience, isolation_level=None, check_same_thread=False
        )
    try:
        with translated():
            _set_up(connection, most_bytes, patience)
        return Database(place, connection)
    except OSError as error:
        connection.close()
        raise StoreError(str(error)) from None
    except BaseException:
        connection.close()
        raise


@contextmanager
def translated() -> Generator[None]:
    """Raise what SQLite raises as a `StoreError`."""
    try:
        yield
    except sqlite3.Error as error:
        raise _kind(error)(str(error)) from None
    except (UnicodeError, OverflowError) as error:  # a value that SQLite can't hold
        raise StoreError(str(error)) from None


def _kind(error: sqlite3.Error) -> Callable[[str], StoreError]:
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:  # of the Python module's own: a text that isn't UTF-8, a closed connection
        return StoreError if isinstance(error, sqlite3.ProgrammingError) else DamagedStore
    if code == sqlite3.SQLITE_IOERR_SHORT_READ or code & 0xFF in _DAMAGES:
        return DamagedStore
    return FullStore if code & 0xFF == sqlite3.SQLITE_FULL else StoreError


def _set_up(connection: sqlite3.Connection, most_bytes: int, patience: float) -> None:
    execute = connection.execute
    execute("PRAGMA trusted_schema = OFF")
    execute("PRAGMA fullfsync = ON")  # where the system's ordinary sync doesn't reach the disk
    execute(f"PRAGMA page_size = {_PAGE_BYTES}")
    _use_wal(connection, patience)
    execute("PRAGMA journal_size_limit = 4194304")
    execute(f"PRAGMA max_page_count = {most_bytes // _PAGE_BYTES}")
    execute("BEGIN")  # all rows from one moment: another process may be making the tables
    version = _version(connection)
    execute("COMMIT")
    if version < VERSION:
        _migrate(connection)


def _use_wal(connection: sqlite3.Connection, patience: float) -> None:
    """Have readers wait for no writer, nor the reverse.

    SQLite gives up at once where two connections change the mode, for neither could go on.
    """
    until = time.monotonic() + patience
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(_PAUSE_SECONDS)
        else:
            return


def _version(connection: sqlite3.Connection) -> int:
    """Return the schema's version, 0 if there is none yet; raises `StoreError`."""
    ((version,),) = connection.execute("PRAGMA user_version").fetchall()
    ((application,),) = connection.execute("PRAGMA application_id").fetchall()
    ((tables,),) = connection.execute("SELECT count(*) FROM sqlite_master").fetchall()
    if not (version or application or tables):
        return 0
    if application != APPLICATION_ID or not (version > 0 and tables):
        raise DamagedStore("it is another program's")
    if version > VERSION:
        raise StoreError(f"it is of version {version}, and this program knows {VERSION}")
    return version


def _migrate(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    for statements in MIGRATIONS[_version(connection) :]:  # another process may have been faster
        for statement in statements:
            connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.execute("COMMIT")


def prune(database: Database, now: float, *, most: int = MOST_ROWS) -> bool:
    """Delete some of what is too old or too much; return whether there is more of it.

    Each transaction is short, because others wait for its end.
    """
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
