"""Describe a tool call on one line: its title, and arguments that the title omits. Pure.

Nothing is shown twice. Agents put a command, a path or the whole input into the title. There it may
be shortened, have absolute paths, or stand inside a shell's command line.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from typing import Any, cast

from agents.acp.calls.state import COMMANDS, CallRecord, command_in
from agents.acp.text.markdown import clean, code, inline, one_line
from agents.nesting import json_in

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
"""The beginning of a file name."""
_IN_PATH = re.compile(r"[\w./~-]")
"""Characters that may stand next to a folder's name when it is only part of a longer name."""
_WORD = re.compile(r"\w")
_SHELL = re.compile(r"(?:\S*/)?\w*sh(?:\.exe)?")
_RUNS_LINE = re.compile(r"-\w*c")
_LABEL = re.compile(r"^\w+: ")
_INPUT = re.compile(r'\{\s*(?:"|\}|$)')
"""The beginning of a JSON object."""
_DECODER = json.JSONDecoder()
_TELLING = 3
"""Characters of a text that is looked for in a title."""
_NAMING = re.compile(r"path|file|dir|folder|url|uri|pattern|query|search|regex|glob", re.IGNORECASE)
"""Words in the names of arguments that describe the subject of a call."""


def subject(call: CallRecord, root: str) -> str:
    """Return the subject of the call on one line of Markdown: title, command or path."""
    said = _without_input(call.title or call.name)
    title = one_line(relative(said, root), _LONGEST_TITLE)
    shown = inline(title) or WORDS.get(call.kind, OTHER_WORD)
    command = unwrapped_command(call.arguments) if call.kind == "execute" else ""
    if _plain(command, root):
        return _with_command(said, title, command, root)
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


def unwrapped_command(arguments: dict[str, Any]) -> str:
    """Return the command line; of a shell with a line to run, that line."""
    key, line = command_in(arguments)
    if key is None:  # some value that is neither a line nor a list of words is shown as it is
        return next((str(arguments[one]) for one in COMMANDS if arguments.get(one)), "")
    given = arguments[key]
    if isinstance(given, list):
        words = [str(word) for word in cast("list[Any]", given)]
        return _line_of_shell(words) or " ".join(words)
    return _unwrapped(line)


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


def _with_command(said: str, title: str, whole: str, root: str) -> str:
    """Return title and command, or one of them where it says all that the other does."""
    shown = inline(title) or WORDS["execute"]
    command, plain = _plain(whole, root), _plain(_unwrapped(title), root)
    short = one_line(command, _LONGEST_TITLE)
    if plain == command or _begins(plain, command) or _begins(said, whole):
        return code(short)
    if command in plain or short in plain:
        return shown
    return f"{shown} {code(short)}"


def _begins(title: str, command: str) -> bool:
    """Whether a title is a shortened command, perhaps behind a label as in `Run: git com...`."""
    said = one_line(_LABEL.sub("", title), _LONGEST_COMPARED)
    begins = said.removesuffix("...").removesuffix("…").rstrip()
    return begins not in ("", said) and command.startswith(begins)


def _plain(text: str, root: str) -> str:
    """Return a text as it is compared with others."""
    return one_line(relative(text, root).strip("` \n"), _LONGEST_COMPARED)


def _beside(call: CallRecord, title: str, root: str) -> Iterator[str]:
    """Return what the title omits: file locations, else the arguments that describe the subject."""
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
    """Return a title without the JSON of an input; at the end of a title it may be cut off."""
    at = title.find("{")
    if at < 0 or not _INPUT.match(title, at):
        return title
    head, tail = title[:at], title[at:].rstrip(") ")
    is_input = tail.endswith(("…", "...")) or isinstance(json_in(tail), dict)
    if is_input and head.strip(" :([-"):
        return head.rstrip(" :([-")
    return head + _behind_object(title[at:]) if head.endswith(": ") else title


def _behind_object(text: str) -> str:
    """Return the text after a leading JSON object and a colon, else the whole text."""
    _, end = leading_object(text)
    return text[end + 2 :] if text.startswith(": ", end) else text


def leading_object(text: str) -> tuple[dict[str, Any], int]:
    """Return the JSON object with which a text begins, and where it ends; {} without one."""
    try:
        found, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        return {}, 0
    return (cast("dict[str, Any]", found), end) if isinstance(found, dict) else ({}, 0)
