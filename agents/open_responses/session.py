"""A session with an endpoint: a conversation, and the turn that runs in it."""

from __future__ import annotations

from collections.abc import Sequence

import trio

from agents.base import OneTurn
from agents.events import Prompt
from agents.guarded import Tasks
from bridge.wire import Settings, ToolSpec

from .endpoint import Endpoint
from .response_chain import ResponseChain
from .turn import EndpointTurn


class OpenResponsesSession(OneTurn[EndpointTurn]):
    """A conversation with an endpoint; it satisfies `agents.base.AgentSession`.

    It gets the history, and finds the response to continue by that (`Points`).
    """

    handle = None
    knows_history = False
    lost = None
    has_own_process = False
    process = None

    def __init__(self, endpoint: Endpoint, chain: ResponseChain, tasks: Tasks) -> None:
        self.chain = chain
        self._endpoint = endpoint
        self._tasks = tasks

    def can_offer(self, tools: Sequence[ToolSpec], settings: Settings) -> bool:
        """Return true: each request brings its own."""
        return True

    async def renew(self, prompt: Prompt) -> None:
        """Take what the next request of the open turn is made with."""
        if self._turn is not None:
            self._turn.renew(prompt)
        await trio.lowlevel.checkpoint()

    def run(self, prompt: Prompt) -> EndpointTurn:
        """Begin a turn. It takes in what was said; if it ends before, the next one does."""
        self._check_over()
        messages = (*prompt.transcript, *prompt.messages)
        self.chain.tell(messages, self._endpoint.options(prompt))
        former = None if self._turn is None else self._turn.ended
        self._turn = EndpointTurn(self._endpoint, self.chain, prompt, former)
        self._tasks.start_soon(self._turn.run, name=f"turn at {self._endpoint.client.server}")
        return self._turn

    async def end(self) -> None:
        """Close what is still open, and return when it is."""
        if self._turn is not None:
            self._turn.close()
            await self._turn.ended.wait()
