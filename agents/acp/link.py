"""What connects us with an agent: two streams, and how its end is told.

`agents.acp.process` makes one of a child process. In tests the agent may be in this process.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Protocol, TypeAlias

from bridge.value import Value

if TYPE_CHECKING:
    import trio

LAST_WORDS_SECONDS = 0.25
"""How long we wait for a status and for last words, once an agent is gone: its children may hold
its streams open."""


class Exit(Value):
    """How an agent ended, as far as it can be known: its status, and its last words."""

    status: int | None = None
    last_words: str = ""


class Link(Protocol):
    """An agent that runs, at the other end of two streams."""

    @property
    def pid(self) -> int | None:
        """Its process, which leads a group; None if it runs in ours."""
        ...

    @property
    def source(self) -> trio.abc.ReceiveStream:
        """What the agent says."""
        ...

    @property
    def sink(self) -> trio.abc.SendStream:
        """What the agent is told."""
        ...

    async def ended(self) -> None:
        """Wait until the agent has ended, whoever else holds its streams open."""
        ...

    async def exit(self) -> Exit:
        """Return how the agent ended; it waits for that a moment at most."""
        ...


Connect: TypeAlias = Callable[[], AbstractAsyncContextManager[Link]]
"""Starts an agent, and ends it for certain; raises `AgentError` where it can't be started."""
