"""Define the connection with an agent: two streams, and a report of its end.

`agents.acp.transport.subprocess` makes one of a child process. In tests the agent may be in
this process.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Protocol, TypeAlias

from bridge.value import Value

if TYPE_CHECKING:
    import trio

LAST_WORDS_SECONDS = 0.25
"""Seconds to wait for an ended agent's status and last words: its children may hold its streams."""


class Exit(Value):
    """The end of an agent: its status and its last words, if known."""

    status: int | None = None
    last_words: str = ""


class RunningProgram(Protocol):
    """A program that runs, such as an agent or a launcher."""

    @property
    def source(self) -> trio.abc.ReceiveStream:
        """Its output."""
        ...

    async def ended(self) -> None:
        """Wait until it has ended, even if another process holds its streams open."""
        ...

    async def exit(self) -> Exit:
        """Return how it ended; this waits for that a moment at most."""
        ...


class Link(RunningProgram, Protocol):
    """An agent that runs, at the other end of two streams."""

    @property
    def pid(self) -> int | None:
        """Its process, which leads a group; None if it runs in ours."""
        ...

    @property
    def sink(self) -> trio.abc.SendStream:
        """Bytes to the agent."""
        ...


Connect: TypeAlias = Callable[[], AbstractAsyncContextManager[Link]]
"""Starts an agent, and ends it for certain; raises `AgentError` where it can't be started."""
