"""What a session is offered, without a toolbox; it satisfies `agents.mcp.offer.Offer`."""

from __future__ import annotations

import attrs

from agents.mcp.offer import NOBODY, ToolsOwner
from agents.mcp.tools import ToolCatalogue
from bridge.wire import ToolSpec


class TitlesNameTools(ToolsOwner):
    """An agent in which no model chooses a title."""

    @property
    def titles_name_tools(self) -> bool:
        return True


class IdsNameTools(ToolsOwner):
    """An agent that begins the ids of calls with the names of the tools."""

    @property
    def ids_name_tools(self) -> bool:
        return True


class WithUsersServers(ToolsOwner):
    """An agent that was given servers of the user's, too."""

    @property
    def has_users_servers(self) -> bool:
        return True


@attrs.define
class Offered:
    """The tools of one server."""

    server: str
    catalogue: ToolCatalogue
    owner: ToolsOwner = NOBODY

    @classmethod
    def of(cls, server: str, *tools: str | ToolSpec) -> Offered:
        """Return an offer of these tools."""
        specs = [ToolSpec(tool) if isinstance(tool, str) else tool for tool in tools]
        return cls(server, ToolCatalogue.of(specs, server))
