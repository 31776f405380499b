"""Arguments that came without any key while several calls waited for theirs.

Whose they are is told by the items, which have arguments of their own. Where no item does, it is
told by the order, if there are as many arguments as calls: servers finish calls as they began them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, TypeAlias, cast

from agents.nesting import is_deep

from .call_record import CallRecord, CallState, digest_of

Arguments: TypeAlias = tuple[dict[str, Any], str]
"""As an object, and as the server's text of it."""

_decode = json.JSONDecoder().raw_decode


def strays(records: Sequence[CallRecord], silent: Sequence[CallRecord]) -> list[Arguments]:
    """Return the whole arguments that nobody claimed and that may be those of silent calls."""
    unclaimed = [
        record
        for record in records
        if record.is_stray and not all(record.is_elsewhere(call) for call in silent)
    ]
    whole = [
        record.parameters or ({}, "{}")
        for record in unclaimed
        if record.done_text is not None and record.is_whole
    ]
    return whole or _split("".join(piece for record in unclaimed for piece in record.deltas))


def claim(records: Sequence[CallRecord], parameters: dict[str, Any]) -> None:
    """Take arguments away from the strays, once: they were found to be those of a call."""
    digest = digest_of(parameters)
    for record in records:
        if record.is_stray and record.is_whole and record.asks(digest):
            record.is_matched = True
            return


def place(records: Sequence[CallRecord]) -> list[tuple[CallRecord, str]]:
    """Return the calls that have no arguments, each with its text; none if it can't be told."""
    silent = [
        record
        for record in records
        if record.name and record.state is CallState.OPEN and not record.texts
    ]
    left = strays(records, silent)
    sent = [record.digest for record in records if record.state is CallState.SENT]
    for parameters, text in tuple(left):
        digest = digest_of(parameters)
        if len(left) > len(silent) and digest in sent:
            sent.remove(digest)
            left.remove((parameters, text))
    if len(left) != len(silent):
        return []
    return [(record, text) for record, (_, text) in zip(silent, left, strict=True)]


def _split(text: str) -> list[Arguments]:
    """Return the objects that stand behind one another; none if something else is there, too."""
    found: list[Arguments] = []
    start = 0
    while text[start:].strip():
        start += len(text[start:]) - len(text[start:].lstrip())
        try:
            value, end = _decode(text, start)
        except (ValueError, RecursionError):
            return []
        if not isinstance(value, dict) or is_deep(value):
            return []
        found.append((cast("dict[str, Any]", value), text[start:end]))
        start = end
    return found
