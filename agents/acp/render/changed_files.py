"""Reads the files that an agent has changed, to show at which lines it did.

Only files of the session's own folder are read. Some folders are on the other side of a network, so
the time is bounded: what can't be read soon is shown without line numbers.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path

import attrs
import trio

from agents.acp.rpc.news import News, PermissionRequested
from agents.acp.schema.content import ToolCall, ToolCallUpdate

from .renderer import Renderer

MOST_FILES = 20
"""Most changed files that are read for one output; the others are shown without line numbers."""
READING_SECONDS = 1.0
"""Seconds for reading the changed files of one output. Meanwhile the agent may
have to wait, and with it every chat of its process."""
MOST_BYTES = 1_000_000
"""The largest file that is read."""
MOST_READERS = 2
"""Most threads that read for one session. A thread that a folder never answers stays taken."""


@attrs.define(eq=False, repr=False)
class ChangedFileReader:
    """Reads files below the folder of one session, `root`; with an empty one, none."""

    root: str
    _readers: trio.CapacityLimiter = attrs.field(
        factory=lambda: trio.CapacityLimiter(MOST_READERS), init=False
    )

    async def look(self, heard: Sequence[News], renderer: Renderer) -> None:
        """Read the files that the agent has changed, or asks to, for the renderer.

        The renderer hears of the news next; those that arrive in the meantime are included.
        """
        if not any(_changed_by(one, renderer) for one in heard):
            return  # as nearly always, so no limit of time is set
        asked: set[str] = set()
        with trio.move_on_after(READING_SECONDS):
            for one in heard:
                for path in _changed_by(one, renderer):
                    if path in asked or len(asked) == MOST_FILES:
                        continue
                    asked.add(path)
                    text = await self.read(path)
                    if text is not None:
                        renderer.files[path] = text

    async def read(self, path: str) -> str | None:
        """Return the text of a file, None if it can't be read.

        It may take for ever; a thread that is stuck is left behind when this is cancelled.
        """
        if not (os.path.isabs(path) and self.root):
            return None
        return await trio.to_thread.run_sync(
            _read, path, self.root, abandon_on_cancel=True, limiter=self._readers
        )


def _changed_by(news: News, renderer: Renderer) -> Sequence[str]:
    match news:
        case ToolCall() | ToolCallUpdate():
            return renderer.calls.changed(news)
        case PermissionRequested(request=request):
            return renderer.calls.to_change(request.tool_call)
        case _:
            return ()


def _read(path: str, root: str) -> str | None:
    try:
        real = Path(path).resolve(strict=True)
        if not real.is_relative_to(Path(root).resolve()):
            return None
        file = os.open(real, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(file, "rb") as opened:
            about = os.fstat(opened.fileno())
            if not stat.S_ISREG(about.st_mode) or about.st_size > MOST_BYTES:
                return None
            content = opened.read(MOST_BYTES + 1)
        return content.decode() if len(content) <= MOST_BYTES else None
    except (OSError, ValueError):
        return None
