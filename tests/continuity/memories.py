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
from tests.fakes.session_memory import Shelf, ShelfMemory
from vscodelm.store.opening import start_memories


class Memories(Protocol):
    """What outlives our processes."""

    def opened(self) -> AbstractAsyncContextManager[SessionMemory | None]:
        """Return what a process remembers with, for as long as it lives."""
        ...

    def close(self) -> None:
        """Forget it all; no process lives."""
        ...


@attrs.frozen
class Shelved:
    """A shelf, or nothing at all."""

    shelf: Shelf | None

    @asynccontextmanager
    async def opened(self) -> AsyncGenerator[SessionMemory | None]:
        yield None if self.shelf is None else ShelfMemory(self.shelf)

    def close(self) -> None:
        """Forget it."""


@attrs.frozen(eq=False)
class Stored:
    """The store that users have, in a folder of its own."""

    folder: TemporaryDirectory[str] = attrs.field(factory=TemporaryDirectory[str], init=False)

    @asynccontextmanager
    async def opened(self) -> AsyncGenerator[SessionMemory | None]:
        async with trio.open_nursery() as nursery:
            memories = start_memories(Path(self.folder.name), nursery)
            try:
                yield memories.sessions
            finally:
                memories.leave()

    def close(self) -> None:
        self.folder.cleanup()
