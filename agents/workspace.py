"""The editor's window: its folders, its user's MCP servers, and whether its user can be asked."""

from __future__ import annotations

import attrs

from bridge.wire import UserMcpServer


@attrs.define(eq=False, repr=False)
class Workspace:
    """The window, as the editor last described it."""

    folders: tuple[str, ...] = ()
    """Absolute paths; empty if it names none."""
    servers: tuple[UserMcpServer, ...] = ()
    """The MCP servers that new sessions are given."""
    shows_forms: bool = False
    """Whether an agent may ask the user for input."""

    def folder_for(self, chosen: str, *, is_set: bool) -> str:
        """Return the folder of a session: the one in the agent's definition, or else the first.

        `chosen` is that of the definition if it `is_set`, else the process's own.
        """
        return chosen if is_set or not self.folders else self.folders[0]

    def beside(self, folder: str) -> tuple[str, ...]:
        """Return all folders but one, each once."""
        return tuple(one for one in dict.fromkeys(self.folders) if one != folder)
