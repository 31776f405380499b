"""Which agent answers for a definition, and where the agents' processes live."""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from itertools import count
from typing import TYPE_CHECKING

import trio
from msgspec import UNSET

from bridge.errors import Failure
from bridge.models import AgentChoice
from bridge.value import Value
from bridge.wire import McpServerSpec

from .base import FRESH, Agent, AgentError, AgentSession, Origin, Prompt
from .eliza import ElizaAgent

if TYPE_CHECKING:
    from .acp.agent import AcpAgent


class _Missing(Value):
    """An agent that this version can't run."""

    failure: Failure

    @asynccontextmanager
    async def session(self, prompt: Prompt, origin: Origin = FRESH) -> AsyncGenerator[AgentSession]:
        """Raise the reason."""
        raise AgentError(self.failure)
        yield  # the Protocol asks for a context manager


class AgentDirectory:
    """The agents of one process; their own processes live in `nursery`.

    Call ids are unique in all of them.
    """

    def __init__(self, nursery: trio.Nursery) -> None:
        self._nursery = nursery
        self._acp: dict[bytes, AcpAgent] = {}
        """By the key of their definition: processes are shared."""
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
        return _Missing(
            Failure(
                "NotFound",
                "This version of vscodelm can't run Open Responses endpoints yet; Eliza is here.",
            )
        )

    def _acp_agent(self, key: bytes, spec: McpServerSpec) -> AcpAgent:
        from .acp.agent import AcpAgent  # here, because Eliza needn't wait for its many types

        agent = self._acp.get(key)
        if agent is None:
            from .acp.agent import AcpAgent  # here, because Eliza starts faster without it

            agent = AcpAgent(spec, self._nursery, new_call_id=self.new_call_id)
            self._acp[key] = agent
        return agent


@asynccontextmanager
async def open_directory() -> AsyncGenerator[AgentDirectory]:
    """Open the directory; on exit every process of its agents has ended."""
    async with trio.open_nursery() as nursery:
        try:
            yield AgentDirectory(nursery)
        finally:
            nursery.cancel_scope.cancel()
