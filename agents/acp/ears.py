"""The sessions of a connection, as its reader knows them: who hears what is said of which.

An agent may say things of a session before we know that it exists: while one is being opened, what
is said of unknown sessions is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias

from agents.boundary import contained
from bridge.errors import Failure
from bridge.wire import RequestId

from .methods import (
    CancelledPermissionOutcome,
    RequestPermissionRequest,
    RequestPermissionResponse,
)
from .updates import SessionUpdate

MOST_EARLY = 1_000
"""Messages that are kept of sessions that we don't know yet."""
MOST_EARLY_BYTES = 4 * 1024 * 1024
"""Bytes that are kept of sessions that we don't know yet; the last message may be of any size."""
MOST_LEFT = 10_000
"""Ids that are remembered of sessions that nobody hears any more."""

PermissionId: TypeAlias = RequestId | None

CANCELLED = RequestPermissionResponse(CancelledPermissionOutcome())


class Ear(Protocol):
    """What hears what is said of a session. Nothing here waits but `room`."""

    def hear(self, update: SessionUpdate, size: int) -> None:
        """Take an update of `size` bytes in."""
        ...

    def be_asked(self, id_: PermissionId, request: RequestPermissionRequest, size: int) -> None:
        """Take a permission request of `size` bytes in, which must be answered once."""
        ...

    def is_open(self, id_: PermissionId) -> bool:
        """Return whether a permission request waits for its answer."""
        ...

    def be_unasked(self, id_: PermissionId) -> bool:
        """Take a permission request back that isn't answered; return whether there was one."""
        ...

    async def room(self) -> None:
        """Wait until more can be taken in."""
        ...

    def lose(self, failure: Failure) -> None:
        """Hear that the agent is gone."""
        ...

    @property
    def is_stopping(self) -> bool:
        """Whether the agent was told to stop and hasn't."""
        ...


class Ears:
    """All that hear, by their sessions."""

    def __init__(self) -> None:
        self._ears: dict[str, Ear] = {}
        self._left: dict[str, None] = {}
        """Sessions that nobody hears any more, and the agent hasn't closed as far as we know."""
        self._early: dict[str, list[tuple[SessionUpdate, int]]] = {}
        """With the size of each."""
        self._early_count = self._early_size = 0
        """How many those are, and how many bytes."""
        self._expected = 0
        self._heard: dict[Ear, None] = {}
        """Who heard something since there was room, in order."""

    def expect_more(self) -> None:
        """Keep what is said of unknown sessions: one is being opened."""
        self._expected += 1

    def expect_less(self) -> None:
        """Undo one `expect_more`: that session is known now, or there is none."""
        self._expected -= 1
        if not self._expected:
            self._early.clear()
            self._early_count = self._early_size = 0

    def attach_new(self, session_id: str, ear: Ear) -> bool:
        """Attach a session that the agent says is new; return whether it can be.

        Its id must belong to no other session that the agent may still have: the agent would mix
        two chats.
        """
        return session_id not in self._left and self.attach(session_id, ear)

    def attach(self, session_id: str, ear: Ear) -> bool:
        """Let a session hear what is said of it, from the beginning.

        Return whether it can: a session that somebody hears stays theirs.
        """
        if session_id in self._ears:
            return False
        self._left.pop(session_id, None)
        self._ears[session_id] = ear
        for update, size in self._early.pop(session_id, ()):
            self._early_count -= 1
            self._early_size -= size
            ear.hear(update, size)
        return True

    def detach(self, session_id: str) -> None:
        """Let nobody hear what is said of a session any more."""
        if self._ears.pop(session_id, None) is not None:
            self._left[session_id] = None
            if len(self._left) > MOST_LEFT:
                del self._left[next(iter(self._left))]

    def forget(self, session_id: str) -> None:
        """Note that the agent has closed a session: it may give its id to another."""
        self._left.pop(session_id, None)

    @property
    def are_stopping(self) -> bool:
        """Whether the agent was told to stop in any session, and hasn't."""
        return any(ear.is_stopping for ear in self._ears.values())

    def may_be_left(self, session_id: str) -> bool:
        """Return whether the agent may still have a session open that nobody hears any more."""
        return session_id in self._left

    @property
    def all(self) -> Sequence[Ear]:
        """All that hear."""
        return tuple(self._ears.values())

    def of(self, session_id: str) -> Ear | None:
        """Return who hears what is said of a session."""
        return self._ears.get(session_id)

    def hear(self, session_id: str, update: SessionUpdate, size: int) -> bool:
        """Pass an update on; return whether there was a place for it, if it may be of use."""
        ear = self._ears.get(session_id)
        if ear is not None:
            ear.hear(update, size)
            self._heard[ear] = None
        elif self._expected:
            if self._early_count >= MOST_EARLY or self._early_size >= MOST_EARLY_BYTES:
                return False
            self._early_count += 1
            self._early_size += size
            self._early.setdefault(session_id, []).append((update, size))
        return True

    def be_asked(self, id_: PermissionId, request: RequestPermissionRequest, size: int) -> bool:
        """Pass a permission request on; return whether somebody hears it."""
        ear = self._ears.get(request.session_id)
        if ear is None:
            return False
        ear.be_asked(id_, request, size)
        self._heard[ear] = None
        return True

    def is_open(self, id_: PermissionId) -> bool:
        """Return whether a permission request of any session waits for its answer."""
        return any(ear.is_open(id_) for ear in self._ears.values())

    def be_unasked(self, id_: PermissionId) -> bool:
        """Take a permission request back; return whether somebody had one that isn't answered."""
        for ear in self._ears.values():
            if ear.be_unasked(id_):
                self._heard[ear] = None
                return True
        return False

    async def room(self) -> None:
        """Wait until all that heard something can take more in."""
        heard, self._heard = self._heard, {}
        for ear in heard:
            await ear.room()

    def lose(self, failure: Failure) -> None:
        """Let everybody hear that the agent is gone."""
        for session_id, ear in list(self._ears.items()):
            with contained(f"session={session_id}"):
                ear.lose(failure)
