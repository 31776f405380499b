"""The store of a process, for as long as its agents live."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from .folder import StoreFolder
from .point_memory import StoredPoints
from .session_memory import StoredSessions
from .sessions import Sessions
from .store import Store
from .worker import PATIENCE_SECONDS, Worker

if TYPE_CHECKING:
    import trio


@attrs.frozen(eq=False, repr=False)
class Memories:
    """The memories of agents' sessions and of endpoints' responses."""

    sessions: StoredSessions
    points: StoredPoints
    _worker: Worker

    def leave(self) -> None:
        """Write what is noted and close the file, in a bounded time; the nursery waits for that."""
        self._worker.leave()


def start_memories(
    state: Path,
    nursery: trio.Nursery,
    *,
    now: Callable[[], float] = time.time,
    patience: float = PATIENCE_SECONDS,
) -> Memories:
    """Remember in the folder `state`, which nobody touches until there is something to remember."""
    worker = Worker(Store(StoreFolder(state), now), patience)
    nursery.start_soon(worker.run, name="store")
    sessions = Sessions(secrets.token_bytes(16))
    return Memories(StoredSessions(worker, sessions, now), StoredPoints(worker, now), worker)
