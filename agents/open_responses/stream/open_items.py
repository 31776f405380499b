"""Items of a response that have begun and aren't done.

Some servers end a stream without saying that the response is complete. It is, where each item that
began is done.
"""

from __future__ import annotations

from .approvals import is_approval
from .events import OutputItem
from .hosted import is_result

_ANSWERS = frozenset({"message", "function_call"})


class OpenItems:
    """The items of one response. Ids change, and indices are wrong, so an item is found by both."""

    def __init__(self) -> None:
        self.is_amid = False
        """Whether something was said since the last item was done."""
        self._open: dict[int, OutputItem] = {}
        """In the order in which they began."""
        self._by_id: dict[str, int] = {}
        self._by_index: dict[int, int] = {}
        self._count = 0
        self._has_answer = False
        self._is_cut = False

    @property
    def are_done(self) -> bool:
        """Whether an answer is done, and nothing is left to be done."""
        return self._has_answer and not (self._open or self.is_amid or self._is_cut)

    def begin(self, item: OutputItem, index: int | None) -> None:
        """Take the beginning of an item; one that is told again has begun once."""
        if item.id and self._by_id.get(item.id) in self._open:
            return
        place, self._count = self._count, self._count + 1
        self._open[place] = item
        if item.id:
            self._by_id[item.id] = place
        if index is not None:
            self._by_index[index] = place

    def finish(self, item: OutputItem, index: int | None) -> None:
        """Take an item that is done."""
        self.is_amid = False
        is_answer = item.type in _ANSWERS or is_approval(item.type)
        self._has_answer |= is_answer or is_result(item.type)
        self._is_cut |= item.status == "incomplete"
        places = (
            self._by_id.get(item.id or ""),
            None if index is None else self._by_index.get(index),
            next(iter(self._open), None),
        )
        place = next((one for one in places if one in self._open), None)
        if place is not None:
            del self._open[place]
