"""Which agent answers for a definition, and where the agents' processes live."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from itertools import count
from typing import TYPE_CHECKING

import trio
from msgspec import UNSET

from bridge.models import AgentChoice
from bridge.wire import McpServerSpec, OpenResponsesSpec

from .base import Agent
from .eliza import ElizaAgent
from .guarded import GuardedTasks
from .tap import TapFor, untapped

if TYPE_CHECKING:
    from .acp.agent import AcpAgent
    from .open_responses.agent import OpenResponsesAgent
    from .open_responses.call_ids import CallIds
    from .open_responses.point_memory import PointMemory


class AgentDirectory:
    """The agents of one process; their own processes live in `nursery`.

    No task that lives there ends another. Call ids are unique in all of them. `point_memory` is for
    what endpoints keep.
    """

    def __init__(
        self,
        nursery: trio.Nursery,
        tap_for: TapFor = untapped,
        point_memory: PointMemory | None = None,
    ) -> None:
        self._tasks = GuardedTasks(nursery)
        self._tap_for = tap_for
        self._point_memory = point_memory
        self._acp: dict[bytes, AcpAgent] = {}
        """By the key of their definition: processes are shared."""
        self._open_responses: dict[bytes, OpenResponsesAgent] = {}
        """The same: they share what is known of the endpoint, and connections."""
        self._endpoints_call_ids: CallIds | None = None
        self._prefix = secrets.token_hex(4)
        self._calls = count(1)

    @property
    def processes(self) -> int:
        """How many processes of agents run."""
        return sum(agent.processes for agent in self._acp.values())

    def new_call_id(self) -> str:
        """Return an id for a tool call that no other call has or had."""
        return f"call_{self._prefix}_{next(self._calls)}"

    def agent_for(self, choice: AgentChoice) -> Agent:
        """Return the agent of a definition."""
        spec = choice.spec
        if spec.eliza is not UNSET:
            return ElizaAgent(spec.eliza, new_call_id=self.new_call_id)
        if spec.mcp_server is not UNSET:
            return self._acp_agent(choice.key, spec.mcp_server)
        if spec.acp is not UNSET:
            return self._acp_agent(choice.key, spec.acp)
        assert spec.open_responses is not UNSET, "an agent is one of the kinds"
        return self._open_responses_agent(choice, spec.open_responses)

    async def aclose(self) -> None:
        """Close what outlives its sessions."""
        for agent in self._open_responses.values():
            await agent.aclose()

    def _acp_agent(self, key: bytes, spec: McpServerSpec) -> AcpAgent:
        agent = self._acp.get(key)
        if agent is None:
            from .acp.agent import AcpAgent  # here, because Eliza needn't wait for its many types

            agent = AcpAgent(spec, self._tasks, new_call_id=self.new_call_id, tap_for=self._tap_for)
            self._acp[key] = agent
        return agent

    def _open_responses_agent(
        self, choice: AgentChoice, spec: OpenResponsesSpec
    ) -> OpenResponsesAgent:
        agent = self._open_responses.get(choice.key)
        if agent is None:
            # here, because who asks no endpoint needn't wait for an HTTP client to load
            from .open_responses.agent import OpenResponsesAgent
            from .open_responses.call_ids import CallIds
            from .open_responses.point_memory import NoPointMemory
            from .open_responses.points import Points
            from .open_responses.request_body import further_options

            self._endpoints_call_ids = self._endpoints_call_ids or CallIds()
            # a digest, because the definition may hold a key
            scope = hashlib.blake2b(choice.key, digest_size=16).digest()
            agent = OpenResponsesAgent(
                spec,
                self._tasks,
                further=further_options(choice),
                call_ids=self._endpoints_call_ids,
                tap_for=self._tap_for,
                points=Points(memory=self._point_memory or NoPointMemory(), scope=scope),
            )
            self._open_responses[choice.key] = agent
        return agent


@asynccontextmanager
async def open_directory(
    tap_for: TapFor = untapped, point_memory: PointMemory | None = None
) -> AsyncGenerator[AgentDirectory]:
    """Open the directory; on exit every process of its agents has ended."""
    async with trio.open_nursery() as nursery:
        directory = AgentDirectory(nursery, tap_for, point_memory)
        try:
            yield directory
        finally:
            nursery.cancel_scope.cancel()
            with trio.CancelScope(shield=True):
                await directory.aclose()
