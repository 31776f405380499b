"""The tools that a session's agent is offered, and the process that they are offered to. Pure."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from .tools import JSON, ToolCatalogue


class Offer(Protocol):
    """The tools that a session's agent is offered now."""

    @property
    def server(self) -> str:
        """The name of the server, of this session alone."""
        ...

    @property
    def catalogue(self) -> ToolCatalogue:
        """The tools."""
        ...

    @property
    def owner(self) -> ToolsOwner:
        """The agent's process."""
        ...


class ToolsOwner:
    """The agent's process, as the tools of its sessions see it; here one without other sessions."""

    @property
    def titles_name_tools(self) -> bool:
        """Whether no model can choose what this agent calls a call."""
        return False

    @property
    def ids_name_tools(self) -> bool:
        """Whether this agent begins the id of a call with the name of the tool."""
        return False

    @property
    def has_users_servers(self) -> bool:
        """Whether the process was given servers of the user's, too."""
        return False

    def others(self, server: str) -> Collection[str]:
        """Return the names of the servers that the process was given, without this one."""
        return ()

    def mix(self) -> None:
        """Note that the agent would use one of those in this session."""

    def be_asked(self, *, is_prompted: bool) -> None:
        """Note that the agent asks which tools there are, or calls one.

        It `is_prompted` once a turn of the session has begun.
        """

    def spelled(self, path: str) -> str:
        """Return the path of a file as the editor has it."""
        return path

    async def refusal(self, offer: Offer, name: str, arguments: JSON) -> str | None:
        """Return the answer to a call that isn't passed on; the name is the editor's."""
        return None


NOBODY = ToolsOwner()
