"""The chats of one process of ours, with a ledger in the place of each conversation's agent.

Nothing here waits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import attrs
import msgspec

from actors.plan import Delivery, offered_tools
from bridge.chats import Chats
from bridge.errors import Failure
from bridge.history.events import Abort, Deliver, Forward, Settle
from bridge.history.transcript import Transcript, TranscriptReader
from bridge.routing.chat_events import (
    Cancelled,
    ChatEvent,
    ChatRequest,
    Closed,
    Ended,
    Expired,
    Failed,
    Leaving,
    Opened,
    Refused,
    Routed,
    Said,
)
from bridge.routing.index import ConversationKey
from bridge.routing.outcome import Outcome, Tally
from bridge.wire import Capabilities, ChatParams, DataPart, Part, RequestId, Settings
from vscodelm.replay.run import ask_whose

from .ledger import Ledger

_decode = msgspec.json.Decoder(ChatParams).decode
MOST_SESSIONS = 1_000_000
APART = 100.0
"""Seconds between two events, so that no request is one repeat too many."""


class Editor(Protocol):
    """Who asks, and is shown the answers."""

    def show(self, request: RequestId, parts: Sequence[Part]) -> None: ...

    def settle(self, request: RequestId, *, failed: bool) -> None: ...


@attrs.define(eq=False)
class Conversation:
    """A conversation's agent."""

    key: ConversationKey
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
    live: dict[ConversationKey, Conversation] = attrs.field(
        factory=dict["ConversationKey", Conversation]
    )
    open: dict[RequestId, Conversation] = attrs.field(factory=dict["RequestId", Conversation])
    _chats: Chats = attrs.field(factory=Chats)
    told: int = 0
    """How often an agent was given something."""
    _reader: TranscriptReader = attrs.field(factory=TranscriptReader)
    _now: float = 0.0

    @property
    def tally(self) -> Tally:
        """What was counted."""
        return self._chats.tally

    def ask(
        self, request: RequestId, params: bytes, answer: int, *, apart: float = APART
    ) -> tuple[Conversation, Outcome] | None:
        """Route a request and deliver it to its conversation's agent; None if it is refused.

        It comes `apart` seconds after what happened last.
        """
        asked = _decode(params)
        transcript = self._reader.read(asked.messages)
        marker = f"vscodelm-{request}" if self.marker else None
        event = ChatRequest(
            request, ask_whose(transcript, asked), transcript.size, MOST_SESSIONS, marker
        )
        self._now += apart - APART
        return self._take(event, Asking(request, asked, transcript, answer))

    # What the agent that was given a request does.

    def say(self, request: RequestId, parts: Sequence[Part]) -> None:
        conversation = self.open.get(request)
        if conversation is not None:
            conversation.ledger.say(parts)
            self._take(Said(conversation.key, self._turn(conversation), parts))

    def finish(self, request: RequestId) -> None:
        conversation = self.open.get(request)
        if conversation is not None:
            mark = DataPart("stateful_marker", f"rec\\vscodelm-{request}".encode())
            parts = [mark] if self.marker else []
            self._take(Ended(conversation.key, self._turn(conversation), parts))

    def fail(self, request: RequestId) -> None:
        conversation = self.open.get(request)
        if conversation is not None:
            failure = Failure("AgentFailed", "it fell over")
            self._take(Failed(conversation.key, self._turn(conversation), failure))

    # What the editor does beside asking.

    def cancel(self, request: RequestId) -> None:
        self._take(Cancelled(request))

    def close(self) -> None:
        self._take(Leaving())

    def end(self, conversation: Conversation) -> None:
        """End a conversation that nobody used for long."""
        self._take(Expired(conversation.key))

    def _turn(self, conversation: Conversation) -> int:
        return self._chats[conversation.key].history.turn

    def _take(
        self, event: ChatEvent, asking: Asking | None = None
    ) -> tuple[Conversation, Outcome] | None:
        """Let something happen, and do what follows; return where a request went."""
        routed: tuple[Conversation, Outcome] | None = None
        self._now += APART
        for key, effect in self._chats.apply(event, self._now):
            match effect:
                case Opened():
                    self.live[key] = Conversation(key)
                case Routed(request=request, outcome=outcome):
                    routed = self.live[key], outcome
                    self.open[request] = self.live[key]
                case Refused(request=request):
                    self.editor.settle(request, failed=True)
                case Forward(request=request, parts=parts):
                    assert request in self.open, "a part for a request that was settled"
                    self.editor.show(request, parts)
                case Settle(request=request, failure=failure):
                    del self.open[request]  # a KeyError: settled twice
                    self.editor.settle(request, failed=failure is not None)
                case Abort():
                    self.live[key].ledger.abort()
                case Deliver():
                    assert asking is not None
                    self.told += 1
                    self.live[key].ledger.take(_delivery(effect, asking), asking.answer)
                case Closed():
                    del self.live[key]
                case _:
                    pass
        return routed


def _delivery(deliver: Deliver, asking: Asking) -> Delivery:
    settings = Settings()
    return Delivery(
        turn=deliver.turn,
        transcript=asking.transcript,
        new_from=deliver.new_from,
        withdrawn=deliver.withdrawn,
        options=asking.params.options,
        settings=settings,
        tools=offered_tools(asking.params.options, settings, to_agent=True),
        asks_by=None,
        capabilities=Capabilities(),
    )
