"""Render an agent's plans: a whole plan first, later only its changes. Pure.

A plan may have an id, and then an agent may have several. The protocol may change those. One of
steps is shown like a plan without an id. Another is shown when it is first known, and once more at
the end of the turn, in its last version.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import attrs
from msgspec.structs import replace

from agents.acp.schema.plans import PlanEntry
from agents.acp.schema.unstable import PlanContent, PlanFile, PlanItems, PlanMarkdown
from agents.acp.text.markdown import excerpt, inline, link, one_line

_MOST_ENTRIES = 50
_MOST_CHANGES = 8
_MOST_LINES = 200
"""Lines of a plan in Markdown that are shown."""
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
            return f"**Plan**\n\n{checklist(entries)}"
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


@attrs.define
class Plans:
    """The plans of a turn that the user has seen, by their ids."""

    _steps: dict[str, PlanView] = attrs.field(factory=dict[str, PlanView], init=False)
    _shown: dict[str, str] = attrs.field(factory=dict[str, str], init=False)
    _newest: dict[str, str] = attrs.field(factory=dict[str, str], init=False)

    def show(self, plan: PlanContent) -> str:
        """Return the text to show for an update, "" if there is none."""
        match plan:
            case PlanItems(plan_id=plan_id, entries=entries):
                return self._steps.setdefault(plan_id, PlanView()).show(entries)
            case PlanFile(plan_id=plan_id, uri=uri):
                return self._first(plan_id, f"**Plan** 📎 {link(_name_of(uri), uri)}")
            case PlanMarkdown(plan_id=plan_id, content=content) if content.strip():
                text = excerpt(content.strip(), _MOST_LINES)
                return self._first(plan_id, f"**Plan**\n\n{text}")
            case _:  # an empty one, or one of an unknown kind
                return ""

    def remove(self, plan_id: str) -> str:
        """Return the text for a plan that counts no more, "" if the user hasn't seen it."""
        was_seen = plan_id in self._steps or plan_id in self._shown
        for plans in (self._steps, self._shown, self._newest):
            plans.pop(plan_id, None)
        return "**Plan** *dropped*" if was_seen else ""

    def rest(self) -> Sequence[str]:
        """Return the last versions of plans, if the user has seen only an earlier one."""
        changed = [text for key, text in self._newest.items() if text != self._shown[key]]
        self._shown.update(self._newest)
        return changed

    def _first(self, plan_id: str, text: str) -> str:
        self._newest[plan_id] = text
        if plan_id in self._shown:
            return ""
        self._shown[plan_id] = text
        return text


def checklist(entries: Sequence[PlanEntry]) -> str:
    """Return the steps of a plan, one a line."""
    lines = [_item(entry) for entry in entries[:_MOST_ENTRIES]]
    more = len(entries) - _MOST_ENTRIES
    rest = [f"- *… {more} more steps*"] if more > 0 else []
    return "\n".join([*lines, *rest])


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


def _name_of(uri: str) -> str:
    return uri.rstrip("/").rpartition("/")[2] or uri
