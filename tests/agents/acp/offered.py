"""What a session is offered, without a toolbox; it satisfies `agents.acp.calls.identity.Offer`."""

from __future__ import annotations

import attrs

from agents.mcp.tools import ToolCatalogue
from bridge.wire import ToolSpec


@attrs.define
class Offered:
    """The tools of one server."""

    server: str
    catalogue: ToolCatalogue
    titles_name_tools: bool = False
    ids_name_tools: bool = False
    is_only_server: bool = True

    @classmethod
    def of(cls, server: str, *tools: str | ToolSpec) -> Offered:
        """Return an offer of these tools."""
        specs = [ToolSpec(tool) if isinstance(tool, str) else tool for tool in tools]
        return cls(server, ToolCatalogue.of(specs, server))
