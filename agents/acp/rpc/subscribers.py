"""Track the subscribers of a connection's sessions.

An agent may send updates for a session before we know its id. While a session is being opened,
updates for unknown sessions are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from agents.acp.rpc.news import QuestionId, UserQuestion
from agents.acp.schema.files import FileRequest
from agents.acp.schema.updates import SessionUpdate
from agents.boundary import contained
from bridge.errors import Failure

MOST_EARLY = 1_000
"""Messages that are kept of sessions that we don't know yet."""
MOST_EARLY_BYTES = 4 * 1024 * 1024
"""Bytes that are kept of sessions that we don't know yet; the last message may be of any size."""
MOST_LEFT = 10_000
"""Most ids of unsubscribed sessions that are remembered."""


class Subscriber(Protocol):
    """Receives the updates of a session. Nothing here waits but `room`."""

    def hear(self, update: SessionUpdate, size: int) -> None:
        """Take an update of `size` bytes in."""
        ...

    def be_asked(self, id_: QuestionId, request: UserQuestion, size: int) -> None:
        """Take a question of `size` bytes in, which must be answered once."""
        ...

    @property
    def serves_files(self) -> bool:
        """Whether the agent's files are served."""
        ...

    def serve_file(self, id_: QuestionId, request: FileRequest) -> bool:
        """Serve a request about a file; return whether this session serves any."""
        ...

    def is_open(self, id_: QuestionId) -> bool:
        """Return whether a request waits for its answer."""
        ...

    def be_unasked(self, id_: QuestionId) -> UserQuestion | None:
        """Take a question back that isn't answered; return it, if there was one."""
        ...

    def complete(self, elicitation_id: str) -> bool:
        """Note that the user has done what an address was for; return whether that was asked."""
        ...

    async def room(self) -> None:
        """Wait until more can be taken in."""
        ...

    def lose(self, failure: Failure) -> None:
        """Note that the agent is gone."""
        ...

    @property
    def is_stopping(self) -> bool:
        """Whether the agent was told to stop and hasn't."""
        ...


class Subscribers:
    """The subscribers of a connection, by their sessions."""

    def __init__(self) -> None:
        self._subscribers: dict[str, Subscriber] = {}
        self._left: dict[str, None] = {}
        """Unsubscribed sessions that the agent hasn't closed as far as we know."""
        self._early: dict[str, list[tuple[SessionUpdate, int]]] = {}
        """With the size of each."""
        self._early_count = self._early_size = 0
        """Their number and their size in bytes."""
        self._expected = 0
        self._heard: dict[Subscriber, None] = {}
        """Subscribers with new updates since the last flush, in order."""

    def expect_more(self) -> None:
        """Keep updates for unknown sessions while a session is being opened."""
        self._expected += 1

    def expect_less(self) -> None:
        """Undo one `expect_more`: that session is known now, or there is none."""
        self._expected -= 1
        if not self._expected:
            self._early.clear()
            self._early_count = self._early_size = 0

    def attach_new(self, session_id: str, subscriber: Subscriber) -> bool:
        """Attach a session that the agent says is new; return whether it can be.

        Its id must belong to no other session that the agent may still have: the agent would mix
        two chats.
        """
        return session_id not in self._left and self.attach(session_id, subscriber)

    def attach(self, session_id: str, subscriber: Subscriber) -> bool:
        """Subscribe a session to its updates, from the first one.

        Return whether it can: a session has one subscriber.
        """
        if session_id in self._subscribers:
            return False
        self._left.pop(session_id, None)
        self._subscribers[session_id] = subscriber
        for update, size in self._early.pop(session_id, ()):
            self._early_count -= 1
            self._early_size -= size
            subscriber.hear(update, size)
        return True

    def detach(self, session_id: str) -> None:
        """Unsubscribe a session from its updates."""
        if self._subscribers.pop(session_id, None) is not None:
            self._left[session_id] = None
            if len(self._left) > MOST_LEFT:
                del self._left[next(iter(self._left))]

    def forget(self, session_id: str) -> None:
        """Note that the agent has closed a session: it may give its id to another."""
        self._left.pop(session_id, None)

    @property
    def are_stopping(self) -> bool:
        """Whether the agent was told to stop in any session, and hasn't."""
        return any(subscriber.is_stopping for subscriber in self._subscribers.values())

    def may_be_left(self, session_id: str) -> bool:
        """Return whether the agent may still have a session open that has no subscriber."""
        return session_id in self._left

    @property
    def all(self) -> Sequence[Subscriber]:
        """All subscribers."""
        return tuple(self._subscribers.values())

    def has(self, session_id: str) -> bool:
        """Return whether a session has a subscriber."""
        return session_id in self._subscribers

    def hear(self, session_id: str, update: SessionUpdate, size: int) -> bool:
        """Pass an update on; return whether it was delivered, kept, or of no use."""
        subscriber = self._subscribers.get(session_id)
        if subscriber is not None:
            subscriber.hear(update, size)
            self._heard[subscriber] = None
        elif self._expected:
            if self._early_count >= MOST_EARLY or self._early_size >= MOST_EARLY_BYTES:
                return False
            self._early_count += 1
            self._early_size += size
            self._early.setdefault(session_id, []).append((update, size))
        return True

    def be_asked(self, id_: QuestionId, request: UserQuestion, size: int) -> bool:
        """Pass a question on; return whether its session has a subscriber."""
        subscriber = self._subscribers.get(request.session_id or "")
        if subscriber is None:
            return False
        subscriber.be_asked(id_, request, size)
        self._heard[subscriber] = None
        return True

    @property
    def serve_files(self) -> bool:
        """Whether the files of any session are served."""
        return any(subscriber.serves_files for subscriber in self._subscribers.values())

    def serve_file(self, id_: QuestionId, request: FileRequest) -> bool:
        """Pass a request about a file on; return whether its session serves any."""
        subscriber = self._subscribers.get(request.session_id)
        return subscriber is not None and subscriber.serve_file(id_, request)

    def is_open(self, id_: QuestionId) -> bool:
        """Return whether a request of any session waits for its answer."""
        return any(subscriber.is_open(id_) for subscriber in self._subscribers.values())

    def be_unasked(self, id_: QuestionId) -> UserQuestion | None:
        """Take a question back; return it, if somebody had it and it isn't answered."""
        for subscriber in self._subscribers.values():
            question = subscriber.be_unasked(id_)
            if question is not None:
                self._heard[subscriber] = None
                return question
        return None

    def complete(self, elicitation_id: str) -> bool:
        """Pass on that the user has done what an address was for; return whether that was asked."""
        return any(one.complete(elicitation_id) for one in self._subscribers.values())

    async def room(self) -> None:
        """Wait until all subscribers with new updates can take more in."""
        heard, self._heard = self._heard, {}
        for subscriber in heard:
            await subscriber.room()

    def lose(self, failure: Failure) -> None:
        """Tell all subscribers that the agent is gone."""
        for session_id, subscriber in list(self._subscribers.items()):
            with contained(f"session={session_id}"):
                subscriber.lose(failure)
