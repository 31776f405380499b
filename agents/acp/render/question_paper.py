"""The text of a permission request, and what of an agent's words it already says. Pure.

A question must show all of an action, but an agent may say the same in several places: in the
title, in the input, and once more in a text about both. Words that only repeat are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from agents.acp.text.markdown import code, fenced
from agents.acp.text.visible import cells, has_long_word, visible, visible_line

WHOLE_CHARACTERS = 20_000
"""Characters of a question; of a longer text the middle is left out, and the question says so."""
_SAID_CHARACTERS = 5 * WHOLE_CHARACTERS
"""Characters of a text that others are compared with, so that nothing is said twice."""
_MANY_LINES = 12
_NARROW = 24
"""Cells of a line in a narrow chat, which breaks longer ones."""
_NO_NEWS = frozenset(
    {
        "apply",
        "bash",
        "change",
        "command",
        "create",
        "delete",
        "edit",
        "exec",
        "execute",
        "file",
        "modify",
        "overwrite",
        "patch",
        "replace",
        "run",
        "shell",
        "terminal",
        "to",
        "update",
        "write",
    }
)
"""Words of a title that say no more than a command or a change does that is shown."""
_LABELS = frozenset(
    {"action", "approval", "arguments", "call", "for", "perform", "requesting", "summary", "tool"}
)
"""Words around a call in the texts that agents write about it."""
_MARKS = "\"'`()[]{}<>:;,.$"
"""Characters around a word of a text about a call, such as those of JSON."""
_LONGEST_COMPARED = 5_000
"""The longest text that is compared to leave repetitions out; a longer one is shown as it is."""


@attrs.define
class Paper:
    """The text of the question, with a limit on its length."""

    left: int = WHOLE_CHARACTERS
    missing: int = 0
    said: list[str] = attrs.field(factory=list[str])
    """Texts that were already written, as the agent sent them."""
    shows_action: bool = False
    """Whether a command or a change stands there."""

    @property
    def beginnings(self) -> list[str]:
        """Texts that were already written; of long texts only the beginning."""
        return [said[:_SAID_CHARACTERS] for said in self.said]

    def take(self, text: str) -> str:
        """Return a text, without its middle if it is too long."""
        self.said.append(text)
        room = max(self.left, 0)
        more = len(text) - room
        self.left -= len(text)
        if more <= 0:
            return text
        self.missing += more
        tail = room // 3
        end = text[len(text) - tail :]
        return f"{text[: room - tail]}\n… {more:,} characters left out …\n{end}"

    def block(self, text: str, language: str = "") -> str:
        """Return a text as a block of code whose lines an editor can break."""
        shown = visible(self.take(text).strip("\n"))
        return _size(shown) + fenced(shown, language)

    def named(self, label: str, text: str, end: str = "") -> str:
        """Return a text as code behind its label, below it where a narrow page can't hold it."""
        shown = visible_line(self.take(text)) or " "
        if has_long_word(shown):
            return f"{label}:\n\n{fenced(shown)}"
        return f"{label} {code(shown)}{end}"

    def has(self, text: str) -> bool:
        """Return whether a text stands there already."""
        text = text.strip()
        return any(text == said.strip() for said in self.said)

    def has_lines(self, patch: str) -> bool:
        """Return whether all that a patch changes stands there already."""
        changes = [line[1:].rstrip() for line in patch.split("\n") if line[:1] in ("+", "-")]
        lines = [line.rstrip() for said in self.beginnings for line in said.split("\n")]
        known = {*lines, *(line[1:] for line in lines if line[:1] in ("+", "-"))}
        files = ["/dev/null", *self.beginnings]
        paths = [path for file in files for path in (file, f"a/{file[1:]}", f"b/{file[1:]}")]
        named = {f"{mark} {path}" for path in paths for mark in ("++", "--")}
        return bool(changes) and all(change in known or change in named for change in changes)


def news_in(text: str, paper: Paper, names: Iterable[str]) -> str:
    """Return the paragraphs of a text that say more than what was already written.

    `names` are the title of the call and the names of its arguments. A paragraph repeats the rest
    if all of its words stand there.
    """
    if len(text) > _LONGEST_COMPARED:
        return text
    known = _NO_NEWS | _LABELS | {""}
    for said in (*paper.beginnings, *names):
        known |= _words(said)
    paragraphs = text.split("\n\n")
    news = [one for one in paragraphs if not _words(one) <= known]
    return text if len(news) == len(paragraphs) else "\n\n".join(news)


def _words(text: str) -> set[str]:
    return {word.strip(_MARKS).lower() for word in text.split()}


def is_news(text: str, paper: Paper) -> bool:
    """Return whether a text adds something to the text already shown."""
    plain = " ".join(text.replace("`", "").split()).rstrip("….").strip()
    shown = [" ".join(said.replace("`", "").split()) for said in paper.beginnings]
    if not paper.shows_action:
        return bool(plain) and plain not in shown
    if any(plain in said for said in shown):
        return False
    known = {word for said in shown for word in said.split()} | _NO_NEWS
    rest = (word.strip("():") for word in plain.split())
    return not all({word, word.lower()} & known or _is_end(word, shown) for word in rest)


def _is_end(word: str, paths: Sequence[str]) -> bool:
    """Return whether a word is the end of a path, or all of it."""
    return any(path == word or path.endswith(f"/{word}") for path in paths)


def _size(text: str) -> str:
    """Return how long a text is that a chat shows only a part of at a time, to be scrolled down."""
    lines = text.split("\n")
    if len(lines) > _MANY_LINES:
        return f"*{len(lines):,} lines:*\n\n"
    rows = sum(1 + cells(line) // _NARROW for line in lines)
    return f"*{len(text):,} characters:*\n\n" if rows > _MANY_LINES else ""
