"""Decide the setup of an agent's session: folders, tools, servers, and the side that edits."""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence

import attrs

from agents.acp.edits.choice import edits_by_editor
from agents.acp.edits.desk import FileDesk
from agents.acp.schema.initialize import McpServer
from agents.acp.schema.user_servers import servers_for
from agents.acp.transport.subprocess import working_directory
from agents.events import Prompt
from agents.guarded import Tasks
from agents.mcp.offer import Offer, ToolsOwner
from agents.mcp.session_tools import Toolbox
from agents.mcp.tool_servers import Toolboxes
from agents.mcp.tools import JSON
from agents.workspace import Workspace
from bridge.wire import McpServerSpec, Settings, ToolSpec

from .connected_agent import ConnectedAgent
from .learned import Fact
from .quirks import KnownAgent
from .session_params import SessionParams

log = logging.getLogger("vscodelm.acp")


@attrs.define(eq=False, repr=False)
class SessionSetup:
    """The setup of the sessions of one definition; what serves their files runs in `tasks`."""

    spec: McpServerSpec
    known: KnownAgent
    tasks: Tasks
    toolboxes: Toolboxes
    workspace: Workspace
    _left_out: set[tuple[str, str]] = attrs.field(factory=set[tuple[str, str]], init=False)
    """Names and types of the user's MCP servers that it doesn't take: the log has said so."""

    @property
    def folder(self) -> str:
        """The folder in which a new session works."""
        is_set = self.spec.cwd is not None
        return self.workspace.folder_for(working_directory(self.spec), is_set=is_set)

    def edits_by_editor(self, tools: Sequence[ToolSpec], settings: Settings) -> bool:
        """Return whether the editor makes the agent's edits in a session with these tools."""
        return edits_by_editor(
            settings.edits,
            self.known,
            reads_texts=self.workspace.texts.are_offered,
            tools=(tool.name for tool in tools),
        )

    async def params(
        self, peer: ConnectedAgent, prompt: Prompt, cwd: str, server: str = ""
    ) -> SessionParams:
        """Return the parameters of a session; its server is named `server`, if it can be."""
        if not prompt.tools:
            return self._without_tools(peer, cwd)
        owner = _ToolsOfProcess(peer, self.workspace)
        if peer.known.http_tools_only:
            tools = await self.toolboxes.make_web(prompt.tools, server, owner)
        else:
            await self.toolboxes.prepare()  # again: the listener may have failed since
            tools = self.toolboxes.make(prompt.tools, server, owner)
        return self._with_tools(peer, cwd, tools)

    def spare_params(self, peer: ConnectedAgent, prompt: Prompt, cwd: str) -> SessionParams | None:
        """Return the parameters of a spare; None if that would have to wait."""
        if not prompt.tools:
            return self._without_tools(peer, cwd)
        if peer.known.http_tools_only or not self.toolboxes.is_ready:
            return None
        owner = _ToolsOfProcess(peer, self.workspace)
        return self._with_tools(peer, cwd, self.toolboxes.make(prompt.tools, owner=owner))

    def _without_tools(self, peer: ConnectedAgent, cwd: str) -> SessionParams:
        """Return session parameters without the editor's tools."""
        return SessionParams(cwd, more=self._more(peer, cwd), users=self._users(peer))

    def _with_tools(self, peer: ConnectedAgent, cwd: str, tools: Toolbox) -> SessionParams:
        """Return session parameters with tools."""
        more, users = self._more(peer, cwd), self._users(peer)
        if not peer.process.edits_by_editor:
            return SessionParams(cwd, tools, peer.servers, more, users)
        known = peer.known
        files = FileDesk(
            self.workspace.texts,
            tools,
            self.tasks,
            missing_is_empty=known.missing_is_empty,
            writes_itself=known.writes_itself,
            folders=(cwd, *more),
            is_used=known.writes_through_editor,
        )
        return SessionParams(cwd, tools, peer.servers, more, users, files, known.edit_meta)

    def _users(self, peer: ConnectedAgent) -> tuple[McpServer, ...]:
        """Return the user's servers that the agent takes; the log tells once of any other."""
        able = peer.about.agent_capabilities.mcp_capabilities
        http_only = peer.known.http_tools_only
        taken, left_out = servers_for(self.workspace.servers, able, http_only=http_only)
        for one in left_out:
            if (one.name, one.type) not in self._left_out:
                self._left_out.add((one.name, one.type))
                words = "agent=%s isn't given the MCP server %r: it takes no servers of type %s"
                log.warning(words, self.spec.name, one.name, one.type)
        if taken:
            peer.give_users_servers()
        return taken

    def _more(self, peer: ConnectedAgent, cwd: str) -> tuple[str, ...]:
        """Return the editor's other folders, if the agent can work in several."""
        can = peer.about.agent_capabilities.session_capabilities.additional_directories
        return () if can is None else self.workspace.beside(cwd)


@attrs.frozen(eq=False, repr=False)
class _ToolsOfProcess(ToolsOwner):
    """An agent's process as the tools of its sessions see it; `Strays` checks their calls."""

    peer: ConnectedAgent
    workspace: Workspace

    @property
    def titles_name_tools(self) -> bool:
        return self.peer.known.titles_name_tools

    @property
    def ids_name_tools(self) -> bool:
        return self.peer.known.ids_name_tools

    @property
    def has_users_servers(self) -> bool:
        return self.peer.has_users_servers

    def others(self, server: str) -> Collection[str]:
        return self.peer.servers.keys() - {server}  # it may keep those of closed sessions

    def spelled(self, path: str) -> str:
        return self.workspace.spelled(path)

    def mix(self) -> None:
        self.peer.strays.mix()

    def be_asked(self, *, is_prompted: bool) -> None:
        self.peer.facts.learn(Fact.ASKS_FOR_TOOLS)
        if not is_prompted:
            self.peer.facts.learn(Fact.ASKS_BEFORE_PROMPT)

    async def refusal(self, offer: Offer, name: str, arguments: JSON) -> str | None:
        return await self.peer.strays.refusal(offer, name, arguments)
