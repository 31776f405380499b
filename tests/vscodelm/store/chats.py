"""Chats that are remembered, and stores to remember them in."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

import trio

from bridge.history.exchange import Ending, Exchange
from bridge.history.message import Message
from tests.strategies import assistant, user
from vscodelm.store.opening import Memories, start_memories
from vscodelm.store.worker import PATIENCE_SECONDS

SCOPE = b"a scope"
CLOCK = 1_800_000_000.0


def record(turns: Iterable[str]) -> tuple[Exchange, ...]:
    """The record of a chat with these turns."""
    return tuple(
        Exchange((user(f"asks {turn}"),), assistant(f"hears {turn}"), Ending.COMPLETE)
        for turn in turns
    )


def chat(name: str, turns: int) -> tuple[Exchange, ...]:
    """The record of a chat after so many turns."""
    return record(f"{name} {turn}" for turn in range(turns))


def path(name: str, turns: int) -> tuple[Message, ...]:
    """What the editor sends with the next question."""
    return (*spoken(chat(name, turns)), user(f"{name} goes on"))


def spoken(record: tuple[Exchange, ...]) -> tuple[Message, ...]:
    return tuple(
        message for one in record for message in (*one.asked, one.answer) if message is not None
    )


@asynccontextmanager
async def remembering(
    state: Path, *, now: Callable[[], float] = lambda: CLOCK, patience: float = PATIENCE_SECONDS
) -> AsyncGenerator[Memories]:
    """A process's memory."""
    with trio.fail_after(20):
        async with trio.open_nursery() as nursery:
            memories = start_memories(state, nursery, now=now, patience=patience)
            try:
                yield memories
            finally:
                memories.leave()
