"""How tests hear what any agent says in a turn."""

from __future__ import annotations

from collections.abc import Sequence

import trio

from agents.base import Turn
from agents.events import Event, Say
from tests.fakes.waiting import PATIENCE


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


def said(events: Sequence[object]) -> str:
    """Return all the text, the agent's and ours."""
    return "".join(event.text for event in events if isinstance(event, Say))
