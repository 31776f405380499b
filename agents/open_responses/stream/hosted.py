"""Tools that the server runs itself, such as a search of the web: a line for each, and its images.

The line names the tool when it begins. Its subject and its outcome stand behind the name, if
nothing else was said meanwhile.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterable, Iterator
from typing import Any, cast

import attrs

from agents.events import Attach, Event, Say

from .citations import as_inline, link_of
from .media import attachment

_LIST = "mcp_list_tools"
_IMAGE = "image_generation_call"
_FAMILIAR: dict[str, tuple[str, str]] = {
    "web_search_call": ("🌐", "Web search"),
    "web_fetch_call": ("🌐", "Web page"),
    "file_search_call": ("🔍", "File search"),
    "code_interpreter_call": ("▶️", "Code"),
    _IMAGE: ("🖼️", "Image"),
    "mcp_call": ("🔧", "Tool"),
    _LIST: ("🔧", "List of tools"),
}
_OTHER_ICON = "🔧"
_CALLS_BY_NAME = "openrouter"
"""The owner of kinds that are the name of a tool alone, such as `openrouter:bash`."""
_EVENT = re.compile(r"response\.([a-z0-9_:]*(?:_call|mcp_list_tools))[a-z0-9_]*\.")
_MOST_ABOUT = 120
"""Characters of what a line says of its call."""
_MOST_LINES = 1_000
"""Calls of a response that get a line."""
_URL_SAFE = str.maketrans("-_", "+/")
_DATA_URL = re.compile(r"data:[^,]{0,200};base64,")


def hosted_kind(event_type: str) -> str | None:
    """Return the kind of item that an event of a hosted tool is about; None: it is another one."""
    found = _EVENT.match(event_type)
    return None if found is None else _plain(found[1])


def is_hosted(item_type: str | None) -> bool:
    """Tell whether an item is a call that the server makes itself."""
    kind = _plain(item_type or "")
    return kind in _FAMILIAR or (kind.endswith("_call") and kind != "function_call")


def is_result(item_type: str | None) -> bool:
    """Tell whether an item is the call of such a tool, and not a list of what can be called."""
    return is_hosted(item_type) and _plain(item_type or "") != _LIST


def _plain(kind: str) -> str:
    """Return a kind without the name of who invented it."""
    owner, _, name = kind.rpartition(":")
    is_bare = owner == _CALLS_BY_NAME and bool(name) and not name.endswith("_call")
    return f"{name}_call" if is_bare else name


@attrs.define(eq=False, repr=False)
class _Line:
    """The line of one call."""

    kind: str
    item_id: str | None
    index: int | None
    is_done: bool = False
    image: int = 0
    """The hash of the result that is its image, once that was said."""


class HostedTools:
    """The calls of hosted tools in one response."""

    def __init__(self) -> None:
        self.has_said = False
        self._lines: list[_Line] = []
        self._by_id: dict[str, _Line] = {}
        self._by_place: dict[tuple[str, int], _Line] = {}
        self._writing: _Line | None = None
        """The line that was said last; its end may stand behind it."""

    def leave(self) -> tuple[Event, ...]:
        """End the line that is being written, because something else is said."""
        if self._writing is None:
            return ()
        self._writing = None
        return (Say("\n\n", by_us=True),)

    def begin(self, kind: str, item_id: str | None, index: int | None) -> Iterator[Event]:
        """Take the beginning of a call, or what is said while it runs."""
        kind = _plain(kind)
        if self._find(kind, item_id, index) is None and len(self._lines) < _MOST_LINES:
            yield from self._begin(kind, item_id, index)

    def finish(self, fields: dict[str, Any], index: int | None) -> Iterator[Event]:
        """Take the item of a call, when it is done."""
        kind = _plain(_text(fields.get("type")))
        item_id = _text(fields.get("id")) or None
        line = self._find(kind, item_id, index)
        if line is None:
            if len(self._lines) >= _MOST_LINES:
                return
            yield from self._begin(kind, item_id, index)
            line = self._lines[-1]
        if item_id:
            self._by_id[item_id] = line
        yield from self._end(line, fields)

    def conclude(self, items: Iterable[dict[str, Any]]) -> Iterator[Event]:
        """Take the calls of the final output. Their ids may be others than before."""
        unknown: list[dict[str, Any]] = []
        left = dict.fromkeys(self._lines)
        for fields in items:
            line = self._by_id.get(_text(fields.get("id")))
            if line is None:
                unknown.append(fields)
            else:
                left.pop(line, None)
                yield from self._end(line, fields)
        for fields in unknown:
            line = _likeliest(left, fields)
            if line is None:
                yield from self.finish(fields, None)
            else:
                del left[line]
                yield from self._end(line, fields)

    def _find(self, kind: str, item_id: str | None, index: int | None) -> _Line | None:
        line = self._by_id.get(item_id or "")
        if line is None and index is not None:
            line = self._by_place.get((kind, index))
        if not item_id and index is None:  # no key is left but the order
            running = (one for one in reversed(self._lines) if one.kind == kind and not one.is_done)
            line = next(running, None)
        return line

    def _begin(self, kind: str, item_id: str | None, index: int | None) -> Iterator[Event]:
        yield from self.leave()
        line = _Line(kind, item_id, index)
        self._lines.append(line)
        if item_id:
            self._by_id[item_id] = line
        if index is not None:
            self._by_place[kind, index] = line
        icon, name = _name(kind)
        self.has_said = True
        self._writing = line
        yield Say(f"\n\n{icon} {name}", by_us=True)

    def _end(self, line: _Line, fields: dict[str, Any]) -> Iterator[Event]:
        is_drawn = line.kind == _IMAGE and not line.image
        result = _result(fields) if is_drawn else ""
        image = _image(result) if result else None
        failed = fields.get("status") == "failed" or bool(fields.get("error"))
        wrong = "*failed*" if failed else "*can't be read*" if result and image is None else ""
        if not line.is_done and self._writing is line:
            about = _about(line.kind, fields)
            shown = f": {about}" if about else ""
            yield Say(f"{shown} {f'✘ {wrong}' if wrong else '✔'}", by_us=True)
        elif not line.is_done and wrong:
            yield from self.leave()
            yield Say(f"✘ {_name(line.kind)[1]} {wrong}\n\n", by_us=True)
        line.is_done = True
        if image is not None:
            line.image = hash(result)
            yield from self.leave()
            yield image


def _likeliest(lines: Iterable[_Line], fields: dict[str, Any]) -> _Line | None:
    """Return the line that a call of the final output has under another id: the first of its kind.

    An image is that of the line that has it, or of one that has none.
    """
    kind = _plain(_text(fields.get("type")))
    same = [line for line in lines if line.kind == kind]
    images = (hash(_result(fields)), 0)
    likely = (line for image in images for line in same if line.image == image)
    return next(likely, same[0] if same else None)


def _result(fields: dict[str, Any]) -> str:
    """Return the image of a call, as the server writes it."""
    return _first(fields, "result", "imageB64", "imageUrl")


def _name(kind: str) -> tuple[str, str]:
    """Return the icon and the name of a tool."""
    return _FAMILIAR.get(kind) or (_OTHER_ICON, _words(kind))


def _words(kind: str) -> str:
    words = re.sub(r"[^a-z0-9]+", " ", kind.removesuffix("_call").lower()).strip()
    return (words[:40] or "a tool").capitalize()


def _about(kind: str, fields: dict[str, Any]) -> str:
    """Return what a call is about, as a code span."""
    action = fields.get("action")
    asked = cast("dict[str, Any]", action) if isinstance(action, dict) else fields
    match kind:
        case "mcp_call":
            names = (
                _first(fields, "server_label", "serverLabel"),
                _first(fields, "name", "toolName"),
            )
            return _code(": ".join(name for name in names if name))
        case "mcp_list_tools":
            return _code(_text(fields.get("server_label")))
        case "code_interpreter_call":
            return _code(_text(fields.get("code")).strip().partition("\n")[0])
        case "image_generation_call":
            return _code(_first(fields, "revised_prompt", "revisedPrompt"))
        case _:
            given: Any = asked.get("queries")
            queries = cast("list[Any]", given) if isinstance(given, list) else []
            told: list[Any] = [asked.get("query"), *queries[:1]]
            told += [asked.get("pattern"), asked.get("url")]
            return _code(next((text for one in told if (text := _text(one))), ""))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _first(fields: dict[str, Any], *keys: str) -> str:
    """Return the first text that there is; OpenRouter's own tools have other names for it."""
    return next((text for key in keys if (text := _text(fields.get(key)))), "")


def _code(text: str) -> str:
    line = " ".join("".join(c if c.isprintable() else " " for c in text[:1000]).split())
    if not line:
        return ""
    cut = line if len(line) <= _MOST_ABOUT else f"{line[:_MOST_ABOUT]}…"
    return "`" + cut.replace("`", "'") + "`"


def _image(result: str) -> Event | None:
    """Return an image that a tool made; None if there is none."""
    link = link_of({"url": result, "title": "Image"})
    if link is not None:
        return Say(as_inline(link) + "\n\n", by_us=True)
    prefix = _DATA_URL.match(result)
    text = (result[prefix.end() :] if prefix else result).translate(_URL_SAFE)
    try:
        data = binascii.a2b_base64(text + "==")  # too much of this does no harm
    except (binascii.Error, ValueError):
        return None
    return attachment("image/*", data) if data else None


def is_image(event: Event) -> bool:
    """Tell whether an event is an image."""
    return isinstance(event, Attach) and event.mime_type.startswith("image/")
