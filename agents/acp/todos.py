"""Todo lists that agents keep with a tool of their own. Pure.

Some agents send their list as a `plan`, some only as the input of a tool (`TodoWrite`, `todowrite`,
`write_todos`), and one sends both. So the input of such a tool becomes the same entries.
"""

from __future__ import annotations

from typing import Any, cast

from .tool_call import CallRecord
from .updates import PlanEntry

_LIST = "todos"
_BESIDE = frozenset({_LIST, "merge", "id"})
"""What may stand in the input beside the list."""
_WORDS = ("content", "description", "text", "title", "task", "step")
"""Where an item has its words."""


def todo_entries(call: CallRecord) -> tuple[PlanEntry, ...] | None:
    """Return the list that a call writes, None if it is another call."""
    arguments = call.arguments
    items = arguments.get(_LIST)
    if not isinstance(items, list) or not arguments.keys() <= _BESIDE:
        return None
    entries = [_entry(item) for item in cast("list[Any]", items)]
    found = tuple(entry for entry in entries if entry is not None)
    return found if found and len(found) == len(entries) else None


def _entry(item: Any) -> PlanEntry | None:
    if not isinstance(item, dict):
        return None
    fields = cast("dict[str, Any]", item)
    words = next((fields[key] for key in _WORDS if isinstance(fields.get(key), str)), "")
    status = fields.get("status", "pending")
    return PlanEntry(words, status=status) if words and isinstance(status, str) else None
