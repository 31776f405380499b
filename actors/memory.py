"""What outlives us: which agent session knows which chat.

The store behind it may be shared by several processes, may be locked or broken, and never stops a
turn: where it can't help, there is no session to go on with, and the chat is told again.

A session is in one of three states. *Settled*: it knows what its newest record says, and nothing
else. *Running*: a turn has begun, so nobody knows what it knows. *Gone*: nobody remembers it. Only
a settled one is found, and who finds one has it: for everybody else it is running from then on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bridge.history import Exchange
from bridge.message import Message
from bridge.value import Value


class Known(Value):
    """A session of the agent's that was found, and is the finder's now."""

    handle: str
    steps: int
    """How many messages at the beginning of the path it knows; at least one."""


class SessionMemory(Protocol):
    """Remembers sessions by `scope`: the agent's definition, and the folder that it works in."""

    async def find(self, scope: bytes, path: Sequence[Message]) -> Known | None:
        """Take the session that knows the most of `path`; None where none is known for sure."""
        ...

    async def begin(self, scope: bytes, handle: str) -> bool:
        """Note, before the agent is given anything, that a turn begins in a session that we have.

        False: another process took the session meanwhile, so it mustn't be used any more.
        """
        ...

    def settle(
        self, scope: bytes, handle: str, record: Sequence[Exchange], marker: str | None
    ) -> None:
        """Note what a session knows now: all of `record`. Doesn't wait.

        `marker` is the token of our own mark in its newest answer.
        """
        ...

    def release(self, scope: bytes, handle: str) -> None:
        """Note that we have closed a session: if it is settled, whoever asks may have it."""
        ...


class NoMemory:
    """Remembers nothing."""

    async def find(self, scope: bytes, path: Sequence[Message]) -> Known | None:
        """Return None."""
        return None

    async def begin(self, scope: bytes, handle: str) -> bool:
        """Return true: nobody else knows of it."""
        return True

    def settle(
        self, scope: bytes, handle: str, record: Sequence[Exchange], marker: str | None
    ) -> None:
        """Forget it at once."""

    def release(self, scope: bytes, handle: str) -> None:
        """Do nothing."""
