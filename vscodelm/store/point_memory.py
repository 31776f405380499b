"""The endpoints' responses, remembered in the store."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence

import attrs

from agents.open_responses.checkpoints import Point

from .database import Database, StoreError
from .points import forget, keep, newest
from .worker import Note, Worker


@attrs.define(eq=False, repr=False)
class StoredPoints:
    """Satisfies `agents.open_responses.checkpoints.PointMemory`."""

    worker: Worker
    now: Callable[[], float] = time.time

    async def points(self, scope: bytes, most: int) -> Sequence[tuple[bytes, Point]]:
        """Return the newest points, none where the store can't say them in time."""
        try:
            return await self.worker.ask(lambda database: newest(database, scope, most))
        except StoreError:
            return ()

    def keep(self, scope: bytes, digest: bytes, point: Point) -> None:
        """Remember a point."""
        now = self.now()

        def change(database: Database) -> None:
            keep(database, scope, digest, point, now)

        self.worker.note(_Name(scope, digest), Note(lambda: change))

    def forget(self, scope: bytes, digests: Iterable[bytes]) -> None:
        """Forget points."""
        for digest in digests:
            self._forget(scope, digest)

    def _forget(self, scope: bytes, digest: bytes) -> None:
        def change(database: Database) -> None:
            forget(database, scope, digest)

        self.worker.note(_Name(scope, digest), Note(lambda: change))


@attrs.frozen
class _Name:
    """The key of what is noted of a point."""

    scope: bytes
    digest: bytes
