"""A memory of sessions that several processes share, without a file.

A `Shelf` is what they share, a `ShelfMemory` is one process's view of it. A process that is killed
just isn't used any more.

    shelf = Shelf()
    async with connected(agent, memory=ShelfMemory(shelf)) as editor: ...
    async with connected(agent, memory=ShelfMemory(shelf)) as editor: ...   # after a restart
"""

from __future__ import annotations

import enum
from collections.abc import Sequence

import attrs
import trio

from actors.memory import Known
from agents.acp.handles import SessionHandle
from bridge.history.exchange import Exchange
from bridge.history.message import Message
from bridge.routing.sketch import Sketch, keys, recognise


class State(enum.Enum):
    """What is known of a session."""

    SETTLED = enum.auto()
    FOUND = enum.auto()
    """Settled, and its finder hasn't given it anything yet."""
    RUNNING = enum.auto()


@attrs.define
class Entry:
    """A session."""

    holder: ShelfMemory | None
    state: State
    sketch: Sketch | None = None
    marker: str | None = None


@attrs.define
class Shelf:
    """Every session that any process told of, by scope and handle."""

    entries: dict[tuple[bytes, str], Entry] = attrs.field(
        factory=dict[tuple[bytes, str], "Entry"], init=False
    )

    def state_of(self, handle: str) -> State | None:
        """Return the state of a session, whatever its scope."""
        return next((e.state for (_, name), e in self.entries.items() if name == handle), None)


@attrs.define(eq=False)
class ShelfMemory:
    """A process's view; it satisfies `actors.memory.SessionMemory`."""

    shelf: Shelf = attrs.field(factory=Shelf)
    asked: list[Known | None] = attrs.field(factory=list["Known | None"], init=False)
    """What each search led to."""

    async def find(self, scope: bytes, path: Sequence[Message]) -> Known | None:
        """Take the one that knows the most."""
        await trio.lowlevel.checkpoint()
        best: Known | None = None
        wanted = keys(path)
        for (its_scope, handle), entry in self.shelf.entries.items():
            free = entry.state is State.SETTLED and entry.holder is not self
            if its_scope != scope or not free or entry.sketch is None:
                continue
            steps = recognise(entry.sketch.steps, path) if entry.sketch.key in wanted else None
            if steps is not None and (best is None or steps > best.steps):
                best = Known(handle, steps)
        if best is not None:
            entry = self.shelf.entries[scope, best.handle]
            entry.holder, entry.state = self, State.FOUND
        self.asked.append(best)
        return best

    async def begin(self, scope: bytes, handle: str) -> bool:
        """Note that a turn begins."""
        await trio.lowlevel.checkpoint()
        entry = self.shelf.entries.setdefault((scope, handle), Entry(self, State.RUNNING))
        if entry.holder is not self:
            return False
        entry.state = State.RUNNING
        ours = SessionHandle.read(handle)
        for (its_scope, other), its in self.shelf.entries.items():
            if its_scope == scope and ours.is_another_of(SessionHandle.read(other)):
                its.holder, its.state = None, State.RUNNING
        return True

    async def has(self, scope: bytes, handle: str) -> bool:
        """Return whether nobody else has it."""
        await trio.lowlevel.checkpoint()
        entry = self.shelf.entries.get((scope, handle))
        return entry is None or entry.holder is self

    def settle(
        self, scope: bytes, handle: str, record: Sequence[Exchange], marker: str | None
    ) -> None:
        """Note what a session knows, if that can be told."""
        entry = self.shelf.entries.setdefault((scope, handle), Entry(self, State.RUNNING))
        sketch = Sketch.of(record)
        if entry.holder is self and sketch is not None:
            entry.state, entry.sketch, entry.marker = State.SETTLED, sketch, marker

    def release(self, scope: bytes, handle: str) -> None:
        """Let others have it; a running one stays so."""
        entry = self.shelf.entries.get((scope, handle))
        if entry is not None and entry.holder is self:
            entry.holder = None
            if entry.state is State.FOUND:
                entry.state = State.SETTLED
