"""The History Actor: gives every event to `bridge.chats` and carries out the effects.

It waits only for its inbox. It sends into outboxes and mailboxes, which take a message at once. So
an editor that doesn't read, or an agent that doesn't stop, can't block it
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
from bridge.errors import Failure
from bridge.history.events import Abort, Deliver, Forward, Settle
from bridge.models import AgentChoice
from bridge.routing.chat_events import (
    Broke,
    ChatEffect,
    ChatEvent,
    Closed,
    Effects,
    LeftBehind,
    Opened,
    Refused,
    Remember,
    Routed,
    TurnEnded,
)
from bridge.routing.index import ConversationKey
from bridge.routing.request import RequestClass
from bridge.wire import ElicitResult, InspectResult, RequestId

from .accounts import AccountRequests, Accounts
from .beginning import Start
from .conversation import Conversation
from .editor_face import EditorFace
from .inspection.inspector import Inspector
from .inspection.statistics import AgentCounts, statistics, tell_measured
from .journal import Journal
from .lease import Lease
from .log import decision, log_outcome, log_start
from .mailbox import Mailbox
from .memory import AgentMemory, NoMemory, SessionMemory
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
    FromSession,
    Gauged,
    InspectAsked,
    Leaving,
    Said,
    SessionsAsked,
    StatsAsked,
)
from .open_forms import CLOSED, OpenForms, answer_to
from .outbox import Outbox
from .plan import settings_for
from .progress.paced import PacedAgent
from .session import OpenSessions, SessionActor

AgentFactory = Callable[[AgentChoice], Agent]
MARKER_PREFIX = "vscodelm-"
"""The prefix of our markers; hosts cut them at a backslash, so they have none."""


@attrs.define(eq=False, repr=False)
class HistoryActor:
    """The sessions of every conversation of one editor."""

    editor: EditorFace
    outbox: Outbox
    agent_for: AgentFactory
    sessions: trio.Nursery
    inbox: trio.MemorySendChannel[FromSession]
    """Cloned for each session actor."""
    account_requests: AccountRequests
    counts: AgentCounts = attrs.field(factory=AgentCounts)
    memory: SessionMemory = attrs.field(factory=NoMemory)
    chats: Chats = attrs.field(factory=Chats)
    _conversations: dict[ConversationKey, Conversation] = attrs.field(
        factory=dict["ConversationKey", Conversation], init=False
    )
    _open_sessions: OpenSessions = attrs.field(factory=OpenSessions, init=False)
    _journal: Journal = attrs.field(init=False)
    _inspector: Inspector = attrs.field(init=False)
    _forms: OpenForms = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._forms = self.editor.forms
        self._journal = Journal(self.editor.trace)
        self._journal.begin(self.chats)
        self._inspector = Inspector(self.chats, self.editor.hide)

    def hear(self, message: ActorMessage) -> None:
        """Take one message in and carry out what follows from it.

        An error ends the conversation that the message is about, and no other.
        """
        try:
            self._hear(message)
        except Exception as error:
            self._contain(message, error)
        while self._forms.dropped:
            self._ask_form(self._forms.dropped.popleft())
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
                self.account_requests.cancel(request)
            case FormAsked():
                self._ask_form(message)
            case FormTakenBack(call_id=call_id):
                self._forms.take_back(call_id)
            case FormAnswered(form=form, result=result):
                asked = self._forms.take(form)
                if asked is not None:
                    self._answer_form(asked, result)
            case Gauged(model=model, measured=measured):
                self.editor.learn(model, measured)
            case Began():
                if message.start is Start.STORED:
                    self.chats.tally.count_stored()
                now = trio.current_time()
                self._journal.note(message, now)
                self._inspector.began(message, now)
                log_start(message)
            case StatsAsked(request=request):
                stats = statistics(
                    self.chats.tally, len(self.chats), self._open_sessions.count, self.counts
                )
                measure = self.counts.measure
                if measure is None or not stats.processes:
                    self.editor.tell_stats(request, stats)
                else:
                    tell = self.editor.tell_stats
                    self.sessions.start_soon(tell_measured, tell, request, stats, measure)
            case InspectAsked(request=request, page=page):
                self._inspect(request, page)
            case AccountAsked() | SessionsAsked():
                self.account_requests.begin(message)
            case Leaving():
                self._carry_out(self._apply(message))
                self.account_requests.leave()
                self.inbox.close()  # the loop ends when the last session actor has

    def _apply(self, event: ChatEvent, asked: Asked | None = None) -> Effects:
        now = trio.current_time()
        self._journal.note(event, now)
        return self._inspector.apply(event, now, asked)

    def _inspect(self, request: RequestId, page: bool) -> None:
        result = self._inspector.result()
        if page:
            from .inspection.page import page_with  # few people ever look

            blank = page_with(InspectResult([]), secrets.token_urlsafe(16))
            result = replace(result, page=blank)
        self.editor.tell_inspection(request, result)

    def _contain(self, message: ActorMessage, error: Exception) -> None:
        """End the conversation in which an error occurred; an error here ends the process."""
        match message:
            case Leaving():
                raise error
            case (
                StatsAsked(request=request)
                | AccountAsked(request=request)
                | SessionsAsked(request=request)
                | InspectAsked(request=request)
            ):
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
            self._perform(key, effect)

    def _ask(self, asked: Asked) -> None:
        agent = self.agent_for(asked.agent)  # first: where there is none, nothing changes
        wants_marker = asked.capabilities.marker
        marker = f"{MARKER_PREFIX}{secrets.token_urlsafe(16)}" if wants_marker else None
        effects = self._apply(asked.as_event(marker), asked)
        self._carry_out(effects, _Request(asked, agent, marker))

    def _carry_out(self, effects: Effects, request: _Request | None = None) -> None:
        """Carry out effects; an error ends the conversation that the effect is about."""
        broken: dict[ConversationKey, Failure] = {}
        for key, effect in effects:
            try:
                if key not in broken:
                    self._perform(key, effect, request)
                elif isinstance(effect, Settle):
                    self.editor.settle(effect.request, broken[key])
            except Exception as error:
                broken[key] = failure_of(error, f"conversation={key}")
        for key, failure in broken.items():
            self._give_up(Broke(failure, key))

    def _ask_form(self, asked: FormAsked) -> None:
        """Put an agent's question to the editor, for the request that its turn answers now.

        If no request is open for the turn, the user has moved on.
        """
        request = self.chats.request_of(asked.conversation, asked.turn)
        if request is None:
            self._answer_form(asked, CLOSED)
        else:
            form = self._forms.ask(request, asked)
            decision("elicit", request=request, conversation=asked.conversation, form=form)

    def _answer_form(self, asked: FormAsked, result: ElicitResult) -> None:
        key = asked.conversation
        try:
            asked.answer(answer_to(asked, result))
        except Exception as error:
            self._give_up(Broke(failure_of(error, f"conversation={key}"), key))

    def _perform(
        self, key: ConversationKey, effect: ChatEffect, request: _Request | None = None
    ) -> None:
        match effect:
            case Forward(request=id_, parts=parts):
                self.editor.show(id_, parts)
            case Settle(request=id_, failure=failure, told=told):
                self.editor.settle(id_, failure, told)
                reason = failure or told
                if reason is not None:
                    decision(reason.kind, request=id_, conversation=key)
            case Routed(request=id_, turn=turn, question=question, outcome=outcome):
                log_outcome(id_, key, turn, question, outcome)
            case Opened():
                self._open_conversation(key, effect, _needed(request))
            case Deliver():
                self._deliver(key, effect, _needed(request))
            case TurnEnded(turn=turn, how=how):
                decision(type(how).__name__.lower(), conversation=key, turn=turn)
            case Remember(handle=handle, record=record):
                self._conversations[key].memory.settle(handle, record)
            case Abort(turn=turn):
                if key in self._conversations:  # or an error came before it was opened
                    self._conversations[key].mailbox.abort(turn)
            case LeftBehind():
                self._conversations[key].mailbox.supersede()
            case Closed():
                self._close(key, effect)
            case Refused(request=id_, failure=failure):
                decision("refuse", request=id_, reason="repeated")
                self.editor.let_go()
                self.editor.settle(id_, failure)

    def _open_conversation(self, key: ConversationKey, opened: Opened, request: _Request) -> None:
        mailbox = Mailbox()
        # A request beside a chat ends with its answer, and finds no session but its own.
        memory = self.memory if opened.request_class is RequestClass.MAIN else NoMemory()
        origin = None if opened.origin is None else self._conversations[opened.origin].mailbox.head
        own = AgentMemory.of(memory, request.asked.agent.key)
        self._conversations[key] = Conversation(mailbox, own, origin)
        actor = SessionActor(
            key,
            PacedAgent(request.agent),
            mailbox,
            self.inbox.clone(),
            self.outbox,
            Lease(own),
            self._open_sessions,
        )
        self.sessions.start_soon(actor.run, name=f"session of conversation {key}")

    def _deliver(self, key: ConversationKey, deliver: Deliver, request: _Request) -> None:
        chat, asked = self.chats[key], request.asked
        settings = settings_for(asked.settings, chat.request_class)
        answers = chat.history.answers
        self._conversations[key].deliver(
            asked, deliver, settings, request.marker, answers, chat.request_class
        )

    def _close(self, key: ConversationKey, closed: Closed) -> None:
        decision("close", conversation=key, reason=closed.reason)
        conversation = self._conversations.pop(key, None)
        if conversation is not None:
            conversation.mailbox.close()
        if closed.is_newest:
            self.editor.let_go()


@attrs.frozen(eq=False, repr=False)
class _Request:
    """A request that is being carried out, and the agent that it asks."""

    asked: Asked
    agent: Agent
    marker: str | None


def _needed(request: _Request | None) -> _Request:
    assert request is not None, "only a request opens a conversation and is delivered"
    return request


async def run_history(
    inbox: trio.MemoryReceiveChannel[ActorMessage],
    from_sessions: trio.MemorySendChannel[FromSession],
    editor: EditorFace,
    outbox: Outbox,
    agent_for: AgentFactory,
    counts: AgentCounts,
    memory: SessionMemory,
    accounts: Accounts,
) -> None:
    """Decide until the editor has left and every session has ended; then close the outbox."""
    async with trio.open_nursery() as sessions:
        account_requests = AccountRequests(editor, accounts, sessions)
        actor = HistoryActor(
            editor,
            outbox,
            agent_for,
            sessions,
            from_sessions,
            account_requests,
            counts,
            memory,
        )
        async with inbox:
            async for message in inbox:
                actor.hear(message)
    outbox.close()
