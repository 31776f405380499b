"""Arguments that came without any key while several calls waited for theirs.

The items show their call, because an item has arguments of its own. If no item does, the order
decides, if there are as many arguments as calls: servers finish calls in the order in which they
began.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import islice
from typing import Any, TypeAlias, cast

from agents.nesting import is_deep

from .tool_call import CallState, FunctionCall, digest_of

Arguments: TypeAlias = tuple[dict[str, Any], str]
"""As an object, and as the server's text."""

MOST_PIECES = 1024
"""Pieces of arguments without a key that are looked at for each call that seems to have none."""
_BLANKS = re.compile(r"\s*")
_decode = json.JSONDecoder().raw_decode


def strays(
    records: Sequence[FunctionCall],
    silent: Sequence[FunctionCall],
    most: int | None = None,
) -> list[Arguments]:
    """Return the whole arguments that nobody claimed and that may be those of silent calls.

    `most` is how many of those that came in pieces are wanted; None: all of them.
    """
    places = {call.output_index for call in silent}
    unclaimed = [record for record in records if record.is_stray and _may_be_of(record, places)]
    whole = [
        record.parameters or ({}, "{}")
        for record in unclaimed
        if record.done_text is not None and record.is_whole
    ]
    pieces = (piece for record in unclaimed for piece in record.deltas)
    return whole or _split("".join(pieces if most is None else islice(pieces, MOST_PIECES)), most)


def _may_be_of(record: FunctionCall, places: Collection[int | None]) -> bool:
    """Tell whether a record isn't known to be elsewhere than all calls at these places."""
    if record.output_index is None or None in places:
        return bool(places)
    return record.output_index in places


def claim(records: Sequence[FunctionCall], parameters: dict[str, Any]) -> None:
    """Take arguments away from the strays, once: they were found to be those of a call."""
    digest = digest_of(parameters)
    for record in records:
        if record.is_stray and record.is_whole and record.asks(digest):
            record.is_matched = True
            return


def place(records: Sequence[FunctionCall]) -> list[tuple[FunctionCall, str]]:
    """Return the calls that have no arguments, each with its text; none if it can't be told."""
    silent = [
        record
        for record in records
        if record.name and record.state is CallState.OPEN and not record.texts
    ]
    left = strays(records, silent)
    sent = Counter(record.digest for record in records if record.state is CallState.SENT)
    over = len(left) - len(silent)
    kept: list[Arguments] = []
    for parameters, text in left:
        digest = digest_of(parameters)
        if over > 0 and sent[digest]:
            sent[digest] -= 1
            over -= 1
        else:
            kept.append((parameters, text))
    left = kept
    if len(left) != len(silent):
        return []
    return [(record, text) for record, (_, text) in zip(silent, left, strict=True)]


def _split(text: str, most: int | None) -> list[Arguments]:
    """Return the objects that stand behind one another; none if something else is there, too."""
    found: list[Arguments] = []
    start = 0
    while True:
        blanks = _BLANKS.match(text, start)
        start = blanks.end() if blanks is not None else start
        if start == len(text) or len(found) == most:
            return found
        try:
            value, end = _decode(text, start)
        except (ValueError, RecursionError):
            return []
        if not isinstance(value, dict) or is_deep(value):
            return []
        found.append((cast("dict[str, Any]", value), text[start:end]))
        start = end
