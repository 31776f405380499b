"""Arguments that came without any key while several calls waited for theirs.

The items show their call, because an item has arguments of its own. If no item does, the order
decides, if there are as many arguments as calls: servers finish calls in the order in which they
began.
"""

from __future__ import annotations

import json
import re
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias, cast

from agents.nesting import is_deep

from .same_calls import is_made
from .tool_call import CallSource, CallState, FunctionCall, digest_of

Arguments: TypeAlias = tuple[dict[str, Any], str]
"""As an object, and as the server's text."""

_BLANKS = re.compile(r"\s*")
_decode = json.JSONDecoder().raw_decode


def place(records: Sequence[FunctionCall], told: Sequence[FunctionCall]) -> Iterator[None]:
    """Give those of the calls told that have no arguments theirs, step by step.

    A call gets none if other calls may own those that are left. Such a call isn't made.
    """
    by_name: dict[str | None, deque[FunctionCall]] = {}
    for call in told:
        if call.name and call.state is CallState.OPEN and not call.texts:
            by_name.setdefault(call.name, deque()).append(call)
        yield
    for record in records:
        if record.is_stray and record.name and record.is_whole and by_name.get(record.name):
            record.is_matched = True
            text = "{}" if record.parameters is None else record.parameters[1]
            _give(by_name[record.name].popleft(), text)
        yield
    silent = sorted((one for line in by_name.values() for one in line), key=_order)
    if not silent:
        return
    left = strays(records)
    for calls in (silent, [call for call in silent if not call.is_told]):
        if len(calls) == len(left):
            for call, (_, text) in zip(calls, left, strict=True):
                _give(call, text)
                yield
            left = []
    if not any(parameters for parameters, _ in left):
        for call in silent:
            if call.is_told and not call.texts:
                _give(call, "{}")
            yield


def _give(call: FunctionCall, text: str) -> None:
    call.done_text = text
    call.told |= CallSource.ARGUMENTS


def strays(records: Sequence[FunctionCall]) -> list[Arguments]:
    """Return the arguments that nobody claimed, wherever they came.

    Their index may be that of another call. Pieces count only if no arguments came whole.
    """
    unclaimed = sorted((one for one in records if one.is_stray and not one.name), key=_order)
    pieces = "".join(piece for one in unclaimed for piece in one.deltas)
    if not pieces or any(one.done_text and not one.has_item for one in records):
        whole = (one for one in unclaimed if CallSource.ARGUMENTS in one.told and one.is_whole)
        return [one.parameters or ({}, "{}") for one in whole]
    made = Counter(
        one.digest for one in filter(is_made, records) if CallSource.PIECES not in one.told
    )
    left: list[Arguments] = []
    for parameters, text in _split(pieces):
        digest = digest_of(parameters)
        if made[digest]:
            made[digest] -= 1
        else:
            left.append((parameters, text))
    return left


def _order(record: FunctionCall) -> tuple[int, int]:
    return record.output_index or 0, record.place


def _split(text: str) -> list[Arguments]:
    """Return the objects that stand behind one another; none if something else is there, too."""
    found: list[Arguments] = []
    start = 0
    while True:
        blanks = _BLANKS.match(text, start)
        start = blanks.end() if blanks is not None else start
        if start == len(text):
            return found
        try:
            value, end = _decode(text, start)
        except (ValueError, RecursionError):
            return []
        if not isinstance(value, dict) or is_deep(value):
            return []
        found.append((cast("dict[str, Any]", value), text[start:end]))
        start = end
