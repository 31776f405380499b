"""What a server said of a response as a whole, and the items that were done in it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from .events import NOTHING, Snapshot, read_item, read_items

if TYPE_CHECKING:
    from msgspec import Raw


class ResponseRecord:
    """A response; `snapshot` is all that its snapshots said, the newest first."""

    def __init__(self) -> None:
        self.snapshot = Snapshot()
        self._items: dict[int, Raw] = {}
        """The items that are done, by their order."""
        self._final: list[Raw] | None = None
        self._output: tuple[int, tuple[Raw, ...]] | None = None
        """What `output` returns, for so many calls."""

    @property
    def final(self) -> list[Raw]:
        """The items of the final output."""
        if self._final is None:
            self._final = read_items(self.snapshot.output)
        return self._final

    def learn(self, snapshot: Snapshot) -> None:
        """Take over what a snapshot says; what it leaves out is as it was."""
        for name in ("id", "status", "previous_response_id", "model", "store", "usage"):
            value = getattr(snapshot, name)
            if value is not None:
                setattr(self.snapshot, name, value)
        if snapshot.output != NOTHING:
            self.snapshot.output = snapshot.output.copy()
            self._final = self._output = None

    def keep(self, item: Raw, index: int | None) -> None:
        """Take an item that is done."""
        self._items[len(self._items) if index is None else index] = item.copy()
        self._output = None

    def output(self, called: Collection[str]) -> tuple[Raw, ...]:
        """Return the final output; what was done, where that lacks calls, or is empty.

        `called` are the server's ids of the calls that were emitted.
        """
        for _ in self.settle(called):
            pass
        return () if self._output is None else self._output[1]

    def settle(self, called: Collection[str]) -> Iterator[None]:
        """Find out what `output` returns, step by step; until something else is learned."""
        count = len(set(called))
        if self._output is not None and self._output[0] == count:
            return
        calls = 0
        for raw in self.final:
            calls += read_item(raw).type == "function_call"
            yield
        if self.final and calls >= count:
            self._output = count, tuple(self.final)
            return
        done: dict[str, Raw] = {}
        for place in sorted(self._items):
            item = read_item(self._items[place])
            done.setdefault(item.call_id or item.id or str(place), self._items[place])
            yield
        self._output = count, tuple(done.values())
