"""What outlives a process of ours, and what each opens of it: nothing, a shelf, or the store."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

import attrs
import trio

from actors.memory import SessionMemory
from agents.open_responses.checkpoints import NoPointMemory, PointMemory
from tests.fakes.session_memory import Shelf, ShelfMemory
from vscodelm.store.opening import start_memories


@attrs.frozen
class Remembered:
    """What a process remembers with."""

    sessions: SessionMemory | None
    points: PointMemory = attrs.field(factory=NoPointMemory)


class Memories(Protocol):
    """What outlives our processes."""

    @property
    def remembers(self) -> bool:
        """Whether there is anything that does."""
        ...

    def opened(self) -> AbstractAsyncContextManager[Remembered]:
        """Return what a process remembers with, for as long as it lives."""
        ...

    def close(self) -> None:
        """Forget it all; no process lives."""
        ...


@attrs.frozen
class Shelved:
    """A shelf, or nothing at all."""

    shelf: Shelf | None

    @property
    def remembers(self) -> bool:
        return self.shelf is not None

    @asynccontextmanager
    async def opened(self) -> AsyncGenerator[Remembered]:
        yield Remembered(None if self.shelf is None else ShelfMemory(self.shelf))

    def close(self) -> None:
        """Forget it."""


@attrs.frozen(eq=False)
class Stored:
    """The store that users have, in a folder of its own."""

    folder: TemporaryDirectory[str] = attrs.field(factory=TemporaryDirectory[str], init=False)
    remembers: bool = attrs.field(default=True, init=False)

    @asynccontextmanager
    async def opened(self) -> AsyncGenerator[Remembered]:
        async with trio.open_nursery() as nursery:
            memories = start_memories(Path(self.folder.name), nursery)
            try:
                yield Remembered(memories.sessions, memories.points)
            finally:
                memories.leave()

    def close(self) -> None:
        self.folder.cleanup()
