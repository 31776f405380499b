"""The user's view of a session, which outlives a turn: texts already shown, warnings, notes."""

from __future__ import annotations

from collections.abc import Container, Mapping

import attrs

from agents.acp.schema.methods import is_extension
from agents.acp.schema.updates import Notice
from agents.acp.text.markdown import one_line
from agents.ledger import SessionRecord

from .changes import Changes

_MOST_CALLS = 1000
"""Calls that have ended and are remembered."""
_MOST_KINDS = 100
"""Kinds of notes that are remembered."""


@attrs.define
class SessionView:
    """A session as its user has seen it, with the warnings and notes that are still to be given.

    `mode` and `options` (values by id) are those that the session begins with. `record` has what
    the agent says of the session, and adds up its turns.
    """

    _mode: str = attrs.field(default="", alias="mode")
    _options: dict[str, str] = attrs.field(factory=dict[str, str], alias="options")
    record: SessionRecord = attrs.field(factory=lambda: SessionRecord(""))
    _forbidden: Mapping[str, Container[str]] = attrs.field(
        factory=dict[str, "Container[str]"], init=False
    )
    _stopped: Changes | None = attrs.field(default=None, init=False)
    """The changed files of a turn that was stopped, until an answer has named them."""
    _subagents: dict[str, tuple[str, str]] = attrs.field(
        factory=dict[str, "tuple[str, str]"], init=False
    )
    """The name and the state of each sub-agent, by its session."""
    _ended: dict[str, None] = attrs.field(factory=dict[str, None], init=False)
    _kinds: set[str] = attrs.field(factory=set[str], init=False)
    _notes: list[str] = attrs.field(factory=list[str], init=False)
    _warnings: dict[Notice, bool] = attrs.field(factory=dict["Notice", bool], init=False)
    """Warnings for the user, and whether each was shown."""

    def change_mode(self, mode: str) -> bool:
        """Take in the mode that the agent reports; return whether the user doesn't know of it."""
        if not mode or mode == self._mode:
            return False
        self._mode = mode
        return True

    def change_options(self, options: dict[str, str]) -> dict[str, str]:
        """Take in the values of all options, by id; return those that have changed."""
        before, self._options = self._options, options
        return {id_: value for id_, value in options.items() if before.get(id_, value) != value}

    def choose(self, mode: str | None, options: dict[str, str]) -> tuple[str, dict[str, str]]:
        """Take in what the user has chosen, which is no news; return what there was before.

        None leaves the mode as it is.
        """
        before = self._mode, self._options
        self._mode, self._options = self._mode if mode is None else mode, options
        return before

    def forbid(self, values: Mapping[str, Container[str]]) -> None:
        """Set the values, by key, that the permissions of this turn don't allow."""
        self._forbidden = values

    def is_forbidden(self, key: str, value: str) -> bool:
        """Whether the permissions of this turn don't allow a mode, or a value of an option."""
        return value in self._forbidden.get(key, ())

    def keep_stopped(self, changes: Changes) -> None:
        """Keep the changed files of a turn that was stopped for the next answer."""
        self._stopped = changes

    def take_stopped(self) -> Changes | None:
        """Return the changed files of the stopped turn, once."""
        stopped, self._stopped = self._stopped, None
        return stopped

    def has_ended(self, call_id: str) -> bool:
        """Whether the user was told how this call ended."""
        return call_id in self._ended

    def end(self, call_id: str) -> None:
        """Remember a call that ended, and forget the oldest of too many."""
        self._ended[call_id] = None
        if len(self._ended) > _MOST_CALLS:
            self.begin(next(iter(self._ended)))

    def begin(self, call_id: str) -> None:
        """Forget a call: some agents count from 1 in each turn."""
        self._ended.pop(call_id, None)

    def subagent(self, session_id: str) -> tuple[str, str] | None:
        """Return the name and the state of a sub-agent, None if it is new."""
        return self._subagents.get(session_id)

    def note_subagent(self, session_id: str, name: str, state: str) -> None:
        """Remember a sub-agent, and forget the oldest of too many."""
        self._subagents[session_id] = name, state
        if len(self._subagents) > _MOST_KINDS:
            del self._subagents[next(iter(self._subagents))]

    def note_unknown(self, what: str, kind: str) -> None:
        """Note a kind that we don't know, once in a session. One of an extension is nothing odd."""
        if is_extension(kind):
            return
        note = f"the agent sent {what} of an unknown kind, which isn't shown: {one_line(kind, 60)}"
        if note not in self._kinds and len(self._kinds) < _MOST_KINDS:
            self._kinds.add(note)
            self._notes.append(note)

    def warn(self, title: str, reason: str, *, again: bool = False) -> None:
        """Warn the user of something, once in a session for each reason, or `again`."""
        warning = Notice("warning", title, reason)
        if again:
            self._warnings.pop(warning, None)
        if len(self._warnings) < _MOST_KINDS:
            self._warnings.setdefault(warning, False)

    def take_warnings(self) -> list[Notice]:
        """Return the warnings for the user, each once."""
        warnings = [warning for warning, is_told in self._warnings.items() if not is_told]
        self._warnings |= dict.fromkeys(warnings, True)
        return warnings

    def take_notes(self) -> list[str]:
        """Return the notes to log, each once."""
        notes, self._notes = self._notes, []
        return notes
