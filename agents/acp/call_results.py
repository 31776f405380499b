"""What a tool call gave, out of what agents and tools put around it. Pure.

The result of a call is a text, and agents wrap it: in JSON beside an exit status, in a report that
repeats the command, in words for "nothing". And some say with a call what it is for, where its
result will stand. The user reads the text; where there is none, the mark behind the call says it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from agents.nesting import json_in

from .call_subject import command_line
from .markdown import one_line, unfenced
from .todos import listed
from .tool_call import CallRecord
from .updates import PlanEntry

_LONGEST_PARSED = 1_000_000
_OUTPUTS = (
    ("formatted_output",),
    ("aggregated_output",),
    ("stdout", "stderr"),
    ("output",),
    ("content",),
    ("text",),
    ("result",),
    ("error",),
    ("message",),
)
"""Where agents and tools put the text; the first that has some, and keys that are one text."""
_WRITTEN = frozenset({"formatted_output", "aggregated_output", "stdout", "stderr", "output"})
"""What a command wrote: where that is nothing, there is nothing to show."""
_TEXTS = frozenset(key for keys in _OUTPUTS for key in keys)
_BESIDE = frozenset(
    {
        "code",
        "duration",
        "duration_ms",
        "durationMs",
        "exit_code",
        "exitCode",
        "interrupted",
        "is_error",
        "isError",
        "isImage",
        "metadata",
        "noOutputExpected",
        "ok",
        "returncode",
        "return_code",
        "signal",
        "status",
        "structuredContent",
        "success",
        "timed_out",
        "truncated",
        "type",
        "_meta",
    }
)
"""What stands beside a text in a wrapper, and says no more than the call's end does."""
_READING = frozenset({"read", "fetch"})
"""Kinds of calls whose text is somebody's file: it is what it is."""
_NO_OUTPUT = re.compile(
    r"(?:[\w-]+ ){0,6}(?:no|without) (?:console |stdout )?output(?: or errors?)?"
    r"|command (?:completed|executed|finished|ran) successfully",
    re.IGNORECASE,
)
_BRACKETS = "()[]<>. "
_EMPTY = frozenset({"empty", "none", "nothing", "no content"})
"""What stands in brackets for no text."""
_EXIT = re.compile(r"(?:\A|\n)<[^<>\n]{0,80}\bexit(?:ed)?\b[^<>\n]{0,20}?(?P<code>-?\d+)>\s*\Z")
_LONGEST_SAID = 400
"""Characters of a text that may only say again what the call is."""


def result_of(text: str, call: CallRecord) -> tuple[str, str]:
    """Return what there is to show of a text that a call gave, and its language."""
    text, language = unfenced(text)
    if _is_nothing(text):
        return "", ""
    inner = _from_json(text) if call.kind not in _READING else None
    if inner is None:
        inner = _from_report(text, call)
    if inner is not None:
        text, language = unfenced(inner)
    text = _EXIT.sub(_status, text)
    return ("", "") if _is_nothing(text) else (text, language)


def text_of(raw: Any) -> str:
    """Return the text of a raw output; what isn't text as lines with the names in it."""
    if isinstance(raw, str):
        return "" if _is_nothing(raw) else raw
    if isinstance(raw, list):
        parts = cast("list[Any]", raw)
        if all(isinstance(part, dict) and "text" in part for part in parts):
            return "\n".join(text_of(part["text"]) for part in parts)
    if isinstance(raw, dict):
        fields = cast("dict[str, Any]", raw)
        found = _inside(fields)
        if found is not None and (found or not _says_more(fields)):
            return found
    return "\n".join(_lines(raw))


def _inside(fields: Mapping[str, Any]) -> str | None:
    """Return the text in a wrapper, None if it is none."""
    if not fields.keys() & _TEXTS:
        return None
    for keys in _OUTPUTS:
        given = [fields[key] for key in keys if isinstance(fields.get(key), str | list | dict)]
        texts = [text for value in given if value and (text := text_of(value)).strip("\n")]
        if texts:
            return "\n".join(text.rstrip("\n") for text in texts)
    return ""


def _says_more(fields: Mapping[str, Any]) -> bool:
    """Return whether there is anything to read beside the texts, which are empty."""
    if fields.keys() & _WRITTEN:
        return False
    rest = (value for key, value in fields.items() if key not in _TEXTS | _BESIDE)
    return any(value not in (None, "", [], {}) and not isinstance(value, bool) for value in rest)


def todos_in(text: str, call: CallRecord) -> tuple[PlanEntry, ...] | None:
    """Return the todo list that a text of a call is, None if it is something else."""
    return None if call.kind in _READING else listed(_json_in(text))


def _from_json(text: str) -> str | None:
    """Return the text in a wrapper that is written as JSON, None if the text is none."""
    found = _json_in(text)
    match found:
        case dict():
            fields = cast("dict[str, Any]", found)
            return _inside(fields) if fields and fields.keys() <= _TEXTS | _BESIDE else None
        case [*parts] if parts and all(_is_text_part(part) for part in parts):
            return text_of(found)
        case _:
            return None


def _is_text_part(part: Any) -> bool:
    match part:
        case {"type": "text", "text": str()}:
            return True
        case _:
            return False


def _json_in(text: str) -> Any:
    """Return the object or the list that a text is, None if it is none."""
    text = text.strip()
    if text[:1] not in ("{", "[") or len(text) > _LONGEST_PARSED:
        return None
    return json_in(text)


def _from_report(text: str, call: CallRecord) -> str | None:
    """Return the output in a report on a command; what the output is, the agent says beside it."""
    command = one_line(command_line(call.arguments), _LONGEST_SAID)
    first = one_line(text.strip().partition("\n")[0], _LONGEST_SAID)
    if not (command and first != command and first.endswith(command)):
        return None
    raw: Any = call.raw_output
    output = _inside(cast("dict[str, Any]", raw)) if isinstance(raw, dict) else None
    return output if output is not None and output.strip() in text else None


def is_said(text: str, call: CallRecord) -> bool:
    """Return whether a text only says again what the call is, or what it is for.

    What comes with the end of a call is its result, whatever it says.
    """
    if call.is_content_final or len(text) > _LONGEST_SAID:
        return False
    plain = _plain(text)
    said = (call.title, *(value for value in call.arguments.values() if isinstance(value, str)))
    return any(plain == _plain(one[: 2 * _LONGEST_SAID]) for one in said)


def _plain(text: str) -> str:
    return " ".join(text.replace("`", "").split())


def _is_nothing(text: str) -> bool:
    """Return whether a text is empty, or only says that there is none."""
    if len(text) > _LONGEST_SAID:
        return not text.strip()
    plain = text.strip()
    words = plain.strip(_BRACKETS)
    if _NO_OUTPUT.fullmatch(words):
        return True
    return not words or (words != plain and words.lower() in _EMPTY)


def _status(found: re.Match[str]) -> str:
    return "" if found["code"] == "0" else f"\nexit code {found['code']}"


def _lines(value: Any, indent: str = "") -> Iterator[str]:
    """Return a value as lines with the names in it, and no signs of JSON."""
    match value:
        case dict():
            for key, one in cast("dict[str, Any]", value).items():
                yield from _named(f"{indent}{key}:", one, indent)
        case list():
            for one in cast("list[Any]", value):
                yield from _named(f"{indent}-", one, indent)
        case bool():
            yield f"{indent}{str(value).lower()}"
        case _:
            yield from (f"{indent}{line}" for line in str(value).split("\n"))


def _named(head: str, value: Any, indent: str) -> Iterator[str]:
    if value in (None, "", [], {}):
        return
    lines = list(_lines(value, f"{indent}  "))
    if len(lines) == 1 and not isinstance(value, dict | list):
        yield f"{head} {lines[0].strip()}"
    else:
        yield head
        yield from lines
