"""Render an agent's plan: the whole plan first, later only its changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import attrs
from msgspec.structs import replace

from agents.acp.schema.plans import PlanEntry
from agents.acp.text.markdown import inline, one_line

_MOST_ENTRIES = 50
_MOST_CHANGES = 8
_WIDEST = 200
_DONE = "completed"
_NOW = "in_progress"
_DROPPED = "cancelled"
"""A status in one agent's todo list for which the protocol has no word."""


@attrs.define
class PlanView:
    """The parts of a plan that a turn has already shown."""

    _shown: tuple[PlanEntry, ...] = ()
    _dropped: set[str] = attrs.field(factory=set[str], init=False)
    """Steps that were dropped. One agent tells its list twice, and then calls such a step done."""

    def show(self, entries: Sequence[PlanEntry]) -> str:
        """Return the changes of the plan that the user hasn't seen, "" if there are none."""
        taken_up = {entry.content for entry in entries if entry.status not in (_DONE, _DROPPED)}
        self._dropped |= {entry.content for entry in entries if entry.status == _DROPPED}
        self._dropped -= taken_up
        entries = [
            replace(entry, status=_DROPPED)
            if entry.status == _DONE and entry.content in self._dropped
            else entry
            for entry in entries
        ]
        before, self._shown = self._shown, tuple(entries)
        if not entries:
            return ""
        known = {entry.content for entry in before}
        if not any(entry.content in known for entry in entries):
            return _whole(entries)
        changes = _changes(before, entries)
        if not changes:
            return ""
        done = sum(entry.status == _DONE for entry in entries)
        kept = sum(entry.status != _DROPPED for entry in entries)
        if done == len(entries):
            return f"**Plan** ☑ all {done} steps done" if done > 1 else "**Plan** ☑ done"
        more = len(changes) - _MOST_CHANGES
        rest = [f"{more} more"] if more > 0 else []
        count = f"({done}/{kept})"
        return f"**Plan** {count} " + " · ".join([*changes[:_MOST_CHANGES], *rest])


def checklist(entries: Sequence[PlanEntry]) -> str:
    """Return the steps of a plan, one a line."""
    lines = [_item(entry) for entry in entries[:_MOST_ENTRIES]]
    more = len(entries) - _MOST_ENTRIES
    rest = [f"- *… {more} more steps*"] if more > 0 else []
    return "\n".join([*lines, *rest])


def _whole(entries: Sequence[PlanEntry]) -> str:
    return f"**Plan**\n\n{checklist(entries)}"


def _item(entry: PlanEntry) -> str:
    box = "[x]" if entry.status == _DONE else "[ ]"
    now = " ← *now*" if entry.status == _NOW else ""
    dropped = " *dropped*" if entry.status == _DROPPED else ""
    return f"- {box} {_text(entry)}{now}{dropped}"


def _changes(before: Sequence[PlanEntry], after: Sequence[PlanEntry]) -> list[str]:
    """Return the steps that were done, are being done, are new, or were dropped."""
    left = Counter(entry.content for entry in before)
    known = {(entry.content, entry.status) for entry in before}
    done: list[str] = []
    now: list[str] = []
    new: list[str] = []
    dropped: list[str] = []
    for entry in after:
        is_new = left[entry.content] == 0
        left[entry.content] -= 1
        if not is_new and (entry.content, entry.status) in known:
            continue
        match entry.status:
            case "completed":
                done.append(f"☑ {_text(entry)}")
            case "in_progress":
                now.append(f"▸ {_text(entry)}")
            case "cancelled":
                dropped.append(f"*dropped:* {_text(entry)}")
            case _ if is_new:
                new.append(f"*new:* {_text(entry)}")
            case _:
                pass  # put back, which a later update will tell better
    dropped += [
        f"*dropped:* {_text(entry)}"
        for entry in before
        if left[entry.content] > 0 and entry.status not in (_DONE, _DROPPED)
    ]
    return [*done, *now, *new, *dropped]


def _text(entry: PlanEntry) -> str:
    return inline(one_line(entry.content, _WIDEST)) or "…"
