"""The router with the histories it sorts requests into, wired as the History Actor wires them.

Nothing here waits, and a ledger stands in the place of each conversation's agent.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Protocol

import attrs
import msgspec

from actors.plan import Delivery, offered_tools
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
from bridge.exchange import Exchange
from bridge.history import History
from bridge.index import ConversationKey, Index
from bridge.replay import ask_whose
from bridge.router import Joins, Opens, Outcome, Tally, route
from bridge.transcript import Transcript, TranscriptReader
from bridge.wire import Capabilities, ChatParams, DataPart, Part, RequestId, Settings

from .ledger import Ledger

_decode = msgspec.json.Decoder(ChatParams).decode


class Editor(Protocol):
    """Who asks, and is shown the answers."""

    def show(self, request: RequestId, parts: Sequence[Part]) -> None: ...

    def settle(self, request: RequestId, *, failed: bool) -> None: ...


@attrs.define(eq=False)
class Conversation:
    """What is held of a live conversation."""

    key: ConversationKey
    history: History = attrs.field(factory=History)
    ledger: Ledger = attrs.field(factory=Ledger)


@attrs.frozen
class Asking:
    """A request, read."""

    request: RequestId
    params: ChatParams
    transcript: Transcript
    answer: int
    """The fact of the answer to it."""


@attrs.define(eq=False)
class Switchboard:
    """One process of ours."""

    editor: Editor
    marker: bool
    tally: Tally = attrs.field(factory=Tally)
    live: dict[ConversationKey, Conversation] = attrs.field(
        factory=dict["ConversationKey", Conversation]
    )
    open: dict[RequestId, Conversation] = attrs.field(factory=dict["RequestId", Conversation])
    _index: Index = attrs.field(factory=Index)
    _reader: TranscriptReader = attrs.field(factory=TranscriptReader)
    _keys: count[int] = attrs.field(factory=lambda: count(1))

    def ask(self, request: RequestId, params: bytes, answer: int) -> tuple[Conversation, Outcome]:
        """Route a request and deliver it to its conversation's agent."""
        asked = _decode(params)
        transcript = self._reader.read(asked.messages)
        question = ask_whose(transcript, asked)
        outcome = route(self._index, question)
        self.tally.count(outcome)
        inherited: tuple[Exchange, ...] = ()
        match outcome:
            case Joins(conversation=key):
                conversation = self.live[key]
            case Opens(origin=origin, shared=shared):
                if origin is not None:
                    inherited = self.live[origin].history.exchanges[:shared]
                key = next(self._keys)
                conversation = self.live[key] = Conversation(key)
        effects = conversation.history.apply(
            Ask(request, transcript.path, outcome.match, inherited)
        )
        asking = Asking(request, asked, transcript, answer)
        self._perform(conversation, effects, asking)
        self.open[request] = conversation
        self._index.place(
            key, question.agent, conversation.history, outcome.request_class, question.hints
        )
        return conversation, outcome

    # What the agent that was given a request does.

    def say(self, request: RequestId, parts: Sequence[Part]) -> None:
        conversation = self.open.get(request)
        if conversation is not None:
            conversation.ledger.say(parts)
            self._apply(conversation, Emit(conversation.history.turn, parts))

    def finish(self, request: RequestId) -> None:
        conversation = self.open.get(request)
        if conversation is None:
            return
        if self.marker:
            token = f"vscodelm-{request}"
            self._index.remember_marker(token, conversation.key)
            mark = DataPart("stateful_marker", f"rec\\{token}".encode())
            self._apply(conversation, Emit(conversation.history.turn, [mark]))
        self._change(conversation, Finish(conversation.history.turn))

    def fail(self, request: RequestId) -> None:
        conversation = self.open.get(request)
        if conversation is not None:
            failure = Failure("AgentFailed", "it fell over")
            self._change(conversation, Fail(conversation.history.turn, failure))

    # What the editor does beside asking.

    def cancel(self, request: RequestId) -> None:
        conversation = self.open.get(request)
        if conversation is not None:
            self._change(conversation, Cancel(request))

    def close(self) -> None:
        for conversation in list(self.live.values()):
            self._end(conversation)

    def end(self, conversation: Conversation) -> None:
        """End a conversation that nobody used for long."""
        if conversation.key in self.live and conversation.history.request is None:
            self._end(conversation)

    def _change(self, conversation: Conversation, event: Cancel | Finish | Fail) -> None:
        self._apply(conversation, event)
        self._index.update(conversation.key)
        if self._index[conversation.key].is_done:
            self._end(conversation)

    def _end(self, conversation: Conversation) -> None:
        self._apply(conversation, Close())
        self._index.forget(conversation.key)
        del self.live[conversation.key]

    def _apply(
        self, conversation: Conversation, event: Emit | Cancel | Finish | Fail | Close
    ) -> None:
        self._perform(conversation, conversation.history.apply(event), None)

    def _perform(
        self, conversation: Conversation, effects: Sequence[Effect], asking: Asking | None
    ) -> None:
        for effect in effects:
            match effect:
                case Forward(request=request, parts=parts):
                    assert request in self.open, "a part for a request that was settled"
                    self.editor.show(request, parts)
                case Settle(request=request, failure=failure):
                    del self.open[request]  # a KeyError: settled twice
                    self.editor.settle(request, failed=failure is not None)
                case Abort():
                    conversation.ledger.abort()
                case Deliver():
                    assert asking is not None
                    conversation.ledger.take(_delivery(effect, asking), asking.answer)


def _delivery(deliver: Deliver, asking: Asking) -> Delivery:
    settings = Settings()
    return Delivery(
        turn=deliver.turn,
        transcript=asking.transcript,
        new_from=deliver.new_from,
        withdrawn=deliver.withdrawn,
        options=asking.params.options,
        settings=settings,
        tools=offered_tools(asking.params.options, settings),
        can_ask=False,
        capabilities=Capabilities(),
    )
