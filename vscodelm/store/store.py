"""The store as its one thread has it: opened when it is first needed, and mended or left alone.

A damaged file is put aside, and a new one begun. If that fails, or the store can't be used for
another reason, it isn't used for a while: each try may take as long as a lock lasts.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar

import attrs

from .database import DamagedStore, Database, FullStore, StoreError, make_room, open_database, prune
from .folder import StoreFolder

T = TypeVar("T")
DatabaseWrite: TypeAlias = Callable[[Database], object]
"""Writes something, in a transaction of the caller's."""

REST_SECONDS = 10.0
WRITES_BETWEEN_PRUNINGS = 256

log = logging.getLogger("vscodelm.store")


@attrs.define(eq=False, repr=False)
class Store:
    """Opens the store again and again; `now` is the time that is kept with what is written."""

    place: StoreFolder
    now: Callable[[], float] = time.time
    open: Callable[[StoreFolder], Database] = open_database
    rest_seconds: float = REST_SECONDS
    _database: Database | None = attrs.field(default=None, init=False)
    _tried: tuple[int, int] | None = attrs.field(default=None, init=False)
    """The file that was opened last, or would have been."""
    _rests_until: float = attrs.field(default=float("-inf"), init=False)
    _trouble: str = attrs.field(default="", init=False)
    """Why it can't be used; logged once."""
    _is_pruned: bool = attrs.field(default=False, init=False)
    _writes: int = attrs.field(default=0, init=False)

    def ask(self, act: Callable[[Database], T]) -> T:
        """Do something with the database; raises `StoreError`."""
        if time.monotonic() < self._rests_until:
            raise StoreError(self._trouble)
        try:
            result = act(self._opened())
        except DamagedStore as error:
            self._put_aside(error)
            raise
        except FullStore as error:
            self._make_room(error)
            raise
        except StoreError as error:
            self._rest(error)
            raise
        except Exception as error:  # our own fault must not stop a turn either
            log.exception("the store failed")
            self._rest(StoreError(repr(error)))
            raise StoreError(repr(error)) from None
        self._trouble = ""
        return result

    def write(self, changes: Sequence[DatabaseWrite]) -> None:
        """Make changes, all in one transaction; raises `StoreError`."""

        def make(database: Database) -> None:
            with database.transaction(durable=False):
                for change in changes:
                    change(database)

        if changes:
            self.ask(make)
        self._writes += len(changes)
        self._is_pruned = self._is_pruned and self._writes < WRITES_BETWEEN_PRUNINGS

    def prune(self) -> bool:
        """Delete some of what is too much, if that is due; return whether there is more to do."""
        if self._database is None or self._is_pruned:
            return False
        try:
            self._is_pruned = not self.ask(lambda database: prune(database, self.now()))
        except StoreError:
            self._is_pruned = True  # until the next is due
        self._writes = 0
        return not self._is_pruned

    def close(self) -> None:
        """Close the database."""
        database, self._database = self._database, None
        if database is not None:
            try:
                database.close()
            except StoreError as error:
                log.info("the store wasn't closed: %s", error)

    def _opened(self) -> Database:
        if self._database is not None and not self._database.is_in_place:
            self.close()
        if self._database is None:
            self._tried = self._identity()
            self._database = self.open(self.place)
        return self._database

    def _identity(self) -> tuple[int, int] | None:
        try:
            return self.place.identity()
        except OSError:
            return None

    def _put_aside(self, error: DamagedStore) -> None:
        """Put the file aside, unless another process has put a new one there already."""
        damaged = self._tried if self._database is None else self._database.identity
        self.close()
        if self._identity() != damaged:
            return
        try:
            self.place.put_aside()
        except OSError as failure:
            self._rest(StoreError(f"{error}; and it can't be put aside: {failure}"))
            return
        log.warning("%s is damaged (%s): it is in %s now", self.place.file, error, self.place.aside)

    def _rest(self, error: StoreError) -> None:
        self.close()
        self._rests_until = time.monotonic() + self.rest_seconds
        tell = log.info if self._trouble else log.warning
        self._trouble = str(error)
        tell("%s can't be used now: %s", self.place.file, error)

    def _make_room(self, error: FullStore) -> None:
        try:
            make_room(self._opened())
        except StoreError:
            self._rest(error)
