"""Render an agent's statements about itself: notices, its mode, its memory."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from agents.acp.schema.options import label_of, values_of
from agents.acp.schema.unstable import SubagentUpdate
from agents.acp.schema.updates import (
    CompactionSummaryChunk,
    CompactionUpdate,
    ConfigOptionUpdate,
    CurrentModeUpdate,
    Notice,
)
from agents.acp.text.markdown import MOST_ITEMS, code, escape, inline, one_line
from agents.events import Say, Think
from bridge.routing.own_words import CHANGED, COMMANDS, MEMORY

from .content import content_view
from .paragraphs import Page
from .session_view import SessionView

_ICONS = {"info": "💡", "warning": "⚠️", "error": "❌"}

_MOST_NAMED = 8
"""Slash commands that are named in the first answer of a chat."""
_UNASKED = (
    "The agent may act without asking you",
    "It changed its mode itself, and your permissions don't allow that mode. vscodelm changes the "
    "mode back before your next message.",
)
"""The title and the words of a warning."""
_STATES = {"running": "…", "idle": "✔", "requires_action": "*waits for you*"}
"""The marks for a sub-agent's states. Other states aren't shown."""


@attrs.define
class Notices:
    """A turn's notices."""

    _page: Page
    _view: SessionView
    _compactions: dict[str, object] = attrs.field(factory=dict[str, object], init=False)

    _summarized: set[str] = attrs.field(factory=set[str], init=False)
    """Compactions whose summary was shown, at least in part."""

    _reasons: set[str] = attrs.field(factory=set[str], init=False)
    """Why something was allowed or denied, as told in this turn."""

    def notice(self, notice: Notice) -> Sequence[Say]:
        """Return a quotation with an icon for how bad it is."""
        icon = _ICONS.get(notice.severity, _ICONS["info"])
        text = f"> {icon} **{escape(one_line(notice.title, 200))}**"
        if notice.description:
            text += f": {escape(one_line(notice.description, 1000))}"
        return self._page.add(text)

    def decision(
        self, title: str, reason: str, *, is_allowed: bool, about: Sequence[str] = ()
    ) -> Sequence[Say]:
        """Return which calls a rule allowed or denied; each reason is shown once.

        `about` says in Markdown which calls that were, where that is known.
        """
        mark = "✔ **Allowed by your rule:**" if is_allowed else "✘ **Not allowed:**"
        text = f"{mark} {', '.join(about[:MOST_ITEMS]) or inline(one_line(title, 200))}"
        if reason not in self._reasons:
            self._reasons.add(reason)
            text += f". {escape(one_line(reason, 400))}"
        return self._page.add(text)

    def form(self, mark: str, message: str) -> Sequence[Say]:
        """Return what came of a question for input, by its `mark`, and the question."""
        return self._page.add(f"{mark} {escape(one_line(message, 200))}")

    def mode(self, update: CurrentModeUpdate) -> Sequence[Say]:
        """Return the session's mode, where it is another than before."""
        mode = update.current_mode_id
        if not self._view.change_mode(mode):
            return ()
        return (*self._changed("Mode", mode), *self._forbidden("mode", mode))

    def options(self, update: ConfigOptionUpdate) -> Sequence[Say]:
        """Return the options that have another value than before, a line for each."""
        changed = self._view.change_options(values_of(update.config_options))
        said: list[Say] = []
        for option in update.config_options[:MOST_ITEMS]:
            if option.id not in changed:
                continue
            value = changed[option.id]
            if option.category == "mode":  # agents say it as their mode, too
                said += self.mode(CurrentModeUpdate(value))
            else:
                said += self._changed(one_line(option.name, 60) or "Option", label_of(option))
                said += self._forbidden(option.id, value)
        return said

    def _forbidden(self, key: str, value: str) -> Sequence[Say]:
        """Return a warning where the agent has chosen what the user's permissions don't allow."""
        if not self._view.is_forbidden(key, value):
            return ()
        return self.notice(Notice("warning", *_UNASKED))

    def _changed(self, what: str, value: str) -> Sequence[Say]:
        return self._page.add(f"{CHANGED}{escape(what)}: {code(one_line(value, 60) or '?')}")

    def compaction(self, update: CompactionUpdate) -> Sequence[Say]:
        """Return that the memory is being shortened, and how that ended; each once."""
        compaction = update.compaction_id
        known = compaction in self._compactions
        about = self._compactions.setdefault(compaction, object())
        ended = f"compaction {compaction}"
        if self._view.has_ended(ended):
            return ()
        match update.status:
            case "completed":
                mark = "✔"
            case "failed" | "cancelled" as status:
                error = f": {escape(one_line(update.error, 200))}" if update.error else ""
                mark = f"✘ *{status}*{error}"
            case _:
                return () if known else self._page.add(f"{MEMORY} …", about)
        self._view.end(ended)
        if self._page.is_about(about):
            return self._page.add_behind(f" {mark}")
        return self._page.add(f"{MEMORY} {mark}")

    def summary(self, update: CompactionUpdate | CompactionSummaryChunk) -> Sequence[Think]:
        """Return what the agent remembers instead of the messages, as a thought.

        A whole summary is left out where its pieces were shown.
        """
        compaction = update.compaction_id
        is_piece = isinstance(update, CompactionSummaryChunk)
        blocks = (update.content,) if is_piece else update.summary or ()
        text = "\n\n".join(filter(None, map(content_view, blocks)))
        if not text or (compaction in self._summarized and not is_piece):
            return ()
        if compaction not in self._summarized:
            self._page.end_thought()
        self._summarized.add(compaction)
        return (self._page.think(text, f"compaction {compaction}"),)

    def commands(self) -> Sequence[Say]:
        """Return a line that names the agent's slash commands, where it has any."""
        names = [code(f"/{one.name}") for one in self._view.record.commands]
        if not names:
            return ()
        more = len(names) - _MOST_NAMED
        rest = f" and {more} more" if more > 0 else ""
        text = f"{COMMANDS}{', '.join(names[:_MOST_NAMED])}{rest}."
        return self._page.add(f"{text} A message can begin with one.")

    def subagent(self, update: SubagentUpdate) -> Sequence[Say]:
        """Return a sub-agent that is new, and later each change of what it does."""
        known = self._view.subagent(update.session_id)
        is_new, before = known is None, known or ("", "")
        name = one_line(update.title or "", 80) or before[0]
        state = before[1] if update.state is None else update.state.state
        self._view.note_subagent(update.session_id, name, state)
        if not is_new and state == before[1]:
            return ()
        text = f"🤖 **{escape(name or 'Sub-agent')}**"
        if is_new and update.description:
            text += f": {escape(one_line(update.description, 200))}"
        words = _STATES.get(state, "")
        return self._page.add(f"{text} {words}" if words else text) if is_new or words else ()
