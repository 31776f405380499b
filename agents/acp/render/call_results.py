"""Extract a tool call's result from the wrappers that agents and tools add. Pure.

The result of a call is a text, and agents wrap it. Some use JSON with an exit status, some a report
that repeats the command, some words for "nothing". Some agents also put a call's purpose in the
field of its result. The user reads the text; where there is none, the mark behind the call says it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from agents.acp.calls.state import CallRecord
from agents.acp.schema.plans import PlanEntry
from agents.acp.text.markdown import one_line, unfenced
from agents.nesting import json_in

from .call_subject import unwrapped_command
from .python_text import fields_in
from .todos import listed

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
"""Keys of the text. The first group with text counts; the texts of a group are joined."""
_WRITTEN = frozenset({"formatted_output", "aggregated_output", "stdout", "stderr", "output"})
"""Keys of a command's output. If the output is empty, nothing is shown."""
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
"""Keys beside the text in a wrapper that only repeat the call's status."""
_READING = frozenset({"read", "fetch"})
"""Kinds of calls that return the text of a file, which is shown unchanged."""
_NO_OUTPUT = re.compile(
    r"(?:[\w-]+ ){0,6}(?:no|without) (?:console |stdout )?output(?: or errors?)?"
    r"|command (?:completed|executed|finished|ran) successfully",
    re.IGNORECASE,
)
_REPORTED = re.compile(r"Tool: (?P<tool>[\w-]{1,100})\n+(?:Result:\n)?")
"""The prefix that one agent puts before a tool's result."""
_LIST_BEGINS = re.compile(r"\A[\w-]{1,100} result(?=\n- \*\*\w+:\*\*)")
_LIST_ITEM = re.compile(rf"\n- \*\*({'|'.join(sorted(_TEXTS | _BESIDE))}):\*\* ?")
"""The format of one agent's results: a list of names and values."""
_BRACKETS = "()[]<>. "
_EMPTY = frozenset({"empty", "none", "nothing", "no content"})
"""Words in brackets that mean "no text"."""
_EXIT = re.compile(r"(?:\A|\n)<[^<>\n]{0,80}\bexit(?:ed)?\b[^<>\n]{0,20}?(?P<code>-?\d+)>\s*\Z")
_LONGEST_SAID = 400
"""Longest text, in characters, that is compared with the call's title and purpose."""


def result_of(text: str, call: CallRecord) -> tuple[str, str]:
    """Return the part of a call's result that is shown, and its language."""
    text, language = unfenced(text)
    reported = _REPORTED.match(text)
    if reported is not None and reported["tool"] in call.title:
        text = text[reported.end() :]
    if _is_nothing(text):
        return "", ""
    inner = _from_json(text) if call.kind not in _READING else None
    if inner is None:
        inner = _from_list(text)
    if inner is None:
        inner = _from_report(text, call)
    if inner is not None:
        text, language = unfenced(inner)
    text = _EXIT.sub(_status, text)
    return ("", "") if _is_nothing(text) else (text, language)


def text_of(raw: Any) -> str:
    """Return the text of a raw output; what isn't text as lines with the names in it."""
    if isinstance(raw, str):
        shown = _shown_object(raw)
        if shown is None:
            return "" if _is_nothing(raw) else raw
        raw = shown
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


def _shown_object(text: str) -> dict[str, Any] | None:
    """Return the object that a text shows as Python does, None if it isn't a tool's result."""
    fields = fields_in(text)
    return fields if fields is not None and fields.keys() & _TEXTS else None


def says_failed(raw: Any) -> bool:
    """Return whether a raw output reports a failure, regardless of the call's status."""
    fields: Any = _shown_object(raw) if isinstance(raw, str) else raw
    match fields:
        case {"success": bool(success)}:
            return not success
        case {"error": str(error)}:
            return bool(error.strip())
        case _:
            return False


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
            if fields and not any(fields.values()):
                return ""
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


def _from_list(text: str) -> str | None:
    """Return the text in a wrapper written as a list of names and values, else None."""
    begins = _LIST_BEGINS.match(text)
    if begins is None:
        return None
    _, *items = _LIST_ITEM.split(text[begins.end() :])
    fields = dict(zip(items[::2], items[1::2], strict=True))
    return "" if fields and fields.keys() <= _BESIDE else _inside(fields)


def _from_report(text: str, call: CallRecord) -> str | None:
    """Return the output in a report on a command; what the output is, the agent says beside it."""
    command = one_line(unwrapped_command(call.arguments), _LONGEST_SAID)
    first = one_line(text.strip().partition("\n")[0], _LONGEST_SAID)
    if not (command and first != command and first.endswith(command)):
        return None
    raw: Any = call.raw_output
    output = _inside(cast("dict[str, Any]", raw)) if isinstance(raw, dict) else None
    return output if output is not None and output.strip() in text else None


def is_said(text: str, call: CallRecord) -> bool:
    """Return whether a text only repeats the call's title or purpose.

    A text that arrives with the end of a call is always its result.
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
                if key in _BESIDE and one is False:
                    continue
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
