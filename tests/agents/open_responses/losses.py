"""Calls that a stream tells, and that are neither made nor said to be left out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

from agents.events import Break

from .hearing import JSON, Heard

CallSource = Counter[tuple[str, str]]
"""The calls that one source told: names, and arguments as sorted JSON, or none yet."""


def silently_lost(heard: Heard, events: Iterable[JSON]) -> list[tuple[str, str]]:
    """Return the calls that a source told, but that weren't made, and about which nothing is said.

    There are at least as many calls as announcements, as items that are done, and as calls in the
    final output; what the same source tells twice under one id is one.
    """
    announced, done, final = CallSource(), CallSource(), CallSource()
    seen: set[str] = set()
    for event in events:
        item: JSON = event.get("item") or {}
        is_call = item.get("type") == "function_call"
        once = event["type"] + str(item.get("call_id") or json.dumps(item))
        if event["type"] == "response.completed":
            final.update(call_in(one) for one in event["response"]["output"] if "call_id" in one)
            break
        if is_call and once not in seen:
            seen.add(once)
            if event["type"] == "response.output_item.added":
                announced[item["name"], ""] += 1
            else:
                done[call_in(item)] += 1
    made = Counter((name, json.dumps(one, sort_keys=True)) for name, one in heard.calls)
    names = CallSource(
        {(name, ""): count for name, count in Counter(n for n, _ in made.elements()).items()}
    )
    lost = [*(announced - names), *(done - made), *(final - made)]
    said = " ".join(heard.outcome.notes)
    if isinstance(heard.end, Break):
        said += heard.end.failure.message
    return [one for one in lost if f"`{one[0]}`" not in said]


def call_in(item: JSON) -> tuple[str, str]:
    """Return the call of an item."""
    arguments: Any = item.get("arguments") or {}
    value = json.loads(arguments) if isinstance(arguments, str) else arguments
    return item["name"], json.dumps(value, sort_keys=True)
