"""What a user shouldn't have to read in what we write ourselves: laws of every answer. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise

from agents.acp.render.call_subject import OTHER_WORD, WORDS
from agents.acp.render.tool_markdown import ICONS, OTHER_ICON

_ICONS = (*ICONS.values(), OTHER_ICON)
_FENCE = re.compile(r"^(`{3,})[^`\n]*\n(.*?)^\1`*$", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"(?<!`)(`+)(?!`) ?(.+?) ?(?<!`)\1(?!`)")
_MARKS = re.compile(r"[✔✘]|\*[^*]*\*")


def faults_in(text: str) -> list[str]:
    """Return what is wrong with an answer's lines of ours, one fault each."""
    return [*_raw(text), *_twice(text), *_nameless(text)]


def _raw(text: str) -> Iterator[str]:
    """Yield what is JSON, in blocks and within lines."""
    inside = [found[2] for found in _FENCE.finditer(text)]
    inside += [found[2] for found in _SPAN.finditer(_FENCE.sub("", text))]
    for one in inside:
        try:
            is_raw = isinstance(json.loads(one), dict | list)
        except ValueError:
            is_raw = re.search(r'[\[{]\s*"\w+"\s*:', one) is not None
        if is_raw:
            yield f"raw JSON: {one[:80]}"


def _twice(text: str) -> Iterator[str]:
    """Yield lines that stand there twice in a row, and commands that stand twice in a line."""
    paragraphs = [line for line in _FENCE.sub("", text).split("\n") if line.strip()]
    for before, line in pairwise(paragraphs):
        if _subject(before) == _subject(line) and _subject(line) not in ("", "…"):
            yield f"twice: {line}"
    for line in paragraphs:
        for found in _SPAN.finditer(line):
            if len(found[2]) > 2 and found[2] in line[: found.start()]:
                yield f"twice in a line: {line}"


def _subject(line: str) -> str:
    """Return what a line is about, without its icon and its marks."""
    line = _MARKS.sub("", line)
    for icon in _ICONS:
        line = line.removeprefix(icon)
    return line.strip()


def _nameless(text: str) -> Iterator[str]:
    """Yield lines of calls that say nothing but the kind of the call."""
    for line in _FENCE.sub("", text).split("\n"):
        is_call = line.startswith((*_ICONS, "✔", "✘"))
        if is_call and _subject(line) in ("", *WORDS.values(), OTHER_WORD):
            yield f"nameless: {line}"
