"""Agents that ask the loopback server, and what they answer."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import trio

from agents.base import AgentSession, Turn
from agents.events import Await, Break, CallTool, Event, Prompt, ToolAnswer
from agents.open_responses.agent import OpenResponsesAgent
from agents.trace import untapped
from bridge.errors import Failure
from bridge.wire import OpenResponsesSpec, ToolSpec
from tests.fakes.responses_server import ResponsesServer

from .words import user

TOOLS = (ToolSpec("read_file"),)
SOON = {"retry-after-ms": "1"}
"""Headers that let a retry come at once."""


@asynccontextmanager
async def agent_at(
    server: ResponsesServer | str, **fields: Any
) -> AsyncGenerator[OpenResponsesAgent]:
    """Open an agent; on exit nothing of it is left."""
    environment = fields.pop("environment", {})
    tap_for = fields.pop("tap_for", untapped)
    pictures = fields.pop("pictures", None)
    base_url = server if isinstance(server, str) else server.base_url
    async with trio.open_nursery() as nursery:
        agent = OpenResponsesAgent(
            OpenResponsesSpec(base_url, "small", **fields),
            nursery,
            environment=environment,
            chance=lambda: 0.0,
            tap_for=tap_for,
            pictures=pictures,
        )
        yield agent
        await agent.aclose()
        assert not nursery.child_tasks
        nursery.cancel_scope.cancel()


def asking(text: str, **fields: Any) -> Prompt:
    return Prompt((user(text),), tools=TOOLS, **fields)


async def events_of(session: AgentSession, text: str = "hello", **fields: Any) -> list[Event]:
    """Run a turn to its end; every call is answered with its number."""
    return await rest_of(session, session.run(asking(text, **fields)))


async def rest_of(session: AgentSession, turn: Turn) -> list[Event]:
    events: list[Event] = []
    answered = 0
    with trio.fail_after(10):
        async for batch in turn:
            events += batch
            if isinstance(batch[-1], Await):
                calls = [event for event in events if isinstance(event, CallTool)][answered:]
                answered += len(calls)
                for call in calls:
                    session.answer(ToolAnswer(call.call_id, f"result of {call.parameters}"))
    return events


async def alone(agent: OpenResponsesAgent, text: str = "hello", **fields: Any) -> list[Event]:
    """Run one turn in a session of its own."""
    async with agent.session(asking(text)) as session:
        return await events_of(session, text, **fields)


def failure_in(events: Sequence[Event]) -> Failure:
    """Return the failure that must be the last word, and nowhere else."""
    (broken,) = (event for event in events if isinstance(event, Break))
    assert events[-1] is broken
    return broken.failure
