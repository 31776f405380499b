"""Calls of remote tools that the server makes only if the user approves."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from agents.events import AskPermission
from agents.loading import load
from bridge.value import Value

from .tool_call import digest_of, parse, text_of

_MOST_SHOWN = 10_000
"""Characters of the arguments that a question shows."""
_MOST_NAME = 200
_BLANKS = re.compile(r" {9,}")
_FILLERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Invisible characters in the Unicode categories of letters, marks or signs."""
_TICKS = re.compile("`+")
_KIND = "mcp_approval_request"


class Approval(Value):
    """A question that went to the editor under `call_id`; `request_id` is the server's."""

    call_id: str
    request_id: str


def is_approval(item_type: str | None) -> bool:
    """Tell whether an item asks; its kind may have the name of who invented it in front."""
    return (item_type or "").rpartition(":")[2] == _KIND


class Approvals:
    """The questions of one response, each asked once; `outward` is that of `StreamMachine`."""

    def __init__(self, outward: Callable[[str], str], server: str) -> None:
        self.asked: list[Approval] = []
        self._outward = outward
        self._server = server
        self._places: dict[str, int] = {}
        """The places of questions in `asked`, by the server's ids."""
        self._subjects: list[Hashable] = []

    def conclude(self, items: Sequence[dict[str, Any]]) -> Iterator[AskPermission]:
        """Take the questions of the final output. Their ids may be others than before.

        The answer names the newer id, because the final output is what later requests repeat.
        """
        ids = {_text(fields.get("id")) for fields in items}
        left: dict[Hashable, deque[int]] = {}
        for request_id, place in self._places.items():
            if request_id not in ids:
                left.setdefault(self._subjects[place], deque()).append(place)
        for fields in items:
            same = left.get(_subject(fields))
            request_id = _text(fields.get("id"))
            if request_id and request_id not in self._places and same:
                place = self._places[request_id] = same.popleft()
                self.asked[place] = replace(self.asked[place], request_id=request_id)
            else:
                yield from self.ask(fields)

    def ask(self, fields: dict[str, Any]) -> Iterator[AskPermission]:
        """Take an item that asks; without an id no answer could name it."""
        request_id = _text(fields.get("id"))
        if not request_id or request_id in self._places:
            return
        self._places[request_id] = len(self.asked)
        self._subjects.append(_subject(fields))
        call_id = self._outward(request_id)
        self.asked.append(Approval(call_id, request_id))
        label, name = _name(fields.get("server_label")), _name(fields.get("name"))
        title = f"{label or 'A remote server'}: {name or 'a tool'}"
        details = {"message": self._message(label, name, fields.get("arguments"))}
        yield AskPermission(call_id, title, "other", details)

    def _message(self, label: str, name: str, arguments: Any) -> str:
        """Return the question as Markdown; nothing of the model's is Markdown in it."""
        of = f" of the remote server {_span(label)}" if label else ""
        asked = f"{_span(self._server)} asks to use {_span(name) if name else 'a tool'}{of}."
        text = text_of(arguments)
        value = load((text or "{}").encode("utf-8", "replace"))
        given = text or "" if value is None else json.dumps(value, indent=2, ensure_ascii=False)
        missing = max(0, len(given) - _MOST_SHOWN)
        shown = _visible(given[:_MOST_SHOWN])
        ticks = "`" * max(3, 1 + max(map(len, _TICKS.findall(shown)), default=0))
        warning = f"\n\n⚠️ **{missing:,} characters of this are not shown.**" if missing else ""
        return f"{asked}{warning}\n\n{ticks}json\n{shown}\n{ticks}"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _subject(fields: dict[str, Any]) -> Hashable:
    """Return what a question is about, which is equal for the same question."""
    about = (_text(fields.get(name)) for name in ("server_label", "name"))
    return (*about, digest_of(parse(fields.get("arguments"))))


def _name(value: Any) -> str:
    return " ".join(_visible(value[:_MOST_NAME]).split()) if isinstance(value, str) else ""


def _span(text: str) -> str:
    return "`" + text.replace("`", "'") + "`"


def _visible(text: str) -> str:
    """Return text with all that is in it to be seen: an action must not hide a part of itself."""
    shown = "".join(c if _is_seen(c) else f"⟨U+{ord(c):04X}⟩" for c in text)
    return _BLANKS.sub(_counted, shown)


def _is_seen(character: str) -> bool:
    if character.isascii():
        return character.isprintable() or character == "\n"
    is_variant = "VARIATION SELECTOR" in unicodedata.name(character, "")
    return character.isprintable() and character not in _FILLERS and not is_variant


def _counted(blanks: re.Match[str]) -> str:
    """Return the number of blanks that stand before something; others hide nothing."""
    is_before = blanks.string[blanks.end() : blanks.end() + 1].strip()
    return f"⟨{len(blanks[0])} blanks⟩" if is_before else blanks[0]
