"""What outlives us: which agent session knows which chat.

The store behind it may be shared by several processes, may be locked or broken, and never stops a
turn: where it can't help, there is no session to go on with, and the chat is told again.

A session is in one of three states. *Settled*: it knows what its newest record says, and nothing
else. *Running*: a turn has begun, so nobody knows what it knows. *Gone*: nobody remembers it. Only
a settled one is found, and who finds one has it: for everybody else it is running from then on.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from typing import Protocol

import attrs

from bridge.exchange import Exchange
from bridge.index import AgentKey
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

    async def has(self, scope: bytes, handle: str) -> bool:
        """Return whether a session that we have settled is still ours.

        False: another process took it, and may have given it something.
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

    async def has(self, scope: bytes, handle: str) -> bool:
        """Return true: nobody else knows of it."""
        return True

    def settle(
        self, scope: bytes, handle: str, record: Sequence[Exchange], marker: str | None
    ) -> None:
        """Forget it at once."""

    def release(self, scope: bytes, handle: str) -> None:
        """Do nothing."""


@attrs.frozen(eq=False)
class AgentMemory:
    """What is remembered of one agent's sessions in our working directory."""

    memory: SessionMemory
    scope: bytes

    @classmethod
    def of(cls, memory: SessionMemory, agent: AgentKey) -> AgentMemory:
        """Return the memory of an agent's definition.

        Its scope is a digest: the definition may hold a secret, such as a key in its environment.
        """
        try:
            folder = os.getcwd()
        except OSError:
            folder = ""  # it was deleted, and so is the same for nobody
        scope = hashlib.blake2b(agent + b"\0" + os.fsencode(folder), digest_size=16).digest()
        return cls(memory, scope)

    async def find(self, path: Sequence[Message]) -> Known | None:
        """Take the session that knows the most of `path`."""
        return await self.memory.find(self.scope, path)

    async def begin(self, handle: str) -> bool:
        """Note that a turn begins; False if another process took the session."""
        return await self.memory.begin(self.scope, handle)

    async def has(self, handle: str) -> bool:
        """Return whether a session that is settled is still ours."""
        return await self.memory.has(self.scope, handle)

    def settle(self, handle: str, record: Sequence[Exchange]) -> None:
        """Note what a session knows now; `record` ends with its newest answer."""
        answer = record[-1].answer
        self.memory.settle(self.scope, handle, record, answer.marker if answer else None)

    def release(self, handle: str) -> None:
        """Note that a session is closed."""
        self.memory.release(self.scope, handle)
