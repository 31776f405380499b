"""Render plans that have an id, of which an agent may have several. The protocol may change them.

A plan of steps is shown by its changes, as a plan without an id is. Another is shown when it is
first known, and once more at the end of the turn, in its last version.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from agents.acp.schema.unstable import (
    PlanContent,
    PlanFile,
    PlanItems,
    PlanMarkdown,
)
from agents.acp.text.markdown import excerpt, link

from .plan import PlanView

_MOST_LINES = 200
"""Lines of a plan in Markdown that are shown."""


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
        """Return the last versions of the plans of which the user has seen an earlier one."""
        changed = [text for key, text in self._newest.items() if text != self._shown[key]]
        self._shown.update(self._newest)
        return changed

    def _first(self, plan_id: str, text: str) -> str:
        self._newest[plan_id] = text
        if plan_id in self._shown:
            return ""
        self._shown[plan_id] = text
        return text


def _name_of(uri: str) -> str:
    return uri.rstrip("/").rpartition("/")[2] or uri
