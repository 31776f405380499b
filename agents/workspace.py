"""The editor's window: its folders, and the MCP servers that its user lets agents have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs

from bridge.wire import UserMcpServer


def _learn_nothing(_servers: Sequence[Any]) -> None:
    """Hide nothing of the servers."""


@attrs.define(eq=False, repr=False)
class Workspace:
    """The folders and servers as the editor last named them; none if it names none."""

    folders: tuple[str, ...] = ()
    """Absolute paths."""
    servers: tuple[UserMcpServer, ...] = ()
    """The user's own MCP servers: sessions that are opened from now on get them."""
    learn: Callable[[Sequence[Any]], None] = _learn_nothing
    """Remembers the secrets of servers as the editor names them, before anything is told."""

    def folder_for(self, chosen: str, *, is_set: bool) -> str:
        """Return the folder of a session: the one in the agent's definition, or else the first.

        `chosen` is that of the definition if it `is_set`, else the process's own.
        """
        return chosen if is_set or not self.folders else self.folders[0]

    def beside(self, folder: str) -> tuple[str, ...]:
        """Return all folders but one, each once."""
        return tuple(one for one in dict.fromkeys(self.folders) if one != folder)
