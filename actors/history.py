"""The History Actor: gives every event to `bridge.chats` and carries out the effects.

Nothing here waits; `history_task` waits for the messages. Outboxes and mailboxes take a message at
once. So an editor that doesn't read, or an agent that doesn't stop, can't block it
(docs/explanation/actors.md draws the graph).
"""

from __future__ import annotations

import secrets
from collections.abc import Callable

import attrs
import trio
from msgspec.structs import replace

from agents.base import Agent
from agents.boundary import failure_of
from bridge.chats import Chats
from bridge.models import AgentChoice
from bridge.routing.chat_events import Broke, ChatEvent, Effects, SessionRecalled

from .beginning import Start
from .conversation import Conversations
from .editor_face import EditorFace
from .forms.requests import FormRequests
from .inspection.inspector import Inspector
from .journal import Journal
from .log import log_start
from .messages import (
    AccountAsked,
    ActorMessage,
    Asked,
    Began,
    Cancelled,
    Ended,
    Expired,
    Failed,
    FormAnswered,
    FormAsked,
    FormTakenBack,
    Gauged,
    InspectAsked,
    Leaving,
    Said,
    SessionsAsked,
    StatsAsked,
)
from .performing import CarriedRequest, Performer
from .requests import EditorRequests

AgentFactory = Callable[[AgentChoice], Agent]
MARKER_PREFIX = "vscodelm-"
"""The prefix of our markers; hosts cut them at a backslash, so they have none."""


@attrs.define(eq=False, repr=False)
class HistoryActor:
    """Applies every event to the chats of one editor, and carries out the effects."""

    editor: EditorFace
    agent_for: AgentFactory
    conversations: Conversations
    requests: EditorRequests
    chats: Chats = attrs.field(factory=Chats)
    _journal: Journal = attrs.field(init=False)
    _inspector: Inspector = attrs.field(init=False)
    _forms: FormRequests = attrs.field(init=False)
    _performer: Performer = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._forms = FormRequests(self.editor.forms, self.chats)
        self._performer = Performer(self.editor, self.chats, self.conversations)
        self._journal = Journal(self.editor.trace)
        self._journal.begin(self.chats)
        self._inspector = Inspector(self.chats, self.editor.hide)

    def hear(self, message: ActorMessage) -> None:
        """Handle one message, and carry out its effects.

        An error ends the conversation that the message is about, and no other.
        """
        try:
            self._hear(message)
        except Exception as error:
            self._contain(message, error)
        for broke in self._forms.ask_again():
            self._give_up(broke)
        if not isinstance(message, Asked | Said):  # an agent may wait for these
            self._inspector.rest()

    def _hear(self, message: ActorMessage) -> None:
        match message:
            case Ended(parts=parts) if parts and self.editor.trace.is_on:
                # In the trace the parts come before the end.
                self._hear(Said(message.conversation, message.turn, parts))
                self._hear(replace(message, parts=()))
            case Failed(failure=failure):  # it may become a part of the answer
                shown = failure.without_secrets(self.editor.hide)
                self._carry_out(self._apply(replace(message, failure=shown)))
            case Ended():
                self._carry_out(self._apply(message))
                self.chats.prepare()  # while the editor reads the answer
            case Said() | Expired():
                self._carry_out(self._apply(message))
            case Asked():
                self._ask(message)
            case Cancelled(request=request):
                self._carry_out(self._apply(message))
                self.requests.cancel(request)
            case FormAsked() | FormTakenBack() | FormAnswered():
                for broke in self._forms.hear(message):
                    self._give_up(broke)
            case Gauged(model=model, measured=measured):
                self.editor.learn(model, measured)
            case Began():
                if message.start is Start.STORED:
                    self._apply(SessionRecalled())
                now = trio.current_time()
                self._journal.note(message, now)
                self._inspector.began(message, now)
                log_start(message)
            case StatsAsked() | InspectAsked() | AccountAsked() | SessionsAsked():
                self.requests.begin(message, self.chats, self._inspector)
            case Leaving():
                self._carry_out(self._apply(message))
                self.requests.leave()
                self.conversations.inbox.close()  # the loop ends when the last session actor has

    def _apply(self, event: ChatEvent, asked: Asked | None = None) -> Effects:
        now = trio.current_time()
        self._journal.note(event, now)
        return self._inspector.apply(event, now, asked)

    def _contain(self, message: ActorMessage, error: Exception) -> None:
        """End the conversation in which an error occurred; an error here ends the process."""
        match message:
            case Leaving():
                raise error
            case StatsAsked() | InspectAsked() | AccountAsked() | SessionsAsked():
                request = message.request
                self.editor.settle(request, failure_of(error, f"request={request}"))
            case Gauged() | FormAnswered():
                failure_of(error, type(message).__name__)
            case Asked(request=request) | Cancelled(request=request):
                failure = failure_of(error, f"request={request}")
                self._give_up(Broke(failure, request=request))
            case Began() | Said() | Ended() | Failed() | Expired() | FormAsked() | FormTakenBack():
                key = message.conversation
                self._give_up(Broke(failure_of(error, f"conversation={key}"), key))

    def _give_up(self, broke: Broke) -> None:
        for key, effect in self._apply(broke):
            self._performer.perform(key, effect)

    def _ask(self, asked: Asked) -> None:
        agent = self.agent_for(asked.agent)  # first: where there is none, nothing changes
        wants_marker = asked.capabilities.marker
        marker = f"{MARKER_PREFIX}{secrets.token_urlsafe(16)}" if wants_marker else None
        effects = self._apply(asked.as_event(marker), asked)
        self._carry_out(effects, CarriedRequest(asked, agent, marker))

    def _carry_out(self, effects: Effects, request: CarriedRequest | None = None) -> None:
        for broke in self._performer.carry_out(effects, request):
            self._give_up(broke)
