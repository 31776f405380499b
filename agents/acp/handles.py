"""Name an ACP agent's session: by its id, and the name of its MCP server. Pure.

The memory of sessions keeps the handle, and doesn't read it. The server's name is in it because of
some agents: if a session is loaded with another server's name, they tell their model that the old
server has disconnected.
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
        """The handle as text, for the memory of sessions."""
        return f"{self.session_id}#{self.server}" if self.server else self.session_id
