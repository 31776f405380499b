"""The parameters of a session: its folders, the editor's tools, and the user's MCP servers."""

from __future__ import annotations

from typing import Any, assert_never

import attrs

from agents.acp.edits.desk import FileDesk
from agents.acp.schema.initialize import HttpHeader, McpServer, McpServerHttp, McpServerStdio
from agents.acp.schema.methods import LoadSessionRequest, NewSessionRequest
from agents.acp.schema.user_servers import with_distinct_names
from agents.mcp.session_tools import HttpAccess, StdioAccess, Toolbox

MOST_GIVEN = 1_000
"""Names of MCP servers that are remembered of a process; the oldest is forgotten."""


@attrs.define(eq=False, repr=False)
class SessionParams:
    """The folder and the servers of a session; no tools if the editor offers none."""

    cwd: str
    tools: Toolbox | None = None
    given: dict[str, None] = attrs.field(factory=dict[str, None])
    """The names of the servers that its process was given, the newest last."""
    more: tuple[str, ...] = ()
    """Further folders that the agent works in."""
    users: tuple[McpServer, ...] = ()
    """The user's own MCP servers."""
    files: FileDesk | None = None
    """Serves the agent's files, if the editor makes its edits."""
    meta: dict[str, Any] | None = None
    """The `_meta` that the agent gets beside the protocol's fields."""
    is_name_used: bool = attrs.field(default=False, init=False)
    """Whether the process was given another server of this name."""
    is_first: bool = attrs.field(default=False, init=False)
    """Whether the process was given no other server."""

    def __attrs_post_init__(self) -> None:
        self.is_first = not self.given
        self.is_name_used = self.tools is not None and self.tools.server in self.given

    def matches(self, other: SessionParams) -> bool:
        """Return whether a session that was opened with one does for the other."""
        mine = self.tools and self.tools.catalogue
        is_same = (self.cwd, self.more, self.users) == (other.cwd, other.more, other.users)
        return is_same and mine == (other.tools and other.tools.catalogue)

    def close(self) -> None:
        """End the access to the tools."""
        if self.tools is not None:
            self.tools.close()

    def to_open(self) -> NewSessionRequest:
        """Return the request for a new session, with an access of its own to the tools."""
        return NewSessionRequest(self.cwd, self._servers(), self.more, self.meta)

    def to_load(self, session_id: str) -> LoadSessionRequest:
        """Return the request for a session that exists, with an access of its own to the tools."""
        return LoadSessionRequest(session_id, self.cwd, self._servers(), self.more, self.meta)

    def _servers(self) -> tuple[McpServer, ...]:
        """Return the editor's server, which keeps its name, and the user's beside it."""
        editors = self._editors()
        return editors + with_distinct_names(self.users, self.given)

    def _editors(self) -> tuple[McpServer, ...]:
        if self.tools is None:
            return ()
        name = self.tools.server
        access = self.tools.present()
        self.given.pop(self.tools.server, None)
        self.given[self.tools.server] = None
        if len(self.given) > MOST_GIVEN:
            del self.given[next(iter(self.given))]
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
