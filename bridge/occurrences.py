"""Replaces many values in a text at once. Pure.

The time grows with the text, however many values there are. Every third place of the text is
compared with the beginnings of the values; only where one fits are whole values compared.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator

SHORTEST_VALUE = 5
"""Characters that each value must have, so that one of the compared places lies within it."""
_STEP = 3
_HEAD = 64
"""Characters by which values are found; those that begin with the same are tried in turn."""


class Occurrences:
    """Finds where some values occur; each has at least `SHORTEST_VALUE` characters."""

    def __init__(self, values: Collection[str]) -> None:
        self._offsets: dict[str, list[int]] = {}
        """Where each piece may lie in a value, from the last place to the first."""
        for offset in reversed(range(_STEP)):
            for piece in {value[offset : offset + _STEP] for value in values}:
                self._offsets.setdefault(piece, []).append(offset)
        self._by_head: dict[str, list[str]] = {}
        for value in sorted(values, key=len, reverse=True):
            self._by_head.setdefault(value[:_HEAD], []).append(value)
        self._heads = sorted(self._by_head)
        self._shorter: dict[str, str] = {}
        """The longest other head that each head begins with, or no text."""
        within = [""]
        for head in self._heads:
            while not head.startswith(within[-1]):
                within.pop()
            self._shorter[head] = within[-1]
            within.append(head)

    def replace(self, text: str, by: str) -> str:
        """Return a text with every occurrence replaced; those that overlap are one."""
        parts: list[str] = []
        done = 0
        for start, end in self._spans(text):
            if start >= done:
                parts += text[done:start], by
            done = max(done, end)
        return "".join((*parts, text[done:])) if parts else text

    def _spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield where occurrences begin and end, in the order in which they begin."""
        known = self._offsets
        places = range(0, len(text) - _STEP + 1, _STEP)
        for place in [one for one in places if text[one : one + _STEP] in known]:
            for offset in known[text[place : place + _STEP]]:
                start = place - offset
                if start >= 0 and (length := self._longest_at(text, start)):
                    yield start, start + length

    def _longest_at(self, text: str, start: int) -> int:
        """Return the length of the longest value that stands there; 0 if none does."""
        place = bisect_right(self._heads, text[start : start + _HEAD]) - 1
        head = self._heads[place] if place >= 0 else ""
        while head:
            if text.startswith(head, start):
                for value in self._by_head[head]:
                    if text.startswith(value, start):
                        return len(value)
            head = self._shorter[head]
        return 0
