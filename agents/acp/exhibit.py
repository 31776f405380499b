"""What an agent wants to do, put before a person who decides about it.

It comes from a model, or from what the model has read, so it may be made to look harmless. What a
terminal or an editor wouldn't show is made visible, not left out, because what runs has it too.
Everything is bounded, and says how much is missing.
"""

from __future__ import annotations

import re
from typing import Any, cast

import attrs

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
# Controls but tab and line end; marks that turn the direction round; what has no width (but for the
# two that join letters); line ends of other alphabets; halves of characters.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)


def title_of(text: str) -> str:
    """Return a text of the agent's as one short line, without what can't be seen."""
    words = _COLOURS.sub("", " ".join(text[: 8 * TITLE_LENGTH].split()))
    line = " ".join(_HIDDEN.sub("", words).split())
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
        return _HIDDEN.sub(_visible, text.replace("\r\n", "\n"))

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


def _visible(match: re.Match[str]) -> str:
    character = match[0]
    if character < " ":
        return chr(0x2400 + ord(character))  # a picture of the control character
    return "\u2421" if character == "\x7f" else "\ufffd"
