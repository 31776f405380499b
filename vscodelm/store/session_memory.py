"""The agents' sessions, remembered in the store.

An operation that runs out of time has a safe outcome. A search finds nothing. A turn begins in a
session only if no row is left that a later search could find.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import attrs

from actors.memory import Known
from bridge.history.exchange import Exchange
from bridge.history.message import Message
from bridge.routing.sketch import Sketch

from .database import Database, StoreError
from .sessions import SessionName, Sessions
from .store import DatabaseWrite
from .worker import Note, Worker


@attrs.define(eq=False, repr=False)
class StoredSessions:
    """Satisfies `actors.memory.SessionMemory`."""

    worker: Worker
    sessions: Sessions
    now: Callable[[], float] = time.time

    async def find(self, scope: bytes, path: Sequence[Message]) -> Known | None:
        """Take the session that knows the most of `path`."""
        path = tuple(path)

        def find(database: Database, is_wanted: Callable[[], bool]) -> Known | None:
            return self.sessions.find(database, scope, path, is_wanted)

        def put_back(found: Known | None) -> None:
            if found is not None:
                self.release(scope, found.handle)

        try:
            return await self.worker.take(find, put_back)
        except StoreError:
            return None

    async def begin(self, scope: bytes, handle: str) -> bool:
        """Note that a turn begins in a session; False if it isn't ours, or that can't be known."""
        name = SessionName(scope, handle)
        self.worker.drop(name)
        self.worker.drop(_Released(name))
        self.sessions.taken.pop(name, None)  # it is given something now
        return await self._is_ours(name, lambda database: self.sessions.begin(database, name))

    async def has(self, scope: bytes, handle: str) -> bool:
        """Return whether a session that is settled is still ours; no, if that can't be known."""
        name = SessionName(scope, handle)
        return await self._is_ours(name, lambda database: self.sessions.has(database, name))

    async def _is_ours(self, name: SessionName, ask: Callable[[Database], bool]) -> bool:
        try:
            return await self.worker.ask(ask)
        except StoreError:
            return name not in self.sessions.written

    def settle(
        self, scope: bytes, handle: str, record: Sequence[Exchange], marker: str | None
    ) -> None:
        """Note what a session knows now."""
        name = SessionName(scope, handle)
        record, now = tuple(record), self.now()
        was_written = False

        def prepare() -> DatabaseWrite | None:
            sketch = Sketch.of(record)
            if sketch is None:
                return None
            return lambda database: self.sessions.settle(
                database, name, sketch, marker, now, was_written=was_written
            )

        def begins() -> None:
            nonlocal was_written
            was_written = name in self.sessions.written
            self.sessions.written.add(name)

        def fails() -> None:
            if not was_written:
                self.sessions.written.discard(name)

        self.worker.note(name, Note(prepare, begins, fails))

    def release(self, scope: bytes, handle: str) -> None:
        """Note that we have closed a session."""
        name, now = SessionName(scope, handle), self.now()

        was_ours = False

        def release(database: Database) -> None:
            nonlocal was_ours
            was_ours = self.sessions.release(database, name, now)

        def ends() -> None:
            self.sessions.let_go(name, was_ours=was_ours)

        self.worker.note(_Released(name), Note(lambda: release, ends=ends, must_be=True))


@attrs.frozen
class _Released:
    """The key of a note that a session is released; it comes after what the session knows."""

    name: SessionName
