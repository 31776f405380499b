"""The responses that are kept, so that later ones go on from them: a database in the state folder.

Each response has only what it added. The whole is found along the responses before it. All
responses that go back to the same first one are a chain: the chain that nobody has used for longest
is dropped first, and as a whole.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import attrs
import msgspec
import trio
from msgspec import Raw

from bridge.value import Value

MOST_KEPT_BYTES = 512 * 1024 * 1024
"""Bytes of all responses that are kept."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS responses (
    id TEXT PRIMARY KEY, previous TEXT, root TEXT NOT NULL,
    asked BLOB NOT NULL, answer BLOB NOT NULL, items BLOB NOT NULL, resource BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS responses_root ON responses (root);
CREATE TABLE IF NOT EXISTS chains (
    root TEXT PRIMARY KEY, used REAL NOT NULL, bytes INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS chains_used ON chains (used);
"""
_LINE = """
WITH RECURSIVE line(id, previous, root, asked, answer, depth) AS (
    SELECT id, previous, root, asked, answer, 0 FROM responses WHERE id = ?
    UNION ALL
    SELECT r.id, r.previous, r.root, r.asked, r.answer, depth + 1
    FROM responses r JOIN line ON r.id = line.previous
) SELECT previous, root, asked, answer FROM line ORDER BY depth DESC
"""
_decode = msgspec.json.Decoder(list[Raw]).decode
T = TypeVar("T")
log = logging.getLogger("vscodelm.http")


class KeptResponse(Value):
    """A response as it is kept; JSON all of it."""

    id: str
    previous: str | None
    asked: tuple[Raw, ...]
    """The messages that its request added."""
    answer: Raw | None
    """The message that answered; None if nothing was said."""
    items: tuple[Raw, ...]
    """The items of its request's input, as they came."""
    resource: bytes


@attrs.define(eq=False, repr=False)
class ResponseRecords:
    """The database. Each call works in a thread; they take turns."""

    _db: sqlite3.Connection
    most_bytes: int = MOST_KEPT_BYTES
    _turn: trio.Lock = attrs.field(factory=trio.Lock, init=False)

    async def line(self, response: str) -> list[Raw] | None:
        """Return all messages up to a response and its answer; None if one of them is unknown."""
        return await self._run(lambda: self._line(response))

    async def keep(self, kept: KeptResponse) -> None:
        """Keep a response. If that fails, nothing can continue it, and the log says so."""
        try:
            await self._run(lambda: self._keep(kept))
        except sqlite3.Error as error:
            log.warning("a response isn't kept: %s", error)

    async def find(self, response: str) -> tuple[bytes, bytes] | None:
        """Return the resource of a response, and the items of its input."""
        return await self._run(lambda: self._find(response))

    async def drop(self, response: str) -> bool:
        """Drop a response: nothing goes on from it any more. False if it is unknown."""
        return await self._run(lambda: self._drop(response))

    async def _run(self, work: Callable[[], T]) -> T:
        async with self._turn:
            # Not to be abandoned: the connection is used by one thread at a time.
            return await trio.to_thread.run_sync(work)

    def _line(self, response: str) -> list[Raw] | None:
        rows = self._db.execute(_LINE, (response,)).fetchall()
        if not rows or rows[0][0] is not None:
            return None
        with self._db:
            self._db.execute("UPDATE chains SET used = ? WHERE root = ?", (_now(), rows[0][1]))
        messages: list[Raw] = []
        for _, _, asked, answer in rows:
            messages += _decode(asked)
            messages += [Raw(answer)] if answer else []
        return messages

    def _keep(self, kept: KeptResponse) -> None:
        with self._db:
            query = "SELECT root FROM responses WHERE id = ?"
            before = self._db.execute(query, (kept.previous,)).fetchone()
            root = before[0] if before else kept.id
            answer = b"" if kept.answer is None else bytes(kept.answer)
            asked, items = msgspec.json.encode(kept.asked), msgspec.json.encode(kept.items)
            row = (kept.id, kept.previous, root, asked, answer, items, kept.resource)
            self._db.execute("INSERT INTO responses VALUES (?, ?, ?, ?, ?, ?, ?)", row)
            self._db.execute(
                "INSERT INTO chains VALUES (?, ?, ?) ON CONFLICT (root) DO UPDATE "
                "SET used = excluded.used, bytes = bytes + excluded.bytes",
                (root, _now(), sum(map(len, (asked, answer, items, kept.resource)))),
            )
            self._make_room(root)

    def _make_room(self, spared: str) -> None:
        query = "SELECT COALESCE(SUM(bytes), 0) FROM chains"
        excess = self._db.execute(query).fetchone()[0] - self.most_bytes
        while excess > 0:
            oldest = self._db.execute(
                "SELECT root, bytes FROM chains WHERE root <> ? ORDER BY used LIMIT 1", (spared,)
            ).fetchone()
            if oldest is None:
                return
            excess -= oldest[1]
            self._db.execute("DELETE FROM responses WHERE root = ?", (oldest[0],))
            self._db.execute("DELETE FROM chains WHERE root = ?", (oldest[0],))

    def _find(self, response: str) -> tuple[bytes, bytes] | None:
        query = "SELECT resource, items FROM responses WHERE id = ?"
        return self._db.execute(query, (response,)).fetchone()

    def _drop(self, response: str) -> bool:
        with self._db:
            dropped = self._db.execute(
                "SELECT root, length(asked) + length(answer) + length(items) + length(resource) "
                "FROM responses WHERE id = ?",
                (response,),
            ).fetchone()
            if dropped is None:
                return False
            root, size = dropped
            self._db.execute("DELETE FROM responses WHERE id = ?", (response,))
            query = "UPDATE chains SET bytes = MAX(0, bytes - ?) WHERE root = ?"
            self._db.execute(query, (size, root))
            query = "DELETE FROM chains WHERE root = ?1 AND NOT EXISTS "
            self._db.execute(query + "(SELECT 1 FROM responses WHERE root = ?1)", (root,))
        # What was written before is still in the log of the database, until that is emptied.
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return True

    def close(self) -> None:
        """Close the database."""
        self._db.close()


def _now() -> float:
    return time.time()


def open_records(folder: Path) -> ResponseRecords:
    """Open the database in a folder, for this user alone.

    A database that is broken is put aside. If none can be opened, responses are kept in memory.
    """
    file = folder / "responses.db"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
        try:
            return ResponseRecords(_connect(str(file)))
        except sqlite3.DatabaseError as error:
            log.warning("the kept responses can't be read, and are put aside: %s", error)
            file.replace(folder / "responses-broken.db")
            os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
            return ResponseRecords(_connect(str(file)))
    except (OSError, sqlite3.Error) as error:
        log.warning("responses are kept only until the server ends: %s", error)
        return ResponseRecords(_connect(":memory:"))


def _connect(where: str) -> sqlite3.Connection:
    db = sqlite3.connect(where, timeout=5.0, check_same_thread=False)
    try:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA secure_delete = ON")  # what is dropped is overwritten
        db.executescript(_SCHEMA)
    except BaseException:
        db.close()
        raise
    return db


def raws(messages: Sequence[msgspec.Struct]) -> tuple[Raw, ...]:
    """Return messages as the wire has them."""
    return tuple(Raw(msgspec.json.encode(message)) for message in messages)
