"""An Open Responses endpoint as an agent."""

from __future__ import annotations

import random
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import trio

from agents.base import Agent
from agents.events import Prompt
from agents.guarded import Tasks
from agents.open_responses.http.client import EndpointClient
from agents.open_responses.stream.call_ids import CallIds
from agents.origin import FRESH, Origin
from agents.trace import TapFor, untapped
from bridge.wire import OpenResponsesSpec

from .checkpoints import Points
from .endpoint import Endpoint
from .pictures import Pictures
from .session import OpenResponsesSession


class OpenResponsesAgent(Agent):
    """A definition of an endpoint; it satisfies `agents.base.Agent`.

    `further` are the definition's keys that are the endpoint's own. Turns run in `tasks`, as does
    the task that closes idle connections.
    """

    def __init__(
        self,
        spec: OpenResponsesSpec,
        tasks: Tasks,
        *,
        further: Mapping[str, Any] | None = None,
        call_ids: CallIds | None = None,
        environment: Mapping[str, str] | None = None,
        chance: Callable[[], float] = random.random,
        tap_for: TapFor = untapped,
        points: Points | None = None,
        pictures: Pictures | None = None,
    ) -> None:
        client = EndpointClient(spec, environment, tap_for, tasks)
        self.endpoint = Endpoint(
            spec,
            further or {},
            client,
            call_ids or CallIds(),
            chance,
            points or Points(),
            pictures or Pictures(),
        )
        self._tasks = tasks
        self._recalling = trio.Lock()
        self._has_recalled = False

    @property
    def processes(self) -> int:
        """Number of running processes: an endpoint has none."""
        return 0

    @property
    def groups(self) -> Mapping[int, str]:
        """The groups that they lead: none."""
        return {}

    @asynccontextmanager
    async def session(
        self, prompt: Prompt, origin: Origin = FRESH
    ) -> AsyncGenerator[OpenResponsesSession]:
        """Open a session, always a fresh one: its first messages show which response it continues.

        The first request goes out with the first turn.
        """
        await self._recall()
        session = OpenResponsesSession(self.endpoint, self.endpoint.chain(), self._tasks)
        try:
            yield session
        finally:
            with trio.CancelScope(shield=True):
                await session.end()

    async def aclose(self) -> None:
        """Close the connections; nothing may be asked any more."""
        await self.endpoint.client.aclose()

    async def _recall(self) -> None:
        """Learn, before the first session, where earlier processes were."""
        async with self._recalling:
            if not self._has_recalled:
                points = self.endpoint.points
                points.recall(await points.memory.points(points.scope, points.most))
                self._has_recalled = True
