"""What a session is opened with: its folder, and the editor's tools."""

from __future__ import annotations

from typing import assert_never

import attrs

from agents.mcp.toolbox import HttpAccess, StdioAccess, Toolbox

from .methods import LoadSessionRequest, NewSessionRequest
from .setup import HttpHeader, McpServer, McpServerHttp, McpServerStdio


@attrs.define(eq=False)
class Outfit:
    """A session's own; without tools where none are offered."""

    cwd: str
    tools: Toolbox | None = None
    given: set[str] = attrs.field(factory=set[str])
    """The names of all servers that its process was ever given."""
    is_name_used: bool = attrs.field(default=False, init=False)
    """Whether the process was given another server of this name."""
    is_spare: bool = attrs.field(default=False, init=False)
    """Whether it is kept for whoever comes next, with the session that was opened with it."""

    def __attrs_post_init__(self) -> None:
        self.is_name_used = self.tools is not None and self.tools.server in self.given

    def matches(self, other: Outfit) -> bool:
        """Return whether a session that was opened with one does for the other."""
        mine = self.tools and self.tools.catalogue
        return self.cwd == other.cwd and mine == (other.tools and other.tools.catalogue)

    def close(self) -> None:
        """Let go of it, unless it is kept."""
        if self.tools is not None and not self.is_spare:
            self.tools.close()

    def to_open(self) -> NewSessionRequest:
        """Return the request for a new session, with an access to the tools of its own."""
        return NewSessionRequest(self.cwd, self._servers())

    def to_load(self, session_id: str) -> LoadSessionRequest:
        """Return the request for a session that exists; the access is of its own likewise."""
        return LoadSessionRequest(session_id, self.cwd, self._servers())

    def _servers(self) -> tuple[McpServer, ...]:
        if self.tools is None:
            return ()
        name = self.tools.server
        access = self.tools.present()
        self.given.add(self.tools.server)
        self.is_name_used = self.is_name_used and self.tools.server == name
        match access:
            case StdioAccess(program=program, arguments=arguments, environment=environment):
                return (McpServerStdio(self.tools.server, program, arguments, environment),)
            case HttpAccess(url=url, authorization=words):
                headers = (HttpHeader("Authorization", words),)
                return (McpServerHttp(self.tools.server, url, headers),)
            case None:
                return ()
            case _:
                assert_never(access)
