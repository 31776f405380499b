"""The texts that an agent knows of the files of its session: it last read or wrote them. Pure.

A write is the agent's change of what it knows, so a wrong guess would undo what the user typed, or
make an edit twice. An agent may read a file in parts. Lines that have changed count as known only
if it has seen them all. If it has seen some of them, its knowledge is mixed, and it has to read the
whole file before it writes.
"""

from __future__ import annotations

import attrs

from bridge.value import Value

from .text_edit import plain

MOST_REMEMBERED = 16 * 1024 * 1024
"""Characters of texts that are remembered as read by the agent; the oldest are forgotten."""


class _Known(Value):
    """A text that an agent knows; `text` is None if it is uncertain which one.

    `lines` are those of the text `newer` that the agent has read since it is uncertain.
    """

    text: str | None
    newer: str = ""
    lines: range = range(0)

    @property
    def size(self) -> int:
        return len(self.text or "") + len(self.newer)


@attrs.define(eq=False, repr=False)
class KnownTexts:
    """The texts that an agent knows, by the paths of their files."""

    _known: dict[str, _Known] = attrs.field(factory=dict[str, _Known], init=False)
    """The newest last."""
    _size: int = attrs.field(default=0, init=False)

    def of(self, path: str) -> str | None:
        """Return the text that the agent knows of a file, if any."""
        known = self._known.get(path)
        return None if known is None else known.text

    def is_uncertain(self, path: str) -> bool:
        """Return whether the agent must read a file before it writes that."""
        known = self._known.get(path)
        return known is not None and known.text is None

    def note(self, path: str, text: str) -> None:
        """Remember that the agent knows a whole text."""
        self._put(path, _Known(text))

    def doubt(self, path: str) -> None:
        """Remember that it isn't certain what is in a file now."""
        self._put(path, _Known(None))

    def note_lines(self, path: str, text: str, lines: range) -> None:
        """Remember that the agent has read these lines of a text; the first has number 0."""
        known = self._known.get(path)
        if known is None:
            self.note(path, text)
        elif known.text is None:
            is_same = known.newer == text and _touch(known.lines, lines)
            self._put_lines(path, text, _joined(known.lines, lines) if is_same else lines)
        else:
            changed = _changed_lines(plain(known.text), plain(text))
            if _has(lines, changed):
                self.note(path, text)
            elif lines.start < changed.stop and changed.start < lines.stop:
                self._put_lines(path, text, lines)

    def _put_lines(self, path: str, text: str, lines: range) -> None:
        is_whole = _has(lines, range(len(text.removesuffix("\n").split("\n"))))
        self._put(path, _Known(text) if is_whole else _Known(None, text, lines))

    def _put(self, path: str, known: _Known) -> None:
        old = self._known.pop(path, None)
        self._size += known.size - (0 if old is None else old.size)
        self._known[path] = known
        while self._size > MOST_REMEMBERED and len(self._known) > 1:
            self._size -= self._known.pop(next(iter(self._known))).size


def _changed_lines(old: str, new: str) -> range:
    """Return the lines of `new` from the first to the last one that differs.

    If lines are only missing, these are the two lines around their place.
    """
    before, after = old.split("\n"), new.split("\n")
    most = min(len(before), len(after))
    head = next((at for at in range(most) if before[at] != after[at]), most)
    tails = range(1, most - head + 1)
    tail = next((at - 1 for at in tails if before[-at] != after[-at]), most - head)
    end = len(after) - tail
    if head < end or old == new:
        return range(head, end)
    return range(max(0, head - 1), min(len(after), head + 1))


def _has(lines: range, others: range) -> bool:
    return lines.start <= others.start and others.stop <= lines.stop


def _touch(one: range, other: range) -> bool:
    return one.start <= other.stop and other.start <= one.stop


def _joined(one: range, other: range) -> range:
    return range(min(one.start, other.start), max(one.stop, other.stop))
