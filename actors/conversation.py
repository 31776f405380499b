"""The open conversations of the History Actor, each with the mailbox of its Session Actor."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import trio

from agents.base import Agent
from agents.duplicates import has_own_tools
from bridge.history.events import Deliver
from bridge.history.message import Message
from bridge.routing.agent_host import INITIATOR, offers_progress, session_of
from bridge.routing.chat_events import Opened
from bridge.routing.index import ConversationKey
from bridge.routing.request import RequestClass
from bridge.wire import PROGRESS_TOOL

from .beginning import Head
from .log import log
from .mailbox import Mailbox
from .memory import AgentMemory, NoMemory, SessionMemory
from .messages import Asked, FromSession
from .outbox import Outbox
from .permissions import permission_tool
from .plan import Delivery, offered_tools, settings_for
from .progress.paced import PacedAgent
from .session import OpenSessions, SessionActor


@attrs.define(eq=False, repr=False)
class Conversation:
    """The agent's side of a conversation: the mailbox and the memory of its session.

    Its history is in `bridge.chats`. Nothing here waits.
    """

    mailbox: Mailbox
    memory: AgentMemory
    request_class: RequestClass
    origin: Head | None = None
    """The session that its own may begin as a fork of, until the first delivery."""
    _has_told: bool = attrs.field(default=False, init=False)
    """Whether the log says that the chat's host has no progress tool."""

    def deliver(
        self, asked: Asked, deliver: Deliver, marker: str | None, answers: Sequence[Message]
    ) -> None:
        """Hand a request over to the session; `answers` are those of the record."""
        settings = settings_for(asked.settings, self.request_class)
        is_main = self.request_class is RequestClass.MAIN
        origin, self.origin = self.origin, None
        delivery = Delivery(
            turn=deliver.turn,
            transcript=asked.transcript,
            new_from=deliver.new_from,
            withdrawn=deliver.withdrawn,
            options=asked.options,
            settings=settings,
            tools=offered_tools(asked.options, settings, to_agent=has_own_tools(asked.agent)),
            asks_by=permission_tool(asked.options),
            capabilities=asked.capabilities,
            shows_progress=self._shows_progress(asked),
            model=asked.model,
            marker=None if marker is None else f"{asked.model}\\{marker}".encode(),
            origin=origin,
            is_chat=is_main and bool(asked.hints.names),
            may_command=is_main and not asked.is_program,
            notice=asked.notice,
            answers=tuple(answers),
            is_program=asked.is_program,
            room=asked.room,
        )
        self.mailbox.deliver(delivery)

    def _shows_progress(self, asked: Asked) -> bool:
        """Return whether long responses are cut; where they can't be, say so once.

        A one-shot has only one response: its conversation ends with that.
        """
        if self.request_class.is_one_shot or asked.options.request_initiator != INITIATOR:
            return False
        if session_of(asked.transcript.lineage) is None:
            return False
        is_offered = offers_progress(asked.options)
        if not (is_offered or self._has_told):
            self._has_told = True
            log.warning(
                "request=%s the tool %s is not offered: answers are shown when they are complete, "
                "and Stop reaches the agent with the next message",
                asked.request,
                PROGRESS_TOOL,
            )
        return is_offered


@attrs.define(eq=False, repr=False)
class Conversations:
    """The open conversations. Starts their Session Actors."""

    nursery: trio.Nursery
    inbox: trio.MemorySendChannel[FromSession]
    """The History Actor's. Each Session Actor has a clone."""
    outbox: Outbox
    memory: SessionMemory = attrs.field(factory=NoMemory)
    sessions: OpenSessions = attrs.field(factory=OpenSessions, init=False)
    _open: dict[ConversationKey, Conversation] = attrs.field(
        factory=dict["ConversationKey", Conversation], init=False
    )

    def __getitem__(self, key: ConversationKey) -> Conversation:
        return self._open[key]

    def open(self, key: ConversationKey, opened: Opened, asked: Asked, agent: Agent) -> None:
        """Open a conversation for its first request, and start its Session Actor."""
        mailbox = Mailbox()
        # A request beside a chat ends with its answer, so it uses no remembered session.
        memory = self.memory if opened.request_class is RequestClass.MAIN else NoMemory()
        origin = None if opened.origin is None else self._open[opened.origin].mailbox.head
        own = AgentMemory.of(memory, asked.agent.key)
        self._open[key] = Conversation(mailbox, own, opened.request_class, origin)
        actor = SessionActor(
            key,
            PacedAgent(agent),
            mailbox,
            self.inbox.clone(),
            self.outbox,
            own,
            self.sessions,
        )
        self.nursery.start_soon(actor.run, name=f"session of conversation {key}")

    def abort(self, key: ConversationKey, turn: int) -> None:
        """Abort a turn of a conversation, unless an error came before that was opened."""
        if key in self._open:
            self._open[key].mailbox.abort(turn)

    def close(self, key: ConversationKey) -> None:
        """Forget a conversation; its Session Actor ends."""
        conversation = self._open.pop(key, None)
        if conversation is not None:
            conversation.mailbox.close()
