"""What a tool call is about, on one line: its title, and what the title leaves out. Pure.

Nothing is said twice: agents put a command, a path or the whole input into the title, once as the
model wrote it and once with whole paths, within a shell's command line, or shortened.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import Any, cast

from agents.nesting import json_in

from .markdown import clean, code, inline, one_line
from .tool_call import COMMANDS, CallRecord

WORDS = {
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
OTHER_WORD = "Tool call"
_LONGEST_TITLE = 160
_LONGEST_ARGUMENTS = 120
_MOST_LOCATIONS = 3
_LONGEST_COMPARED = 8 * _LONGEST_TITLE
_PATH = re.compile(r"[\w.@~+-]")
"""How the name of a file begins."""
_IN_PATH = re.compile(r"[\w./~-]")
"""What stands beside the name of a folder that is only a part of another."""
_WORD = re.compile(r"\w")
_SHELL = re.compile(r"(?:\S*/)?\w*sh(?:\.exe)?")
_RUNS_LINE = re.compile(r"-\w*c")
_INPUT = re.compile(r'\{\s*(?:"|\}|$)')
"""How an object in JSON begins."""
_TELLING = 3
"""Characters of a text that is looked for in a title."""
_NAMING = re.compile(r"path|file|dir|folder|url|uri|pattern|query|regex|glob", re.IGNORECASE)
"""Words in the names of arguments that say what a call is about."""


def subject(call: CallRecord, root: str) -> str:
    """Return what the call is about, on one line of Markdown: title, command or path."""
    title = one_line(relative(_without_input(call.title or call.name), root), _LONGEST_TITLE)
    shown = inline(title) or WORDS.get(call.kind, OTHER_WORD)
    command = _plain(command_line(call.arguments), root) if call.kind == "execute" else ""
    if command:
        return _with_command(title, shown, command, root)
    rest = list(_beside(call, title, root))
    return " ".join([shown, *rest])


def relative(text: str, root: str) -> str:
    """Return the text with paths below `root` shortened; the root itself is a dot."""
    if not root.strip("/"):
        return text
    text = clean(text)
    root = root.rstrip("/")
    # One agent leaves the first slash out.
    text = text.removeprefix(f"{root[1:]}/") if root.startswith("/") else text
    first, *rest = text.split(root)
    whole = first
    for part in rest:
        whole += root + part if _IN_PATH.search(whole[-1:]) else _below(part, root)
    return whole


def _below(part: str, root: str) -> str:
    """Return what comes after `root` in a text, with what stands there for the root."""
    if part.startswith("/"):
        return part[1:] if _PATH.match(part[1:]) else f".{part[1:]}"
    return root + part if _IN_PATH.match(part) else f".{part}"


def command_line(arguments: dict[str, Any]) -> str:
    """Return the command line; of a shell with a line to run, that line."""
    given = next((arguments[key] for key in COMMANDS if arguments.get(key)), "")
    if isinstance(given, list):
        words = [str(word) for word in cast("list[Any]", given)]
        return _line_of_shell(words) or " ".join(words)
    return _unwrapped(str(given))


def _unwrapped(line: str) -> str:
    """Return the line that a shell is given to run, or the line as it is."""
    if len(line) > _LONGEST_COMPARED or " -" not in line:
        return line
    try:
        return _line_of_shell(shlex.split(line)) or line
    except ValueError:
        return line  # its quotes don't end


def _line_of_shell(words: list[str]) -> str:
    match words:
        case [shell, option, line] if _SHELL.fullmatch(shell) and _RUNS_LINE.fullmatch(option):
            return line
        case _:
            return ""


def _with_command(title: str, shown: str, command: str, root: str) -> str:
    """Return title and command, or one of them where it says all that the other does."""
    plain = _plain(_unwrapped(title), root)
    short = one_line(command, _LONGEST_TITLE)
    begins = plain.rstrip(".… ")
    if plain == command or (plain != begins and begins and command.startswith(begins)):
        return code(short)
    if command in plain or short in plain:
        return shown
    return f"{shown} {code(short)}"


def _plain(text: str, root: str) -> str:
    """Return a text as it is compared with others."""
    return one_line(relative(text, root).strip("` \n"), _LONGEST_COMPARED)


def _beside(call: CallRecord, title: str, root: str) -> Iterator[str]:
    """Return what the title leaves out: places, else the arguments that say what it is about."""
    found = _places(call, root)
    places = [place for place in found if place.partition(":")[0] not in title]
    yield from map(code, places[:_MOST_LOCATIONS])
    if len(places) > _MOST_LOCATIONS:
        yield f"and {len(places) - _MOST_LOCATIONS} more"
    if found:
        return
    if call.kind not in WORDS:
        pairs = ", ".join(_pairs(call.arguments, title, root))
        if pairs:
            yield code(one_line(pairs, _LONGEST_ARGUMENTS))
        return
    for key, value in call.arguments.items():
        if isinstance(value, str) and value.strip() and _NAMING.search(key):
            named = one_line(relative(value, root), _LONGEST_ARGUMENTS)
            if not _has(title, named):
                yield code(named)
            return


def _places(call: CallRecord, root: str) -> list[str]:
    places: dict[str, None] = {}
    for location in call.locations:
        path = one_line(relative(location.path, root), _LONGEST_TITLE)
        if path and path != ".":
            places[path if location.line is None else f"{path}:{location.line}"] = None
    return list(places)


def _pairs(arguments: dict[str, Any], title: str, root: str) -> Iterator[str]:
    """Return the arguments that the title doesn't say, each with its name."""
    for key, value in arguments.items():
        text = relative(_brief(value), root)
        if text and not _has(title, one_line(text, _LONGEST_TITLE)):
            yield f"{key}: {text}"


def _has(title: str, text: str) -> bool:
    """Return whether the title says a text, or the last part of a path that it is."""
    last = text.rstrip("/").rpartition("/")[2]
    if len(last) < _TELLING:
        return text == title
    before, found, after = title.partition(last)
    while found and (_WORD.search(before[-1:]) or _WORD.match(after)):
        more, found, after = after.partition(last)
        before += last + more
    return bool(found)


def _brief(value: Any) -> str:
    """Return a value on a line, "" if it isn't for one; of a list of things, how many they are."""
    if value in (None, "", [], {}):
        return ""
    match value:
        case bool():
            return str(value).lower()
        case list():
            items = cast("list[Any]", value)
            if any(isinstance(item, dict | list) for item in items):
                return f"{len(items)} item{'s'[: len(items) != 1]}"
            return ", ".join(_brief(item) for item in items)
        case dict():
            return ""
        case str() if "\n" in value.strip():
            return ""
        case _:
            return str(value)


def _without_input(title: str) -> str:
    """Return a title without the JSON of an input at its end; it may be cut off."""
    at = title.find("{")
    if at < 0 or not _INPUT.match(title, at):
        return title
    head, tail = title[:at], title[at:].rstrip(") ")
    is_input = tail.endswith(("…", "...")) or isinstance(json_in(tail), dict)
    return head.rstrip(" :([-") if is_input and head.strip(" :([-") else title
