"""Todo lists that agents keep with a tool of their own. Pure.

Some agents send their list as a `plan`, some only as the input of a tool (`TodoWrite`, `todowrite`,
`write_todos`), and some send both. So the input of such a tool becomes the same entries. Agents use
many names for the list and its fields. So a list is known by its items: each has words and says how
far it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, cast

from agents.acp.calls.state import CallRecord
from agents.acp.schema.plans import PlanEntry

_LIST = "todos"
"""The name that nearly all have; only there an item need not say how far it is."""
_WORDS = ("content", "description", "text", "title", "task", "step", "name")
"""Keys of an item's text."""
_STATUSES = {
    **dict.fromkeys(("pending", "todo", "open", "not_started", "notstarted", "queued"), "pending"),
    **dict.fromkeys(("in_progress", "inprogress", "doing", "active", "current"), "in_progress"),
    **dict.fromkeys(("completed", "complete", "done", "finished", "closed"), "completed"),
    **dict.fromkeys(("cancelled", "canceled", "dropped", "skipped"), "cancelled"),
}
_DONE = ("done", "completed", "checked")
"""Keys with a boolean instead of a status."""
_BESIDE = re.compile(r"[\w-]{0,40}")
"""Keys of other texts that an input may have, such as the write mode. A path isn't among them."""


def todo_entries(call: CallRecord) -> tuple[PlanEntry, ...] | None:
    """Return the list that a call writes, None if it is another call."""
    return _entries_in(call.arguments)


def listed(value: Any) -> tuple[PlanEntry, ...] | None:
    """Return the todo list that a result is, None if it is something else."""
    if isinstance(value, dict):
        return _entries_in(cast("dict[str, Any]", value))
    return _entries(value, needs_status=True)


def beside_list(call: CallRecord) -> dict[str, Any]:
    """Return the other arguments of a call that writes a list."""
    return {key: one for key, one in call.arguments.items() if not isinstance(one, list)}


def _entries_in(fields: dict[str, Any]) -> tuple[PlanEntry, ...] | None:
    """Return the one list in an object, None if it has other things that count."""
    lists = [key for key, value in fields.items() if isinstance(value, list)]
    rest = [value for value in fields.values() if not isinstance(value, list)]
    if len(lists) != 1 or not all(map(_is_beside, rest)):
        return None
    return _entries(fields[lists[0]], needs_status=lists[0] != _LIST)


def _is_beside(value: Any) -> bool:
    if isinstance(value, str):
        return _BESIDE.fullmatch(value) is not None
    return not isinstance(value, dict)


def _entries(items: Any, *, needs_status: bool) -> tuple[PlanEntry, ...] | None:
    if not isinstance(items, list):
        return None
    found: Sequence[PlanEntry | None] = [
        _entry(item, needs_status=needs_status) for item in cast("list[Any]", items)
    ]
    entries = tuple(entry for entry in found if entry is not None)
    return entries if entries and len(entries) == len(found) else None


def _entry(item: Any, *, needs_status: bool) -> PlanEntry | None:
    if not isinstance(item, dict):
        return None
    fields = cast("dict[str, Any]", item)
    words = next((fields[key] for key in _WORDS if isinstance(fields.get(key), str)), "")
    status = _status(fields)
    if not words or (status is None and (needs_status or "status" in fields)):
        return None
    return PlanEntry(words, status=status or "pending")


def _status(fields: dict[str, Any]) -> str | None:
    """Return how far an item is, None where it doesn't say so in words that are known."""
    given = fields.get("status", fields.get("state"))
    if isinstance(given, str):
        return _STATUSES.get(given.strip().lower().replace("-", "_").replace(" ", "_"))
    done = next((fields[key] for key in _DONE if isinstance(fields.get(key), bool)), None)
    return None if done is None else "completed" if done else "pending"
