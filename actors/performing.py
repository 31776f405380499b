"""Carries out the effects of `bridge.chats` for one editor. Nothing here waits."""

from __future__ import annotations

import attrs

from agents.base import Agent
from agents.boundary import failure_of
from bridge.chats import Chats
from bridge.errors import Failure
from bridge.history.events import Abort, Deliver, Forward, Settle
from bridge.routing.chat_events import (
    Broke,
    ChatEffect,
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

from .conversation import Conversations
from .editor_face import EditorFace
from .log import decision, log_outcome
from .messages import Asked


@attrs.frozen(eq=False, repr=False)
class CarriedRequest:
    """A request that is being carried out, and the agent that it asks."""

    asked: Asked
    agent: Agent
    marker: str | None


@attrs.frozen(eq=False, repr=False)
class Performer:
    """Shows answers to the editor, and hands requests to the sessions of its conversations."""

    editor: EditorFace
    chats: Chats
    conversations: Conversations

    def carry_out(self, effects: Effects, request: CarriedRequest | None) -> list[Broke]:
        """Carry out effects. An error breaks the conversation that the effect is about."""
        broken: dict[ConversationKey, Failure] = {}
        for key, effect in effects:
            try:
                if key not in broken:
                    self.perform(key, effect, request)
                elif isinstance(effect, Settle):
                    self.editor.settle(effect.request, broken[key])
            except Exception as error:
                broken[key] = failure_of(error, f"conversation={key}")
        return [Broke(failure, key) for key, failure in broken.items()]

    def perform(
        self, key: ConversationKey, effect: ChatEffect, request: CarriedRequest | None = None
    ) -> None:
        """Carry out one effect."""
        match effect:
            case Forward(request=id_, parts=parts):
                self.editor.show(id_, parts)
            case Settle(request=id_, failure=failure, told=told):
                self.editor.settle(id_, failure, told)
                reason = failure or told
                if reason is not None:
                    decision(reason.kind, request=id_, conversation=key)
            case Routed(request=id_, turn=turn, routed=routed, outcome=outcome):
                log_outcome(id_, key, turn, routed, outcome)
            case Opened():
                opening = _needed(request)
                self.conversations.open(key, effect, opening.asked, opening.agent)
            case Deliver():
                new = _needed(request)
                answers = self.chats[key].history.answers
                self.conversations[key].deliver(new.asked, effect, new.marker, answers)
            case TurnEnded(turn=turn, how=how):
                decision(type(how).__name__.lower(), conversation=key, turn=turn)
            case Remember(handle=handle, record=record):
                self.conversations[key].memory.settle(handle, record)
            case Abort(turn=turn):
                self.conversations.abort(key, turn)
            case LeftBehind():
                self.conversations[key].mailbox.supersede()
            case Closed(reason=reason, is_newest=is_newest):
                decision("close", conversation=key, reason=reason)
                self.conversations.close(key)
                if is_newest:
                    self.editor.let_go()
            case Refused(request=id_, failure=failure):
                decision("refuse", request=id_, reason="repeated")
                self.editor.let_go()
                self.editor.settle(id_, failure)


def _needed(request: CarriedRequest | None) -> CarriedRequest:
    assert request is not None, "only a request opens a conversation and is delivered"
    return request
