"""The History Actor: decides for every request whose it is and what is new, and carries that out.

It owns the router and every conversation's history. It never waits but for its inbox: what it sends
goes into outboxes and handles that take it at once. So an editor that doesn't read, or an agent
that doesn't stop, can't make it deaf (docs/explanation/actors.md draws the graph).
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Sequence
from itertools import count

import attrs
import trio
from msgspec import UNSET
from msgspec.structs import replace

from agents.base import Agent
from agents.boundary import failure_of
from bridge.damper import Damper
from bridge.errors import Failure
from bridge.events import (
    Abort,
    Ask,
    Cancel,
    Close,
    Deliver,
    Effect,
    Emit,
    Fail,
    Finish,
    Forward,
    Settle,
)
from bridge.exchange import Ending, Exchange
from bridge.history import Phase
from bridge.index import ConversationKey, Index
from bridge.models import AgentChoice
from bridge.request import RequestClass
from bridge.router import Joins, Opens, Outcome, Question, Reason, Tally, route
from bridge.wire import AgentProcess, OwnTextPart, Part, RequestId, Stats

from .accounts import AccountDesk, Accounts
from .beginning import Start
from .conversation import Conversation
from .editor import EditorPort
from .handle import SessionHandle
from .head import Head
from .inbox import (
    AccountAsked,
    Asked,
    Began,
    Cancelled,
    Ended,
    Expired,
    Failed,
    FromSession,
    Gauged,
    Leaving,
    Message,
    Said,
    StatsAsked,
)
from .lease import Lease
from .log import decision, log_outcome, log_start
from .memory import AgentMemory, NoMemory, SessionMemory
from .outbox import Outbox
from .plan import settings_for
from .room import MOST_KEPT_BYTES, TOO_LARGE, TOO_MANY, Denials, Occupant, giving_way
from .session import OpenSessions, SessionActor

AgentFactory = Callable[[AgentChoice], Agent]
Measure = Callable[[], Awaitable[list[AgentProcess]]]
"""Finds out what the processes of the agents hold."""

MARKER_PREFIX = "vscodelm-"
"""What our marks begin with; hosts cut them at a backslash, so they have none."""


@attrs.define(eq=False)
class HistoryActor:
    """Every conversation of one editor."""

    editor: EditorPort
    outbox: Outbox
    agent_for: AgentFactory
    sessions: trio.Nursery
    inbox: trio.MemorySendChannel[FromSession]
    """Cloned for each session actor."""
    desk: AccountDesk
    processes: Callable[[], int] = lambda: 0
    measure: Measure | None = None
    memory: SessionMemory = attrs.field(factory=NoMemory)
    most_bytes: int = MOST_KEPT_BYTES
    _index: Index = attrs.field(factory=Index, init=False)
    _tally: Tally = attrs.field(factory=Tally, init=False)
    _damper: Damper = attrs.field(factory=Damper, init=False)
    _conversations: dict[ConversationKey, Conversation] = attrs.field(
        factory=dict["ConversationKey", Conversation], init=False
    )
    """The least recently asked first."""
    _open: dict[RequestId, ConversationKey] = attrs.field(
        factory=dict["RequestId", "ConversationKey"], init=False
    )
    _open_sessions: OpenSessions = attrs.field(factory=OpenSessions, init=False)
    _newest: ConversationKey | None = attrs.field(default=None, init=False)
    """The conversation of the newest request."""
    _denials: Denials = attrs.field(factory=Denials, init=False)
    _keys: count[int] = attrs.field(factory=lambda: count(1), init=False)
    _leaving: bool = attrs.field(default=False, init=False)

    def hear(self, message: Message) -> None:
        """Take one message in and carry out what follows from it.

        An error ends the conversation that the message is about, and no other.
        """
        try:
            self._hear(message)
        except Exception as error:
            self._contain(message, error)

    def _hear(self, message: Message) -> None:
        match message:
            case Said(conversation=key, turn=turn, parts=parts):
                self._say(key, turn, parts)
            case Asked():
                self._ask(message)
            case Gauged(model=model, measured=measured):
                self.editor.learn(model, measured)
            case Cancelled(request=request):
                key = self._open.get(request)
                if key is not None:
                    self._change(key, Cancel(request))
                self.desk.cancel(request)
            case Began():
                if message.start is Start.STORED:
                    self._tally.count_stored()
                log_start(message)
            case Ended(conversation=key, turn=turn, parts=parts):
                self._say(key, turn, parts)
                conversation = self._change(key, Finish(turn))
                if conversation is not None:
                    conversation.remember(message)
            case Failed(conversation=key, turn=turn, failure=failure):
                self._change(key, Fail(turn, failure))
            case Expired(conversation=key):
                conversation = self._conversations.get(key)
                if conversation is not None and conversation.history.phase is Phase.IDLE:
                    self._end(key, "idle")
            case StatsAsked(request=request):
                stats = self._stats()
                if self.measure is None or not stats.processes:
                    self.editor.tell_stats(request, stats)
                else:
                    self.sessions.start_soon(self._measure, request, stats, self.measure)
            case AccountAsked():
                self.desk.begin(message)
            case Leaving():
                self._leave()

    def _contain(self, message: Message, error: Exception) -> None:
        """End what an error was met in. What is raised here is ours, and ends the process."""
        match message:
            case Leaving():
                raise error
            case StatsAsked(request=request) | AccountAsked(request=request):
                self.editor.settle(request, failure_of(error, f"request={request}"))
            case Gauged(model=model):
                failure_of(error, f"model={model}")
            case Asked(request=request) | Cancelled(request=request):
                failure = failure_of(error, f"request={request}")
                if request in self._open:
                    self._drop(self._open[request], failure)
                else:
                    self.editor.settle(request, failure)
            case Began() | Said() | Ended() | Failed() | Expired():
                key = message.conversation
                self._drop(key, failure_of(error, f"conversation={key}"))

    def _drop(self, key: ConversationKey, failure: Failure) -> None:
        """End a conversation whose history can't be relied on any more."""
        for request in [request for request, owner in self._open.items() if owner == key]:
            del self._open[request]
            self.editor.settle(request, failure)
        conversation = self._conversations.pop(key, None)
        if conversation is not None:
            decision("close", conversation=key, reason="internal")
            self._index.forget(key)
            conversation.handle.abort(conversation.history.turn)
            conversation.handle.close()

    def _say(self, key: ConversationKey, turn: int, parts: Sequence[Part]) -> None:
        conversation = self._conversations.get(key)
        if conversation is not None and parts:
            self._perform(key, conversation, conversation.history.apply(Emit(turn, parts)))

    def _ask(self, asked: Asked) -> None:
        if self._leaving:
            self.editor.settle(asked.request)
            return
        question = asked.question()
        outcome = route(self._index, question)
        if not self._admit(question, outcome):
            self._refuse(asked)
            return
        self._tally.count(outcome)
        inherited: tuple[Exchange, ...] = ()
        head: Head | None = None
        match outcome:
            case Joins(conversation=key):
                conversation = self._conversations.pop(key)
                self._conversations[key] = conversation
            case Opens(origin=origin, shared=shared):
                if origin is not None:
                    inherited = self._conversations[origin].history.exchanges[:shared]
                    head = self._conversations[origin].whole(shared)
                agent = self.agent_for(asked.agent)  # first: where there is none, nothing changes
                self._make_room(asked, outcome.request_class)
                key = next(self._keys)
                conversation = self._open_conversation(key, asked, outcome.request_class, agent)
        self._open[asked.request] = key
        log_outcome(asked.request, key, conversation.history.turn + 1, question, outcome)
        origin = outcome.origin if isinstance(outcome, Opens) else None
        asked = replace(asked, settings=settings_for(asked.settings, outcome.request_class))
        ask = Ask(asked.request, question.path, outcome.match, inherited)
        self._perform(key, conversation, conversation.history.apply(ask), asked, head)
        self._index.place(
            key, question.agent, conversation.history, outcome.request_class, question.hints, origin
        )
        self._newest = key
        if outcome.request_class is RequestClass.MAIN:
            for other in self._index.other_lines(key):
                self._conversations[other].handle.supersede()
            notices = [OwnTextPart(text) for text in self._denials.notices(question.path)]
            self._say(key, conversation.history.turn, notices)
        self._make_memory(key, outcome.request_class)

    def _admit(self, question: Question, outcome: Outcome) -> bool:
        """Return whether a request is to be answered, or is one repeat too many."""
        ending = Ending.COMPLETE
        if outcome.reason is Reason.RETRY:
            match outcome:
                case Joins(conversation=key):
                    provisional = self._conversations[key].history.provisional
                    ending = provisional.ending if provisional is not None else Ending.COMPLETE
                case Opens():
                    pass  # only a complete answer gets a branch of its own
        return self._damper.admit(
            # digests: the request itself mustn't be kept after it is settled
            (question.agent, question.hints.conversation, tuple(m.digest for m in question.path)),
            is_retry=outcome.reason is Reason.RETRY,
            answered=ending is Ending.COMPLETE,
            now=trio.current_time(),
        )

    def _refuse(self, asked: Asked) -> None:
        decision("refuse", request=asked.request, reason="repeated")
        self.editor.let_go()
        message = "The same request came again and again in a few seconds. Wait, then try again."
        self.editor.settle(asked.request, Failure("Blocked", message))

    def _open_conversation(
        self, key: ConversationKey, asked: Asked, request_class: RequestClass, agent: Agent
    ) -> Conversation:
        handle = SessionHandle()
        # What is asked beside a chat is gone with its answer, and finds no session but its own.
        memory = self.memory if request_class is RequestClass.MAIN else NoMemory()
        conversation = Conversation(asked.agent, handle, AgentMemory.of(memory, asked.agent.key))
        self._conversations[key] = conversation
        lease = Lease(conversation.memory)
        actor = SessionActor(
            key, agent, handle, self.inbox.clone(), self.outbox, lease, self._open_sessions
        )
        self.sessions.start_soon(actor.run, name=f"session of conversation {key}")
        return conversation

    def _make_room(self, asked: Asked, request_class: RequestClass) -> None:
        """End conversations of this agent that are over its limit.

        What is asked beside a chat denies no question: the chat may be what asks it.
        """
        same = [
            self._occupant(key, conversation)
            for key, conversation in self._conversations.items()
            if conversation.agent.key == asked.agent.key
        ]
        limit = asked.settings.max_sessions
        is_beside = request_class is not RequestClass.MAIN
        leaving = giving_way(same, len(same) + 1 - limit, spare_questions=is_beside)
        self._give_way(leaving, TOO_MANY.format(limit=limit))

    def _make_memory(self, newest: ConversationKey, request_class: RequestClass) -> None:
        """End conversations if all take too much memory together; the newest one stays.

        It counts for half of the memory at most: one chat alone must not end all others.
        """
        own = self._conversations[newest].size
        kept = sum(one.size for one in self._conversations.values()) - own
        excess = kept + min(own, self.most_bytes - self.most_bytes // 2) - self.most_bytes
        if excess > 0:
            others = [
                self._occupant(key, conversation)
                for key, conversation in self._conversations.items()
                if key != newest
            ]
            is_beside = request_class is not RequestClass.MAIN
            leaving = giving_way(others, excess, lambda one: one.size, spare_questions=is_beside)
            self._give_way(leaving, TOO_LARGE.format(limit=self.most_bytes // (1024 * 1024)))

    def _occupant(self, key: ConversationKey, conversation: Conversation) -> Occupant:
        return Occupant(
            key,
            conversation.size,
            is_busy=conversation.history.phase is Phase.STREAMING,
            waits_since=conversation.settled_at if self._index[key].calls else None,
        )

    def _give_way(self, leaving: Sequence[Occupant], reason: str) -> None:
        for one in leaving:
            calls = self._index[one.key].calls
            self._denials.note(calls, reason)
            self._end(one.key, "waited-longest" if calls else "least-recently-used")

    def _change(self, key: ConversationKey, event: Cancel | Finish | Fail) -> Conversation | None:
        """Take in what becomes of a turn; return the conversation, None if it isn't there."""
        conversation = self._conversations.get(key)
        effects = conversation.history.apply(event) if conversation is not None else []
        if conversation is not None and effects:
            what = type(event).__name__.lower()
            decision(what, conversation=key, turn=conversation.history.turn)
            self._perform(key, conversation, effects)
            self._index.update(key)
            conversation.settled_at = trio.current_time()
            self._end_if_done(key)
        return conversation

    def _end_if_done(self, key: ConversationKey) -> None:
        """End a conversation that no later request will build on."""
        if self._index[key].is_done:
            self._end(key, "answered")

    def _end(self, key: ConversationKey, reason: str) -> None:
        conversation = self._conversations.pop(key)
        decision("close", conversation=key, reason=reason)
        self._perform(key, conversation, conversation.history.apply(Close()))
        self._index.forget(key)
        conversation.handle.close()
        if key == self._newest:
            self.editor.let_go()

    def _leave(self) -> None:
        for key in list(self._conversations):
            self._end(key, "leaving")
        self._leaving = True
        self.desk.leave()
        self.inbox.close()  # the loop ends when the last session actor has

    def _perform(
        self,
        key: ConversationKey,
        conversation: Conversation,
        effects: list[Effect],
        asked: Asked | None = None,
        origin: Head | None = None,
    ) -> None:
        for effect in effects:
            match effect:
                case Forward(request=request, parts=parts):
                    self.editor.show(request, parts)
                case Settle(request=request, failure=failure):
                    del self._open[request]
                    self.editor.settle(request, failure)
                    if failure is not None:
                        decision(failure.kind, request=request, conversation=key)
                case Abort(turn=turn):
                    conversation.handle.abort(turn)
                case Deliver():
                    assert asked is not None, "only a request is delivered"
                    conversation.deliver(asked, effect, self._mark(key, asked), origin)

    def _stats(self) -> Stats:
        return Stats(
            requests_by_class={kind.value: n for kind, n in self._tally.classes.items()},
            matches_by_rule=dict(self._tally.matches),
            misses_by_reason={reason.value: n for reason, n in self._tally.misses.items()},
            live_conversations=len(self._conversations),
            sessions=self._open_sessions.count,
            processes=self.processes(),
        )

    async def _measure(self, request: RequestId, stats: Stats, measure: Measure) -> None:
        """Answer with counters that were taken in their place, when the memory is known, too."""
        try:
            stats = replace(stats, agent_processes=await measure() or UNSET)
        except Exception as error:
            failure_of(error, f"request={request}")  # the counters are of use without it
        self.editor.tell_stats(request, stats)

    def _mark(self, key: ConversationKey, asked: Asked) -> bytes | None:
        """Return a mark of our own for a response, remembered as this conversation's."""
        if not asked.capabilities.marker:
            return None
        token = f"{MARKER_PREFIX}{secrets.token_urlsafe(16)}"
        self._index.remember_marker(token, key)
        return f"{asked.model}\\{token}".encode()


async def run_history(
    inbox: trio.MemoryReceiveChannel[Message],
    from_sessions: trio.MemorySendChannel[FromSession],
    editor: EditorPort,
    outbox: Outbox,
    agent_for: AgentFactory,
    processes: Callable[[], int],
    measure: Measure | None,
    memory: SessionMemory,
    accounts: Accounts,
) -> None:
    """Decide until the editor has left and every session has ended; then close the outbox."""
    async with trio.open_nursery() as sessions:
        desk = AccountDesk(editor, accounts, sessions)
        actor = HistoryActor(
            editor, outbox, agent_for, sessions, from_sessions, desk, processes, measure, memory
        )
        async with inbox:
            async for message in inbox:
                actor.hear(message)
    outbox.close()
