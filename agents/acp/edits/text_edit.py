"""Turn a text that an agent writes into the smallest edit that the editor can make. Pure.

An agent writes whole files. The editor edits: it creates a file, or replaces a text that is there
once. So a write becomes one hunk, from the first to the last line that the agent has changed in
what it read. The user may have changed other lines meanwhile, and they stay. Nothing is sent if
the buffer doesn't hold the hunk's old text exactly: the editor's tools would guess.

Texts are compared with LF as their line ends and without a byte order mark; the editor keeps both
as the file has them. A new file has none, so the editor gets the agent's own line ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from bridge.value import Value

MOST_HUNK_BYTES = 256 * 1024
"""Most bytes of a hunk, its old text and its new text each: the editor's tools take it as JSON."""

BYTE_ORDER_MARK = "\ufeff"

CHANGED_MEANWHILE = (
    "The file has changed since you read it, where you change it. Nothing was written. "
    "Read the file again and repeat the edit."
)
TOO_LARGE = (
    "The edit is larger than {size} KB, which is more than the editor takes at once. Nothing was "
    "written. Make several smaller edits."
)
LONE_RETURN = (
    "The text has a carriage return without a line feed, and the editor would write another line "
    "end for it. Nothing was written."
)
FILE_HAS_RETURN = (
    "The file has a carriage return without a line feed, which the editor takes for a line end, so "
    "its lines aren't those that you read. Nothing was written."
)
NOT_TEXT = "The editor's tools edit text only, and this is binary. Nothing was written."


class Unchanged(Value):
    """The file has that text already, or the agent means no change."""


class NewFile(Value):
    """The file is missing or empty, and gets a text."""

    text: str


class Replacement(Value):
    """A text that is in the buffer once gives way to another; `result` is the whole text then."""

    old: str
    new: str
    result: str


class Impossible(Value):
    """Nothing is written; `reason` tells the model why, and what it can do."""

    reason: str


TextEdit: TypeAlias = Unchanged | NewFile | Replacement | Impossible


def plain(text: str) -> str:
    """Return a text as texts are compared: with LF as line ends, and without a byte order mark."""
    return text.removeprefix(BYTE_ORDER_MARK).replace("\r\n", "\n")


def edit_for(meant: str, base: str | None, buffer: str | None) -> TextEdit:
    """Return the edit that makes an agent's write of `meant`.

    `base` is the text that the agent last read, None if it read none; `buffer` is the file's text
    now, None if there is no file.
    """
    given, meant = meant.removeprefix(BYTE_ORDER_MARK), plain(meant)
    current = None if buffer is None else plain(buffer)
    if meant == current:
        return Unchanged()
    if "\0" in meant or "\0" in (current or ""):
        return Impossible(NOT_TEXT)
    if not current:
        return Impossible(LONE_RETURN) if "\r" in meant else _sized(NewFile(given), given)
    read = current if base is None else plain(base)
    if meant == read:
        return Unchanged()
    if "\r" in current or "\r" in meant:
        return Impossible(FILE_HAS_RETURN if "\r" in current else LONE_RETURN)
    return _replacement(meant, read, current)


def _replacement(meant: str, read: str, current: str) -> TextEdit:
    between = _Hunk.between(_lines(read), _lines(meant))
    hunk: _Hunk | None = between.with_neighbours() if between.only_adds else between
    step = 1
    while hunk is not None and not hunk.is_clear_in(read, current):
        hunk, step = hunk.widened(step, current), step * 2
    if hunk is None:
        return Impossible(CHANGED_MEANWHILE)
    needs_ends = between.only_adds or between.moves_last_end
    if needs_ends and not between.has_ends_of(current, hunk.old):
        return Impossible(CHANGED_MEANWHILE)
    old, new = hunk.old, hunk.new
    return _sized(Replacement(old, new, current.replace(old, new, 1)), old, new)


def _sized(edit: TextEdit, *texts: str) -> TextEdit:
    """Return the edit, or a refusal if a text of it is too large."""
    if all(len(one.encode(errors="surrogatepass")) <= MOST_HUNK_BYTES for one in texts):
        return edit
    return Impossible(TOO_LARGE.format(size=MOST_HUNK_BYTES // 1024))


class _Hunk(Value):
    """Lines that were read and what they become, but for `head` and `tail` lines at the ends."""

    read: Sequence[str]
    meant: Sequence[str]
    head: int
    tail: int

    @classmethod
    def between(cls, read: Sequence[str], meant: Sequence[str]) -> _Hunk:
        """Return the hunk from the first to the last line that isn't the same."""
        head = _same(read, meant)
        most = min(len(read), len(meant)) - head
        tail = _same(read[len(read) - most :][::-1], meant[len(meant) - most :][::-1])
        return cls(read, meant, head, tail)

    @property
    def old(self) -> str:
        """The text before the edit."""
        return "".join(self.read[self.head : len(self.read) - self.tail])

    @property
    def new(self) -> str:
        """The text after the edit."""
        return "".join(self.meant[self.head : len(self.meant) - self.tail])

    @property
    def only_adds(self) -> bool:
        """Whether the new lines have the old ones among them, so both may be there already."""
        end = "" if self.old[-1:] in ("", "\n") else "\n"
        return f"\n{self.old}{end}" in f"\n{self.new}{end}"

    @property
    def moves_last_end(self) -> bool:
        """Whether the file's last line gets a line end, or loses it.

        A line of the user's behind it would be joined to it, or come after an empty one.
        """
        old, new = self.old, self.new
        ends = old.endswith("\n") != new.endswith("\n") if new else not old.endswith("\n")
        return self.tail == 0 and ends

    def with_neighbours(self) -> _Hunk:
        """Return the hunk with the line before it and the line behind it, as far as there are."""
        return _Hunk(self.read, self.meant, max(0, self.head - 1), max(0, self.tail - 1))

    def has_ends_of(self, text: str, old: str) -> bool:
        """Return whether a text begins or ends with `old` if the hunk is at that end."""
        begins = self.head > 0 or text.startswith(old)
        return begins and (self.tail > 0 or text.endswith(old))

    def is_clear_in(self, *texts: str) -> bool:
        """Return whether the old text says in each of these texts where the edit belongs."""
        old = self.old
        return bool(old) and all(_is_once(old, one) and _is_whole(old, one) for one in texts)

    def widened(self, step: int, current: str) -> _Hunk | None:
        """Return the hunk with more lines at its ends, of which the buffer has the same.

        At most `step` lines come to each end; None if the buffer has none of that. As many come as
        the buffer lets, up to a half, or else a file of equal lines would take for ever.
        """
        for lines in (step >> by for by in range(step.bit_length())):
            head, tail = max(0, self.head - lines), max(0, self.tail - lines)
            for more_head, more_tail in ((head, tail), (head, self.tail), (self.head, tail)):
                wider = _Hunk(self.read, self.meant, more_head, more_tail)
                if wider != self and wider.old in current:
                    return wider
        return None


def _is_once(part: str, text: str) -> bool:
    """Return whether a part occurs once; parts that overlap count, too."""
    first = text.find(part)
    return first >= 0 and text.find(part, first + 1) < 0


def _is_whole(part: str, text: str) -> bool:
    """Return whether the first occurrence of a part has no rest of a line before or behind it."""
    first = text.find(part)
    end = first + len(part)
    begins = first == 0 or text[first - 1] == "\n"
    return begins and (part[-1] == "\n" or text[end : end + 1] in ("", "\n"))


def _lines(text: str) -> Sequence[str]:
    """Return the lines with their ends; only LF ends a line."""
    return [*(f"{line}\n" for line in text.split("\n")[:-1]), *filter(None, [text.split("\n")[-1]])]


def _same(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many lines the two have in common at their beginning."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
