"""What an agent says about itself: notices, its mode, its memory."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from agents.events import Say
from bridge.own_words import MEMORY, MODE

from .markdown import code, escape, inline, one_line
from .page import Page
from .told import Told
from .updates import CompactionUpdate, CurrentModeUpdate, Notice

_ICONS = {"info": "💡", "warning": "⚠️", "error": "❌"}


@attrs.define
class Notices:
    """A turn's notices."""

    _page: Page
    _told: Told
    _compactions: dict[str, object] = attrs.field(factory=dict[str, object], init=False)

    _reasons: set[str] = attrs.field(factory=set[str], init=False)
    """Why something was allowed or denied, as told in this turn."""

    def notice(self, notice: Notice) -> Sequence[Say]:
        """Return a quotation with an icon for how bad it is."""
        icon = _ICONS.get(notice.severity, _ICONS["info"])
        text = f"> {icon} **{escape(one_line(notice.title, 200))}**"
        if notice.description:
            text += f": {escape(one_line(notice.description, 1000))}"
        return self._page.add(text)

    def decision(self, title: str, reason: str, *, is_allowed: bool) -> Sequence[Say]:
        """Return what a rule has allowed or what wasn't allowed; each reason is told once."""
        mark = "✔ **Allowed by your rule:**" if is_allowed else "✘ **Not allowed:**"
        text = f"{mark} {inline(one_line(title, 200))}"
        if reason not in self._reasons:
            self._reasons.add(reason)
            text += f". {escape(one_line(reason, 400))}"
        return self._page.add(text)

    def mode(self, update: CurrentModeUpdate) -> Sequence[Say]:
        """Return the session's mode, where it is another than before."""
        mode = update.current_mode_id
        if not mode or mode == self._told.mode:
            return ()
        self._told.mode = mode
        return self._page.add(f"{MODE}{code(one_line(mode, 60) or '?')}")

    def compaction(self, update: CompactionUpdate) -> Sequence[Say]:
        """Return that the memory is being shortened, and how that ended; each once."""
        compaction = update.compaction_id
        known = compaction in self._compactions
        about = self._compactions.setdefault(compaction, object())
        ended = f"compaction {compaction}"
        if self._told.has_ended(ended):
            return ()
        match update.status:
            case "completed":
                mark = "✔"
            case "failed" | "cancelled" as status:
                error = f": {escape(one_line(update.error, 200))}" if update.error else ""
                mark = f"✘ *{status}*{error}"
            case _:
                return () if known else self._page.add(f"{MEMORY} …", about)
        self._told.end(ended)
        if self._page.is_about(about):
            return self._page.add_behind(f" {mark}")
        return self._page.add(f"{MEMORY} {mark}")
