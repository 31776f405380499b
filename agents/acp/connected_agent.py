"""An agent that has introduced itself: what it says of itself, and its sessions.

It serves any number of sessions, new ones (`open`) and those that it has already (`existing`).
"""

from __future__ import annotations

import logging
import os
from collections import deque
from collections.abc import Callable
from typing import Protocol

import attrs

from agents.acp.calls.strays import Strays
from agents.acp.prompt.budget import ContextWindow
from agents.acp.rpc.connection import Connection
from agents.acp.schema.errors import Error
from agents.acp.schema.initialize import InitializeResponse
from agents.acp.schema.methods import CLOSE_SESSION, CloseSessionRequest, EmptyResponse
from agents.acp.transport.environment import environment_of
from agents.base import AgentError
from agents.boundary import contained
from agents.workspace import Workspace
from bridge.errors import Failure
from bridge.wire import McpServerSpec, RequestId

from .existing import ExistingSessions
from .learned import AgentFacts, Fact
from .login.advice import no_logout
from .login.authentication import Authentication
from .quirks import KnownAgent, known_agent
from .session_channel import SessionChannel
from .session_open import Openings
from .session_params import SessionParams

MOST_CLOSING = 100
"""Sessions that are being closed: some agents never answer that."""

log = logging.getLogger("vscodelm.acp")


class PeerHost(Protocol):
    """The process of an agent."""

    spec: McpServerSpec
    edits_by_editor: bool
    """Whether the editor makes the agent's edits, in all sessions of this process."""
    workspace: Workspace

    @property
    def pid(self) -> int | None:
        """The id of the process; None where the agent is no process of this machine."""
        ...

    @property
    def is_ending(self) -> bool:
        """Whether the process has ended, though the reason isn't known yet."""
        ...

    @property
    def is_usable(self) -> bool:
        """Whether another session may be opened here, as far as is known."""
        ...

    @property
    def has_spares(self) -> bool:
        """Whether sessions may be opened in advance."""
        ...

    def retire(self) -> None:
        """Serve the sessions that are open, and no others."""
        ...


@attrs.define(eq=False, repr=False)
class ConnectedAgent:
    """The agent in one process. `facts` are what it has shown, in whatever process it ran."""

    process: PeerHost
    connection: Connection
    about: InitializeResponse
    facts: AgentFacts
    window: ContextWindow
    known: KnownAgent = attrs.field(init=False)
    authentication: Authentication = attrs.field(init=False)
    strays: Strays = attrs.field(init=False)
    """Looks at the calls of the editor's tools."""
    existing: ExistingSessions = attrs.field(init=False)
    mixes_tools: bool = attrs.field(default=False, init=False)
    """Whether a call for one session came to another's server: each needs another process."""
    servers: dict[str, None] = attrs.field(factory=dict[str, None], init=False)
    """The names of the MCP servers that it was given, the newest last."""
    has_users_servers: bool = attrs.field(default=False, init=False)
    """Whether it was given servers of the user's, too."""
    openings: Openings = attrs.field(init=False)
    _closing: deque[RequestId] = attrs.field(factory=lambda: deque[RequestId](), init=False)
    """The newest requests to close a session, answered or not."""

    def __attrs_post_init__(self) -> None:
        spec, about, retire = self.process.spec, self.about, self.process.retire
        self.known = known_agent(about.agent_info.name if about.agent_info else None)
        self.authentication = Authentication(
            spec,
            environment_of(spec.env, {}, os.environ),
            self.connection,
            about.auth_methods,
            self.known,
            retire,
        )
        self.strays = Strays(self._channels, self._mix_tools)
        self.openings = Openings(
            self.connection,
            self.authentication,
            retire,
            self._end,
            self.window,
            self.strays.heard,
        )
        self.existing = ExistingSessions(self.openings, about.agent_capabilities, self.facts)

    @property
    def name(self) -> str:
        """The agent's name in the settings."""
        return self.process.spec.name

    @property
    def shares_tools(self) -> bool:
        """Whether its sessions share the editor's tools, so that each needs a process."""
        return self.known.sessions_share_tools or self.facts.has(Fact.SESSIONS_SHARE_TOOLS)

    def _mix_tools(self) -> None:
        """Open no more sessions: those that are open move on with their next turns."""
        if self.mixes_tools:
            return
        self.mixes_tools = True
        self.facts.learn(Fact.SESSIONS_SHARE_TOOLS)
        log.warning("agent=%s mixes up the tools of its chats: each gets a process", self.name)
        self.process.retire()
        self.openings.discard_spares()

    def give_users_servers(self) -> None:
        """Note that its sessions get servers of the user's, too."""
        self.has_users_servers = True

    def _channels(self) -> list[SessionChannel]:
        return [
            subscriber
            for subscriber in self.connection.subscribers.all
            if isinstance(subscriber, SessionChannel)
        ]

    async def log_out(self) -> None:
        """Log out; raises `AgentError`."""
        if self.about.agent_capabilities.auth.logout is None:
            raise AgentError(no_logout(self.process.spec, self.known))
        await self.authentication.log_out()

    async def open(
        self, params: SessionParams, another: Callable[[], SessionParams | None]
    ) -> SessionChannel:
        """Open a session; raises `AgentError`. The session owns `params` and closes them.

        `another` makes the parameters of a spare, if it can. A spare that fails costs no session.
        """
        channel = await self.openings.open(params)
        if self._opens_in_advance and not self.openings.has_spare:
            with contained(f"agent={self.name} spare session"):
                spare = another()
                if spare is not None:
                    self.openings.open_in_advance(spare)
        return channel

    def close(self, channel: SessionChannel) -> None:
        """Close a session, if the agent can, and the access to its tools."""
        channel.pause()
        if channel.tools is not None:
            channel.tools.close()
        self._end(channel)

    def _end(self, channel: SessionChannel) -> None:
        session_id = channel.session_id
        self.connection.subscribers.detach(session_id)
        if self.can_close:

            def closed(answer: EmptyResponse | Error | Failure) -> None:
                if isinstance(answer, EmptyResponse):
                    self.connection.subscribers.forget(session_id)

            request = CloseSessionRequest(session_id)
            self._closing.append(self.connection.call(CLOSE_SESSION, request, closed))
            if len(self._closing) > MOST_CLOSING:
                self.connection.forget_quietly(self._closing.popleft())

    @property
    def can_close(self) -> bool:
        """Whether the agent closes sessions."""
        return self.about.agent_capabilities.session_capabilities.close is not None

    @property
    def _opens_in_advance(self) -> bool:
        """Whether that is cheap: an unused session can be closed, and disturbs no other."""
        return self.process.has_spares and self.can_close and not self.shares_tools
