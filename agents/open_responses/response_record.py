"""What a server said of a response as a whole, and the items that were done in it."""

from __future__ import annotations

from collections.abc import Collection
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

    def learn(self, snapshot: Snapshot) -> None:
        """Take over what a snapshot says; what it leaves out is as it was."""
        for name in ("id", "status", "previous_response_id", "model", "store", "usage"):
            value = getattr(snapshot, name)
            if value is not None:
                setattr(self.snapshot, name, value)
        if snapshot.output != NOTHING:
            self.snapshot.output = snapshot.output.copy()

    def keep(self, item: Raw, index: int | None) -> None:
        """Take an item that is done."""
        self._items[len(self._items) if index is None else index] = item.copy()

    def output(self, called: Collection[str]) -> tuple[Raw, ...]:
        """Return the final output; what was done, where that lacks calls, or is empty.

        `called` are the server's ids of the calls that were emitted.
        """
        final = read_items(self.snapshot.output)
        calls = [raw for raw in final if read_item(raw).type == "function_call"]
        if final and len(calls) >= len(set(called)):
            return tuple(final)
        done: dict[str, Raw] = {}
        for place in sorted(self._items):
            item = read_item(self._items[place])
            done.setdefault(item.call_id or item.id or str(place), self._items[place])
        return tuple(done.values())
