"""Which agent answers for a definition."""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from itertools import count

from msgspec import UNSET

from bridge.errors import Failure
from bridge.models import AgentChoice
from bridge.value import Value

from .base import Agent, AgentError, AgentSession, Prompt
from .eliza import ElizaAgent


class _Missing(Value):
    """An agent that this version can't run."""

    failure: Failure

    @asynccontextmanager
    async def session(self, prompt: Prompt) -> AsyncGenerator[AgentSession]:
        """Raise the reason."""
        raise AgentError(self.failure)
        yield  # the Protocol asks for a context manager


class AgentDirectory:
    """The agents of one process. Call ids are unique in all of them."""

    def __init__(self) -> None:
        self._prefix = secrets.token_hex(4)
        self._calls = count(1)

    def new_call_id(self) -> str:
        """Return an id for a tool call that no other call has or had."""
        return f"call_{self._prefix}_{next(self._calls)}"

    def agent_for(self, choice: AgentChoice) -> Agent:
        """Return the agent of a definition."""
        spec = choice.spec
        if spec.eliza is not UNSET:
            return ElizaAgent(spec.eliza, new_call_id=self.new_call_id)
        kind = "Open Responses endpoints" if spec.open_responses is not UNSET else "ACP agents"
        return _Missing(
            Failure("NotFound", f"This version of vscodelm can't run {kind} yet; Eliza is here.")
        )
