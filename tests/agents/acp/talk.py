"""How the tests here talk with an agent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agents.base import AgentSession
from agents.events import AskPermission, Await, Event, Prompt, Stop
from bridge.wire import ChatMessage, Settings, TextPart
from tests.agents.talk import rest_of, said
from tests.agents.talk import up_to as up_to


def asking(text: str, *, settings: Settings | None = None) -> Prompt:
    """Return a prompt with one message of the user's."""
    return Prompt((ChatMessage("user", (TextPart(text),)),), settings=settings or Settings())


async def answer_to(session: AgentSession, text: str) -> str:
    """Run a turn to its end, which must be an ordinary one, and return what was said."""
    events = await rest_of(session.run(asking(text)))
    assert events[-1] == Stop()
    return said(events)


def questions(events: Sequence[Event]) -> list[AskPermission]:
    """Return what was asked."""
    return [event for event in events if isinstance(event, AskPermission)]


def awaits(events: Sequence[Event]) -> int:
    """Return how often the turn said that it awaits answers."""
    return sum(isinstance(event, Await) for event in events)


def call(call_id: str = "call-1", **facts: Any) -> dict[str, Any]:
    """Return a tool call."""
    return {"toolCallId": call_id, "title": "Delete everything", **facts}
