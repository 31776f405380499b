"""What is left out of a text in its middle, and where it may be cut."""

from __future__ import annotations

import unicodedata

NOTE = 48
"""The most bytes of a note that a million megabytes are missing, and of any shorter one."""
_JOINER = "\N{ZERO WIDTH JOINER}"


def size_of(text: str) -> int:
    """Return how many bytes a text has in UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def shortened(text: str, most: int) -> str:
    """Return the beginning and the end of a text, of at most `most` bytes, and a note between.

    A note says how many characters are missing; it comes on top. No character is cut.
    """
    if size_of(text) <= most:
        return text
    at = _beginning(text, most - most // 3)
    to = max(at, _end(text, most // 3))
    return f"{text[:at]}\n[… {to - at:,} characters left out …]\n{text[to:]}"


def _beginning(text: str, most: int) -> int:
    """Return where a beginning of at most `most` bytes ends."""
    at = _fitting(text[:most], most)
    while 0 < at < len(text) and _belongs(text, at):
        at -= 1
    return at


def _end(text: str, most: int) -> int:
    """Return where an end of at most `most` bytes begins."""
    tail = text[max(0, len(text) - most) :]
    at = len(text) - _fitting(tail[::-1], most)
    while at < len(text) and _belongs(text, at):
        at += 1
    return at


def _fitting(text: str, most: int) -> int:
    """Return how many of the first characters have at most `most` bytes."""
    least, limit = 0, len(text)
    while least < limit:
        middle = (least + limit + 1) // 2
        if size_of(text[:middle]) <= most:
            least = middle
        else:
            limit = middle - 1
    return least


def _belongs(text: str, at: int) -> bool:
    """Return whether the character there is one with the character before it to who reads it."""
    here, before = text[at], text[at - 1]
    if here in "\r\n":
        return before == "\r"
    if "\udc00" <= here <= "\udfff":
        return "\ud800" <= before <= "\udbff"
    is_tone = "\U0001f3fb" <= here <= "\U0001f3ff"
    is_mark = unicodedata.category(here) in ("Mn", "Mc", "Me")
    return is_tone or is_mark or _JOINER in (here, before)
