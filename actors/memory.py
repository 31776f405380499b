"""Remember after this process which agent session knows which chat.

Several processes may share the store behind this memory. The store may be locked or broken, but it
never stops a turn: then no session is found, and the agent gets the whole chat again.

A session is in one of three states. *Settled*: it knows exactly its newest record. *Running*: a
turn has begun, so its knowledge is uncertain. *Gone*: nobody remembers it. Only a settled session
is found, and it then belongs to the caller: for all others it is running from then on.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from typing import Protocol

import attrs

from bridge.history.exchange import Exchange
from bridge.history.message import Message
from bridge.routing.index import AgentKey
from bridge.value import Value


class Known(Value):
    """A session of the agent's that was found, and is the finder's now."""

    handle: str
    steps: int
    """The number of messages at the beginning of the path that it knows; at least one."""


class SessionMemory(Protocol):
    """Remembers sessions by `scope`: the agent's definition, and the folder that it works in."""

    async def find(self, scope: bytes, path: Sequence[Message]) -> Known | None:
        """Take the session that knows the most of `path`; None where none is known for sure."""
        ...

    async def begin(self, scope: bytes, handle: str) -> bool:
        """Note, before anything is sent to the agent, that a turn begins in a session of ours.

        False: another process or chat took the session meanwhile, so it mustn't be used any more.
        True: if it has other handles, they are nobody's from now on.
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


@attrs.frozen(eq=False, repr=False)
class AgentMemory:
    """The memory of one agent's sessions in our working directory."""

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
            folder = ""  # it was deleted
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
