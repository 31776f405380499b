"""How the tests here talk with an agent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import trio

from agents.base import AgentSession, Turn
from agents.events import AskPermission, Await, Event, Prompt, Say, Stop
from bridge.wire import ChatMessage, Settings, TextPart

PATIENCE = 30.0


def asking(text: str, *, settings: Settings | None = None) -> Prompt:
    """Return a prompt with one message of the user's."""
    return Prompt((ChatMessage("user", (TextPart(text),)),), settings=settings or Settings())


async def rest_of(turn: Turn) -> list[Event]:
    """Receive to the end."""
    with trio.fail_after(PATIENCE):
        return [event async for batch in turn for event in batch]


async def up_to(turn: Turn, kind: type[Event]) -> list[Event]:
    """Receive until such an event was in a batch."""
    events: list[Event] = []
    with trio.fail_after(PATIENCE):
        while not any(isinstance(event, kind) for event in events):
            events += await turn.receive()
    return events


async def answer_to(session: AgentSession, text: str) -> str:
    """Run a turn to its end, which must be an ordinary one, and return what was said."""
    events = await rest_of(session.run(asking(text)))
    assert events[-1] == Stop()
    return said(events)


def said(events: Sequence[Event]) -> str:
    """Return all the text, the agent's and ours."""
    return "".join(event.text for event in events if isinstance(event, Say))


def questions(events: Sequence[Event]) -> list[AskPermission]:
    """Return what was asked."""
    return [event for event in events if isinstance(event, AskPermission)]


def awaits(events: Sequence[Event]) -> int:
    """Return how often the turn said that it awaits answers."""
    return sum(isinstance(event, Await) for event in events)


def call(call_id: str = "call-1", **facts: Any) -> dict[str, Any]:
    """Return a tool call."""
    return {"toolCallId": call_id, "title": "Delete everything", **facts}
