"""The endpoints' responses, remembered in the store."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial

import attrs

from agents.open_responses.checkpoints import Point

from .database import StoreError
from .points import forget, keep, newest
from .store import DatabaseWrite
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
        write = partial(keep, scope=scope, digest=digest, point=point, now=self.now())
        self._note(scope, digest, write)

    def forget(self, scope: bytes, digests: Iterable[bytes]) -> None:
        """Forget points."""
        for digest in digests:
            self._note(scope, digest, partial(forget, scope=scope, digest=digest))

    def _note(self, scope: bytes, digest: bytes, write: DatabaseWrite) -> None:
        self.worker.note(_PointName(scope, digest), Note(lambda: write))


@attrs.frozen
class _PointName:
    """The key of what is noted of a point."""

    scope: bytes
    digest: bytes
