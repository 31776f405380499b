"""Show an agent's text as Markdown that can't change its surroundings or mislead the user.

Titles, paths, inputs and outputs come from agents, and from content that the agents have read. None
of them may end our own lines, fences or code spans. None may contain control characters for a
terminal, link to a command of the editor, or fill the chat.

A call that the user decides about may be made to look harmless. So an `Exhibit` makes hidden
characters visible instead of leaving them out, because the command that runs has them too. Its size
is bounded, and it says how much is missing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Any, cast

import attrs

from .visible import PLAIN, is_hidden

_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours, cursor moves
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?"  # window titles, links
    r"|\x1b[ -/]*[0-~]?"
)
_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029"
    "\u202a-\u202e\u2066-\u2069]"  # these turn text round, so that it reads as another
)
_SURROGATES = re.compile("[\ud800-\udfff]")
_SPACES = re.compile(r"\s+")


def clean(text: str) -> str:
    """Return the text as a terminal would leave it: no escapes, no controls but tabs and line ends.

    After a carriage return the next text overwrites the line, as progress bars do.
    """
    text = _ESCAPES.sub("", text).replace("\r\n", "\n").rstrip("\r")
    if "\r" in text:
        text = "\n".join(line.rpartition("\r")[2] for line in text.split("\n"))
    return _SURROGATES.sub("\ufffd", _CONTROLS.sub("", text))


def one_line(text: str, limit: int) -> str:
    """Return the text cleaned, on one line, of at most `limit` characters."""
    # Far more than enough is cleaned, and not all of a title of a megabyte.
    text = _SPACES.sub(" ", clean(text[: 8 * limit].replace("\r", "\n"))).strip()
    return cut(text, limit)


_SPECIAL = re.compile(
    r"[\\`*\[\]<$]"
    r"|(?<![^\W_])_|_(?![^\W_])"  # a_b is no emphasis
    r"|~(?=~)|(?<=~)~"
    r"|&(?=#?\w+;)"
)


def escape(line: str) -> str:
    """Return the Markdown that shows this line as it is, within a line."""
    return _SPECIAL.sub(r"\\\g<0>", line)


_BACKTICKS = re.compile("`+")
_CODE = re.compile("`([^`]+)`")


def inline(line: str) -> str:
    """Return the Markdown for a line in which `code` is marked, as agents mark it in titles."""
    texts = _CODE.split(line)
    return "".join(code(text) if at % 2 else escape(text) for at, text in enumerate(texts))


def code(line: str) -> str:
    """Return a line as a code span."""
    ticks = "`" * (_longest_run(line) + 1)
    edges = line[:1] + line[-1:]
    # A span loses one blank at either end where it has both.
    space = " " if "`" in edges or (edges == "  " and line.strip(" ")) else ""
    return f"{ticks}{space}{line}{space}{ticks}"


def fenced(text: str, language: str = "") -> str:
    """Return text as a fenced block, behind a fence that isn't in it."""
    ticks = "`" * max(3, _longest_run(text) + 1)
    language = re.sub(r"[^\w+#.-]", "", language)[:20]
    end = "" if text.endswith("\n") else "\n"
    return f"{ticks}{language}\n{text}{end}{ticks}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in _BACKTICKS.findall(text)), default=0)


def unfenced(text: str) -> tuple[str, str]:
    """Return text and language: of the block, where the whole text is one fenced block."""
    first, _, rest = text.strip().partition("\n")
    language = first.lstrip("`")
    fence = first[: len(first) - len(language)]
    inside = rest.rstrip("`")
    if len(fence) < 3 or "`" in language or len(rest) - len(inside) < len(fence):
        return text, ""
    inside = inside.removesuffix("\n")
    return (text, "") if f"\n{fence}" in inside else (inside, language.strip())


_UNSAFE = {ord(character): f"%{ord(character):02X}" for character in '\t ()<>"\\`{}|^'}
_LINKED = re.compile(r"(?:https?|file)://", re.IGNORECASE)
_LONGEST_LINK = 2000


def link(label: str, uri: str) -> str:
    """Return a link, or the two as text where the address isn't one to follow.

    VS Code runs `command:` links.
    """
    target = _CONTROLS.sub("", clean(uri)).translate(_UNSAFE)
    label = escape(one_line(label, 200)) or "link"
    if len(target) > _LONGEST_LINK or "\n" in target or not _LINKED.match(target):
        return f"{label} ({code(one_line(uri, 200) or '?')})"
    return f"[{label}]({target})"


_LONGEST_CLEANED = 200_000
"""Characters of a text that are cleaned; the middle of a longer one is left out."""


_LONGEST_LINE = 400
"""Characters of a line that are shown."""


def excerpt(text: str, lines: int) -> str:
    """Return the text cleaned, with at most so many lines: its beginning, and more of its end.

    An error is at the end of an output, its subject at the beginning.
    """
    if len(text) > _LONGEST_CLEANED:
        half = _LONGEST_CLEANED // 2
        left_out = len(text) - 2 * half
        text = f"{text[:half]}\n… {left_out:,} characters left out …\n{text[-half:]}"
    found = clean(text).strip("\n").split("\n")
    if len(found) > lines:
        head = lines // 3
        left_out = len(found) - lines
        found[head : head + left_out] = [f"… {left_out:,} more lines …"]
    return "\n".join(cut(line.rstrip(), _LONGEST_LINE) for line in found)


def cut(line: str, width: int) -> str:
    """Return the line, with its end left out where it is too long."""
    return line if len(line) <= width else line[: width - 1] + "…"


def size(count: int) -> str:
    """Return a number of bytes for people."""
    amount = float(count)
    for unit in ("bytes", "kB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}"
        amount /= 1000
    return f"{amount:.1f} MB"


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
_JOINING = frozenset("\u200c\u200d\ufe0e\ufe0f")
"""Joiners and variation selectors stay: words and emoji need them."""


def title_of(text: str) -> str:
    """Return a text of the agent as one short line, without invisible characters."""
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
            self.left -= len(repr(value)) - 1
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
    if PLAIN.fullmatch(text):
        return text
    return "".join(instead(one) if _is_hidden(one) else one for one in text)


def _is_hidden(character: str) -> bool:
    is_blank = unicodedata.category(character) == "Zs"
    return is_hidden(character) and not is_blank and character not in _JOINING


def _picture(character: str) -> str:
    if character < " ":
        return chr(0x2400 + ord(character))  # a picture of the control character
    return "\u2421" if character == "\x7f" else "\ufffd"
