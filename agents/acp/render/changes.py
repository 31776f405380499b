"""Collect the files that have changed in a turn, but not by the editor's own edits. Pure.

The editor shows its own edits, but not these. So the end of the turn names them, and the editor is
given their texts from before, as far as the agent's messages tell. An agent sends the changed lines
only. They are put back into the text of the file where they stand in it exactly once.

A command of the agent may change files that no message names. The editor notices the change, but
not its cause. So these files are named apart.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Mapping, Sequence
from pathlib import PurePath

import attrs
import msgspec
from msgspec import UNSET, UnsetType

from agents.acp.calls.state import CallRecord
from agents.acp.edits.text_edit import plain
from agents.acp.schema.content import Diff, ToolCallContent
from agents.acp.text.markdown import code, one_line
from agents.events import Attach
from bridge.routing.own_words import CHANGED_FILES, CHANGED_MEANWHILE, CHANGED_UNTIL_STOPPED
from bridge.wire import CHANGES_MIME_TYPE, ChangedFile, ChangedFiles, WatchedFiles

from .call_subject import relative

MOST_NOTED = 1000
"""Changed files that are remembered in a turn; further ones aren't named."""
MOST_NAMED = 8
"""Changed files that the line names; the others are counted."""
MOST_SENT = 100
"""Changed files that are sent to the editor."""
MOST_TEXT = 4 * 1024 * 1024
"""Characters of earlier texts that are kept in a turn; further ones count as unknown."""
IN_COMPANY = " (another agent worked at the same time)"
"""Ends a line about files that another agent may have changed."""
_CHANGING = frozenset({"edit", "delete", "move"})
"""Kinds of calls that change the files which they name as their places."""


@attrs.define
class Changes:
    """The changes of one turn. The paths in `by_editor` were changed by the editor itself.

    An agent may name a file in several ways, also as seen from the folder `root`. Each is one path.
    """

    by_editor: Container[PurePath] = ()
    root: str = ""
    spelled: Callable[[str], str] = str
    """Returns the path of a file as the editor has it."""
    _before: dict[PurePath, str | UnsetType | None] = attrs.field(
        factory=dict[PurePath, "str | UnsetType | None"], init=False
    )
    """The text before the turn, by path: None for a new file, unset if it isn't known."""
    _size: int = attrs.field(default=0, init=False)
    _noticed: WatchedFiles = attrs.field(factory=WatchedFiles, init=False)
    """The files that have changed while the agent worked."""
    _is_alone: bool = attrs.field(default=True, init=False)
    """Whether no other agent worked meanwhile."""
    _earlier: Mapping[PurePath, str | UnsetType | None] = attrs.field(
        factory=dict[PurePath, "str | UnsetType | None"], init=False
    )
    """The files of a turn that was stopped, which this one's answer begins with."""

    def note(self, call: CallRecord) -> None:
        """Take note of a call that has ended well; its `files` are the texts after it."""
        for name, diffs in _changed(call).items():
            path = self._path(name)
            if path in self.by_editor or path in self._before or len(self._before) >= MOST_NOTED:
                continue
            before = _before(call.files.get(name), diffs)
            if isinstance(before, str):
                before = before if self._size + len(before) <= MOST_TEXT else UNSET
                self._size += len(before or "")
            self._before[path] = before

    @property
    def by_calls(self) -> Collection[PurePath]:
        """The files that the agent's calls have changed so far."""
        return self._before.keys()

    def notice(self, seen: WatchedFiles, *, is_alone: bool = True) -> None:
        """Take note of files that have changed while the agent worked, as the editor says.

        `is_alone`: no other agent worked meanwhile.
        """
        self._noticed, self._is_alone = seen, is_alone

    def follow(self, stopped: Changes) -> None:
        """Come after a turn that was stopped: the editor compares the files of both."""
        self._earlier = stopped._files

    @property
    def _files(self) -> Mapping[PurePath, str | UnsetType | None]:
        """The text from before, for every changed file."""
        return self._before | dict.fromkeys(self._others, UNSET)

    @property
    def _others(self) -> Sequence[PurePath]:
        """The files that no call has named, and that the editor hasn't edited."""
        return [
            path
            for path in map(PurePath, self._noticed.paths)
            if path not in self._before and path not in self.by_editor
        ]

    def beside(self, content: Sequence[ToolCallContent]) -> tuple[ToolCallContent, ...]:
        """Return what a call gave, without the changes that the editor has made and shows."""
        return tuple(
            part
            for part in content
            if not (isinstance(part, Diff) and self._path(part.path) in self.by_editor)
        )

    def lines(self) -> Sequence[str]:
        """Return the lines that name the changed files; none if there are none."""
        made, others = [*self._before], self._others
        lines = [self._line(CHANGED_FILES, made, 0)] if made else []
        if others:
            lines.append(self._doubt(self._line(CHANGED_MEANWHILE, others, self._noticed.more)))
        return lines

    def lines_when_stopped(self) -> Sequence[str]:
        """Return the same for the answer after the one that was stopped."""
        files = [*self._files]
        if not files:
            return []
        line = self._line(CHANGED_UNTIL_STOPPED, files, self._noticed.more)
        return [self._doubt(line) if self._others else line]

    def _line(self, begin: str, paths: Sequence[PurePath], more: int) -> str:
        """Return a line that names files; `more` are counted beside these."""
        shown = (relative(str(path), self.root) for path in paths[:MOST_NAMED])
        names = [code(one_line(name, 200)) for name in shown]
        more += len(paths) - len(names)
        return f"{begin}{', '.join(names)}{f' and {more} more' if more else ''}"

    def _path(self, name: str) -> PurePath:
        """Return the file that an agent names; other spellings, such as `x/../`, stay."""
        root = self.root.rstrip("/")
        # One agent leaves the first slash out.
        is_cut = root.startswith("/") and name.startswith(f"{root[1:]}/")
        path = PurePath(self.root, f"/{name}" if is_cut else name)
        return PurePath(self.spelled(str(path)))

    def _doubt(self, line: str) -> str:
        """Return a line about files that changed meanwhile; others may have changed them."""
        return line if self._is_alone else f"{line}{IN_COMPANY}"

    def record(self) -> Attach | None:
        """Return the changed files for the editor; None if there are none."""
        if not self._files:
            return None
        before = {**self._files, **self._earlier}  # the first change of a file counts
        files = [ChangedFile(str(path), text) for path, text in before.items()]
        return Attach(
            CHANGES_MIME_TYPE, msgspec.json.encode(ChangedFiles(tuple(files[:MOST_SENT])))
        )


def _changed(call: CallRecord) -> Mapping[str, Sequence[Diff]]:
    """Return the files that a call has changed, each with the changes that it tells."""
    found: dict[str, list[Diff]] = {}
    for diff in call.diffs:
        if diff.old_text != diff.new_text:
            found.setdefault(diff.path, []).append(diff)
    if not found and call.kind in _CHANGING and not call.diffs:
        return {place.path: () for place in call.locations}
    return found


def _before(after: str | None, diffs: Sequence[Diff]) -> str | UnsetType | None:
    """Return the text from before these changes; unset if it can't be told for certain."""
    if after is None or not diffs:
        return UNSET
    text: str | None = plain(after)
    for diff in reversed(diffs):
        new = plain(diff.new_text)
        if text is None:
            return UNSET
        if text == new:
            text = None if diff.old_text is None else plain(diff.old_text)
        elif diff.old_text is None or not new or text.count(new) != 1:
            return UNSET
        else:
            text = text.replace(new, plain(diff.old_text))
    return text
