"""Name an ACP agent's session: by its id, and how it is opened again. Pure.

A handle names the session's MCP server, because of some agents: if a session is loaded with another
server's name, they tell their model that the old server has disconnected. And it names the folder
of a session that the user continued: an agent may find a session only in the folder where it began.

The memory of sessions keeps the handle, and reads no more of it than which session it names.
"""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

from agents.mcp.names import SERVER_PREFIX
from bridge.value import Value

_WITH_SERVER = re.compile(f"(.*)#({SERVER_PREFIX}[0-9a-z]{{1,16}})(?:@([^#@]+))?", re.DOTALL)


class SessionHandle(Value):
    """A session's id, its server, and its folder; empty where it has none or that isn't known.

    Only a handle with a server keeps the folder.
    """

    session_id: str
    server: str = ""
    folder: str = ""

    @classmethod
    def read(cls, text: str) -> SessionHandle:
        """Return what a handle says; older ones are the id alone."""
        found = _WITH_SERVER.fullmatch(text)
        return cls(text) if found is None else cls(found[1], found[2], unquote(found[3] or ""))

    @property
    def text(self) -> str:
        """The handle as text, for the memory of sessions."""
        folder = f"@{quote(self.folder, errors='replace')}" if self.folder else ""
        return f"{self.session_id}#{self.server}{folder}" if self.server else self.session_id

    def is_another_of(self, other: SessionHandle) -> bool:
        """Return whether both name one session, which the user continued in one of two chats.

        Without that they may be two sessions: some agents give an id again.
        """
        is_continued = bool(self.folder or other.folder)
        return is_continued and self.session_id == other.session_id and self != other


NAMELESS = SessionHandle("")
