"""What an agent wants to do, put before a person who decides about it.

It comes from a model, or from what the model has read, so it may be made to look harmless. What a
terminal or an editor wouldn't show is made visible, not left out, because what runs has it too.
Everything is bounded, and says how much is missing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Any, cast

import attrs

from .visible import is_hidden

TITLE_LENGTH = 200
"""Characters that are shown of a title."""
TEXT_LENGTH = 4_000
"""Characters that are shown of one text."""
WHOLE_LENGTH = 20_000
"""Characters that are shown of all texts together."""
MOST_ITEMS = 100
"""Items that are shown of a list or an object."""
DEEPEST = 8
"""Levels of lists and objects within each other that are shown."""

MISSING = "…"

_COLOURS = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]")
_PLAIN = re.compile(r"[\x20-\x7e\n\t]*")
_JOINING = frozenset("\u200c\u200d\ufe0e\ufe0f")
"""What joins letters and chooses between pictures stays: words and emoji need it."""


def title_of(text: str) -> str:
    """Return a text of the agent's as one short line, without what can't be seen."""
    words = _COLOURS.sub("", " ".join(text[: 8 * TITLE_LENGTH].split()))
    line = " ".join(_without_hidden(words, lambda _: "").split())
    return line if len(line) <= TITLE_LENGTH else line[: TITLE_LENGTH - 1] + MISSING


@attrs.define
class Exhibit:
    """Shows texts and JSON, as much as there is room for in one question."""

    left: int = WHOLE_LENGTH

    def text(self, text: str) -> str:
        """Return a text with all that is hidden in it, its middle left out if it is long."""
        room = max(0, min(TEXT_LENGTH, self.left))
        more = len(text) - room
        if more > 0:
            tail = room // 4
            end = text[len(text) - tail :]
            text = f"{text[: room - tail]}{MISSING} {more:,} characters left out {MISSING}{end}"
        self.left -= len(text)
        return _without_hidden(text.replace("\r\n", "\n"), _picture)

    def value(self, value: Any, depth: int = 0) -> Any:
        """Return a JSON value, likewise."""
        self.left -= 1  # so that many small ones have an end, too
        if isinstance(value, str):
            return self.text(value)
        if not isinstance(value, dict | list):
            return value
        if depth == DEEPEST or self.left <= 0:
            return MISSING
        if isinstance(value, list):
            items = cast("list[Any]", value)
            shown = [self.value(item, depth + 1) for item in items[:MOST_ITEMS]]
            more = len(items) - MOST_ITEMS
            return [*shown, f"{MISSING} {more:,} more"] if more > 0 else shown
        fields = cast("dict[str, Any]", value)
        kept = list(fields.items())[:MOST_ITEMS]
        shown_fields = {self.text(key): self.value(item, depth + 1) for key, item in kept}
        more = len(fields) - MOST_ITEMS
        return {**shown_fields, MISSING: f"{more:,} more"} if more > 0 else shown_fields


def _without_hidden(text: str, instead: Callable[[str], str]) -> str:
    """Return the text with something instead of each character that can't be seen."""
    if _PLAIN.fullmatch(text):
        return text
    return "".join(instead(one) if _is_hidden(one) else one for one in text)


def _is_hidden(character: str) -> bool:
    is_blank = unicodedata.category(character) == "Zs"
    return is_hidden(character) and not is_blank and character not in _JOINING


def _picture(character: str) -> str:
    if character < " ":
        return chr(0x2400 + ord(character))  # a picture of the control character
    return "\u2421" if character == "\x7f" else "\ufffd"
