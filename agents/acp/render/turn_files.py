"""The files that one turn changes: how they are read, and how the editor is asked for others.

A command may change files that no call names. Only the editor sees that, as it watches its folders.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import attrs
import trio

from agents.acp.rpc.news import News
from agents.acp.schema.content import ToolCall, ToolCallUpdate
from agents.workspace import FileWatch

from .changed_files import ChangedFileReader
from .changes import Changes
from .renderer import Renderer

SETTLE_SECONDS = 0.5
"""Seconds that the editor takes to notice a change of a file, as it watches folders."""
STOPPED_SECONDS = 1.5
"""Seconds in which the changed files of a stopped turn, or of a dead agent, are asked for."""
SPARE_SECONDS = 1.0
"""Seconds that this leaves of a caller's deadline: beyond it the session is given up."""


@attrs.define(eq=False, repr=False)
class TurnFiles:
    """The files of one turn; `begin` makes the editor watch, if it can."""

    _disk: ChangedFileReader
    _begin: Callable[[], FileWatch | None]
    _watch: FileWatch | None = attrs.field(default=None, init=False)
    _called_at: float | None = attrs.field(default=None, init=False)
    """When the agent last said something of a call, if the editor wasn't asked since."""
    _has_called: bool = attrs.field(default=False, init=False)
    """Whether it did in the news that were taken last."""
    _asking: trio.CancelScope | None = attrs.field(default=None, init=False)

    def watch(self) -> None:
        """Begin to watch, once."""
        if self._watch is None:
            self._watch = self._begin()

    def end(self) -> None:
        """Let the editor stop to watch."""
        if self._watch is not None:
            self._watch.end()

    async def read(self, heard: Sequence[News], renderer: Renderer) -> None:
        """Read the files that the agent has changed, or asks to, before the renderer hears it."""
        self._has_called = self._watch is not None and any(
            isinstance(one, ToolCall | ToolCallUpdate) for one in heard
        )
        if self._has_called:
            self._called_at = trio.current_time()
        await self._disk.look(heard, renderer)

    def note(self, changes: Changes) -> None:
        """Let the turns that run beside this one know what its calls have changed."""
        if self._watch is not None and self._has_called:
            self._watch.note_calls(changes.by_calls)

    async def ask(self, changes: Changes, *, in_haste: bool) -> bool:
        """Ask the editor for the changed files, and return whether it was asked.

        It isn't if the agent has called no tool. For an agent that was stopped, or is dead, it has
        little time.
        """
        if self._watch is None or self._called_at is None:
            return False
        with trio.CancelScope(deadline=_until(in_haste=in_haste)) as self._asking:
            await trio.sleep_until(self._called_at + SETTLE_SECONDS)
            seen = await self._watch.changed()
            changes.notice(seen, is_alone=self._watch.is_alone)
        self._asking = self._called_at = None
        return True

    def interrupt(self) -> None:
        """Stop waiting for the editor's answer, if it was asked."""
        if self._asking is not None:
            self._asking.cancel()

    def give_up(self) -> None:
        """Stop waiting for the editor's answer, and don't ask again, if it was asked."""
        if self._asking is not None:
            self._called_at = None
            self._asking.cancel()


def _until(*, in_haste: bool) -> float:
    if not in_haste:
        return math.inf
    spared = trio.current_effective_deadline() - SPARE_SECONDS
    return min(trio.current_time() + STOPPED_SECONDS, spared)
