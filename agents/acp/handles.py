"""What an ACP agent's session is found again by: its id, and the name of its MCP server. Pure.

Both go with the handle, which others keep and don't read: an agent whose session is loaded under
another server's name tells its model that the old one has disconnected.
"""

from __future__ import annotations

import re

from agents.mcp.names import SERVER_PREFIX
from bridge.value import Value

_WITH_SERVER = re.compile(f"(.*)#({SERVER_PREFIX}[0-9a-z]{{1,16}})", re.DOTALL)


class SessionHandle(Value):
    """A session's id, and its server; without one, where it has none or that isn't known."""

    session_id: str
    server: str = ""

    @classmethod
    def read(cls, text: str) -> SessionHandle:
        """Return what a handle says; older ones are the id alone."""
        found = _WITH_SERVER.fullmatch(text)
        return cls(text) if found is None else cls(found[1], found[2])

    @property
    def text(self) -> str:
        """What others keep."""
        return f"{self.session_id}#{self.server}" if self.server else self.session_id
