"""A tool call of the agent's, as Markdown: one line when it begins, its outcome when it ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, assert_never, cast

import msgspec

from .content import Content, Diff, Terminal, TextContent, UnknownToolCallContent
from .content_view import content_view
from .diff_view import diff_view
from .markdown import clean, code, excerpt, fenced, inline, one_line, unfenced
from .tool_call import CallRecord

_ICONS = {
    "read": "📖",
    "edit": "✏️",
    "delete": "🗑️",
    "move": "📦",
    "search": "🔍",
    "execute": "▶️",
    "think": "💭",
    "fetch": "🌐",
    "switch_mode": "🔀",
}
_OTHER_ICON = "🔧"
_WORDS = {
    "read": "Read",
    "edit": "Edit",
    "delete": "Delete",
    "move": "Move",
    "search": "Search",
    "execute": "Run",
    "think": "Think",
    "fetch": "Fetch",
    "switch_mode": "Switch mode",
}
_OTHER_WORD = "Tool call"
_LONGEST_TITLE = 160
_LONGEST_ARGUMENTS = 120
_MOST_LOCATIONS = 3
_MOST_LINES = {"read": 12, "search": 12, "fetch": 12}
_OTHERWISE_LINES = 40
_MOST_BLOCKS = 20
_SHORT = 80


def subject(call: CallRecord, root: str) -> str:
    """Return what the call is about, on one line of Markdown: title, command or path."""
    title = one_line(_relative(call.title or call.name, root), _LONGEST_TITLE)
    shown = inline(title) or _WORDS.get(call.kind, _OTHER_WORD)
    if call.kind == "execute":
        command = one_line(_command(call.arguments), _LONGEST_TITLE)
        if command and title.strip("`") == command:
            return code(command)
        if command and command not in title:
            return f"{shown} {code(command)}"
        return shown
    places = [place for place in _places(call, root) if place.partition(":")[0] not in title]
    if len(places) > _MOST_LOCATIONS:
        return (
            f"{shown} {_codes(places[:_MOST_LOCATIONS])} and {len(places) - _MOST_LOCATIONS} more"
        )
    if places:
        return f"{shown} {_codes(places)}"
    if call.kind not in _ICONS and call.arguments:
        return f"{shown} {code(_compact(call.arguments))}"
    return shown


def started(call: CallRecord, root: str) -> str:
    """Return the line for a call that begins."""
    return f"{_ICONS.get(call.kind, _OTHER_ICON)} {subject(call, root)}"


def outcome(call: CallRecord, root: str, *, follows: bool) -> str:
    """Return how a call ended: to stand behind its first line (`follows`), or by itself."""
    failed = call.has_failed
    mark = "✘" if failed else "✔"
    head = f" {mark}" if follows else f"{mark} {subject(call, root)}"
    if failed:
        head += f" *{call.status if call.status == 'cancelled' else 'failed'}*"
    blocks = list(_blocks(call, root, failed=failed))
    if not blocks:
        return head
    more = len(blocks) - _MOST_BLOCKS
    rest = [f"*… {more:,} more results*"] if more > 0 else []
    if isinstance(blocks[0], _Short):
        return "\n\n".join([f"{head} {blocks[0]}", *blocks[1:_MOST_BLOCKS], *rest])
    return "\n\n".join([head, *blocks[:_MOST_BLOCKS], *rest])


def unfinished(call: CallRecord, root: str, *, follows: bool) -> str:
    """Return the line for a call of which nobody says how it ended."""
    head = "" if follows else started(call, root)
    return f"{head} *no result*"


class _Short(str):
    """A result for the line of its call."""

    __slots__ = ()


def _blocks(call: CallRecord, root: str, *, failed: bool) -> Iterator[str]:
    """Return what the call gave: text in fences, changes as diffs, the rest by name."""
    texts: list[str] = []
    lines = _MOST_LINES.get(call.kind, _OTHERWISE_LINES)
    begins = _begins(call)
    gave = [content for content in call.content if not isinstance(content, Terminal)]
    for content in gave:
        if isinstance(content, Content) and isinstance(content.content, TextContent):
            texts.append(content.content.text)
            continue
        yield from _text_block(texts, lines)
        texts = []
        match content:
            case Content(content=block):
                yield content_view(block)
            case Diff():
                # What failed changed nothing, so its change would tell a lie.
                if not failed:
                    name = _relative(content.path, root)
                    line = next(begins.get(content.path, iter(())), None)
                    yield diff_view(content, name, call.files.get(content.path), line)
            case UnknownToolCallContent(kind=kind):
                yield f"*(a result of the kind {code(one_line(kind, 60) or '?')})*"
            case _:
                assert_never(content)
    yield from _text_block(texts, lines)
    if not gave and call.raw_output is not None:
        yield from _text_block([_output(call.raw_output)], lines)


def _begins(call: CallRecord) -> dict[str, Iterator[int]]:
    """Return for each path the lines at which its changes begin, where the agent names them all."""
    changes = Counter(part.path for part in call.content if isinstance(part, Diff))
    lines: dict[str, list[int]] = {path: [] for path in changes}
    for place in call.locations:
        if place.line is not None and place.line > 0 and place.path in lines:
            lines[place.path].append(place.line)
    return {path: iter(found) for path, found in lines.items() if len(found) == changes[path]}


def _text_block(texts: list[str], lines: int) -> Iterator[str]:
    text, language = unfenced("\n".join(text.strip("\n") for text in texts))
    text = excerpt(text, lines)
    if not text.strip():
        return
    if "\n" not in text and len(text) <= _SHORT:
        yield _Short(code(text.strip()))
    else:
        yield fenced(text, language)


def _output(raw: Any) -> str:
    """Return the text in a raw output: where agents put it, else the JSON."""
    if isinstance(raw, str):
        return raw
    if isinstance(raw, list):
        parts = cast("list[Any]", raw)
        if all(isinstance(part, dict) and "text" in part for part in parts):
            return "\n".join(_output(part["text"]) for part in parts)
    if isinstance(raw, dict):
        output = cast("dict[str, Any]", raw)
        for key in _OUTPUT_KEYS:
            found = output.get(key)
            if isinstance(found, str | list | dict) and found:
                return _output(found)
    return msgspec.json.format(msgspec.json.encode(raw), indent=2).decode()


_OUTPUT_KEYS = (
    "formatted_output",
    "aggregated_output",
    "stdout",
    "stderr",
    "output",
    "content",
    "text",
    "error",
    "message",
)


def _command(arguments: dict[str, Any]) -> str:
    """Return the command line; of a shell with a line to run, that line."""
    given = arguments.get("command") or arguments.get("cmd") or ""
    if isinstance(given, list):
        words = [str(word) for word in cast("list[Any]", given)]
        if len(words) == 3 and words[1].startswith("-") and words[1].endswith("c"):
            return words[2]
        return " ".join(words)
    return str(given)


def _places(call: CallRecord, root: str) -> list[str]:
    places: dict[str, None] = {}
    for location in call.locations:
        path = one_line(_relative(location.path, root), _LONGEST_TITLE)
        if path:
            places[path if location.line is None else f"{path}:{location.line}"] = None
    return list(places)


def _codes(lines: list[str]) -> str:
    return " ".join(code(line) for line in lines)


def _compact(arguments: dict[str, Any]) -> str:
    pairs = (f"{key}: {_brief(value)}" for key, value in arguments.items())
    return one_line(", ".join(pairs), _LONGEST_ARGUMENTS)


def _brief(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _relative(text: str, root: str) -> str:
    """Return the text with paths below `root` shortened."""
    return clean(text).replace(f"{root.rstrip('/')}/", "") if root.strip("/") else text
