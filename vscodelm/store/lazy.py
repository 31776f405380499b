"""The store, loaded when it is first needed, because the editor waits for our start."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import trio

from actors.memory import Known, NoMemory, SessionMemory
from agents.boundary import contained
from bridge.history.exchange import Exchange
from bridge.history.message import Message
from vscodelm.places import state_folder

if TYPE_CHECKING:
    from agents.open_responses.checkpoints import Point, PointMemory

    from .opening import Memories


LEARNED = "learned.json"
"""The file for what agents have shown of themselves, in the state folder."""
OFFERED = "offered.json"
"""The file for the choices that agents offer, in the state folder."""
PICTURES = "pictures"
"""The folder for images that models of endpoints made, in the state folder."""


class LateMemory:
    """Satisfies `SessionMemory` and `PointMemory`; its work is done in `nursery`.

    A store that can't be loaded at all remembers nothing.
    """

    def __init__(self, state: Path | None, nursery: trio.Nursery) -> None:
        self._state = state
        self._nursery = nursery
        self._memories: Memories | None = None
        self._is_loaded = False

    async def find(self, scope: bytes, path: Sequence[Message]) -> Known | None:
        """Take the session that knows the most of `path`."""
        return await self._loaded().find(scope, path)

    async def begin(self, scope: bytes, handle: str) -> bool:
        """Note that a turn begins in a session; False if it isn't ours any more."""
        return await self._loaded().begin(scope, handle)

    async def has(self, scope: bytes, handle: str) -> bool:
        """Return whether a session that is settled is still ours."""
        return await self._loaded().has(scope, handle)

    def settle(
        self, scope: bytes, handle: str, record: Sequence[Exchange], marker: str | None
    ) -> None:
        """Note what a session knows now."""
        self._loaded().settle(scope, handle, record, marker)

    def release(self, scope: bytes, handle: str) -> None:
        """Note that we have closed a session."""
        self._loaded().release(scope, handle)

    async def points(self, scope: bytes, most: int) -> Sequence[tuple[bytes, Point]]:
        """Return the newest responses of an endpoint, the newest last."""
        return await self._points().points(scope, most)

    def keep(self, scope: bytes, digest: bytes, point: Point) -> None:
        """Remember a response."""
        self._points().keep(scope, digest, point)

    def forget(self, scope: bytes, digests: Iterable[bytes]) -> None:
        """Forget responses."""
        self._points().forget(scope, digests)

    def leave(self) -> None:
        """Write what is noted, in a bounded time."""
        if self._memories is not None:
            self._memories.leave()

    def _loaded(self) -> SessionMemory:
        memories = self._load()
        return NoMemory() if memories is None else memories.sessions

    def _points(self) -> PointMemory:
        from agents.open_responses.checkpoints import (
            NoPointMemory,  # here: an endpoint has it loaded
        )

        memories = self._load()
        return NoPointMemory() if memories is None else memories.points

    def _load(self) -> Memories | None:
        """Return the memories; None, and one traceback in the log, where they can't be had."""
        if not self._is_loaded:
            self._is_loaded = True
            with contained("store"):
                from .opening import start_memories

                self._memories = start_memories(state_folder(self._state), self._nursery)
        return self._memories


@asynccontextmanager
async def open_memory(state: Path | None) -> AsyncGenerator[LateMemory]:
    """Remember in the folder `state`, or the usual one; on exit all is written, if it can be."""
    async with trio.open_nursery() as nursery:
        memory = LateMemory(state, nursery)
        try:
            yield memory
        finally:
            memory.leave()
