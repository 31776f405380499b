"""The folders of the editor's window, which agents work in, and its user's MCP servers."""

from __future__ import annotations

import attrs

from bridge.wire import UserMcpServer


@attrs.define(eq=False, repr=False)
class Workspace:
    """The folders as the editor last named them, absolute paths; empty if it names none.

    `servers` are the user's MCP servers that sessions are given which are opened from now on.
    """

    folders: tuple[str, ...] = ()
    servers: tuple[UserMcpServer, ...] = ()

    def folder_for(self, chosen: str, *, is_set: bool) -> str:
        """Return the folder of a session: the one in the agent's definition, or else the first.

        `chosen` is that of the definition if it `is_set`, else the process's own.
        """
        return chosen if is_set or not self.folders else self.folders[0]

    def beside(self, folder: str) -> tuple[str, ...]:
        """Return all folders but one, each once."""
        return tuple(one for one in dict.fromkeys(self.folders) if one != folder)
