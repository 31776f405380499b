"""Text of an agent's, with all that is in it to be seen. Pure.

A person must see the whole command before approving it. An invisible character, or one that
reverses the text, is written as `⟨U+202E⟩`. A long run of blanks and many empty lines are counted.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

LONGEST_WORD = 20
"""Cells of a word that the narrowest chat holds."""
_MOST_BLANKS = 32
_MOST_EMPTY = 2
_MOST_MARKS = 3
"""Marks that one letter may bear; more would be drawn over the text around it."""
_OURS = frozenset("⟨↪")
"""Marks that we write ourselves; an editor may put the second before a continued line."""
PLAIN = re.compile(r"[\x20-\x7e\n\t]*")
"""Texts in which nothing can be hidden, as is seen at a glance."""
_BLANKS = re.compile(r"[ \t]+")
_HIDDEN_KINDS = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})
# Invisible characters in the Unicode categories of letters, marks or signs.
_HIDDEN = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\U0001d159"
    + "\u180b\u180c\u180d\u180f"
    + "".join(map(chr, range(0xFE00, 0xFE10)))
    + "".join(map(chr, range(0xE0100, 0xE01F0)))
)


def visible(text: str) -> str:
    """Return the text with nothing in it that can't be seen; it keeps its lines."""
    return "\n".join(_lines(_seen(text).split("\n")))


def visible_line(text: str) -> str:
    """Return the text likewise, on one line; blanks at its ends are to be seen, too."""
    line = _BLANKS.sub(_blanks, _seen(text).replace("\n", _name("\n")))
    inner = line.strip(" \t")
    start = line[: len(line) - len(line.lstrip(" \t"))] if inner else line
    end = line[len(start) + len(inner) :]
    return "".join(map(_name, start)) + inner + "".join(map(_name, end))


def has_long_word(text: str) -> bool:
    """Return whether a narrow page can't hold a word of the text: only code is broken anywhere."""
    return any(cells(word) > LONGEST_WORD for word in text.split())


def cells(text: str) -> int:
    """Return how wide a text is: letters of Asia take two cells."""
    if text.isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(one) in "WF" else 1 for one in text)


def is_hidden(character: str) -> bool:
    """Return whether a character is invisible or looks like another one."""
    if character in " \n\t":
        return False
    return unicodedata.category(character) in _HIDDEN_KINDS or character in _HIDDEN


def _seen(text: str) -> str:
    text = text.replace("\r\n", "\n")
    return text if PLAIN.fullmatch(text) else "".join(_characters(text))


def _characters(text: str) -> Iterator[str]:
    marks = 0
    for character in text:
        marks = marks + 1 if unicodedata.category(character) in ("Mn", "Me") else 0
        hidden = is_hidden(character) or character in _OURS or marks > _MOST_MARKS
        yield _name(character) if hidden else character


def _name(character: str) -> str:
    return f"⟨U+{ord(character):04X}⟩"


def _lines(lines: list[str]) -> Iterator[str]:
    empty: list[str] = []
    for line in (*lines, None):
        if line is not None and not line.strip(" \t"):
            empty.append("")
            continue
        if len(empty) > _MOST_EMPTY:
            empty = [f"⟨{len(empty)} empty lines⟩"]
        yield from empty
        empty = []
        if line is not None:
            yield _BLANKS.sub(_blanks, line)


def _blanks(run: re.Match[str]) -> str:
    blanks = run[0]
    cells = len(blanks) + 3 * blanks.count("\t")
    return blanks if cells <= _MOST_BLANKS else f" ⟨{len(blanks)} blanks⟩ "
