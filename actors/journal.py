"""Note the events of the History Actor in the trace, so that a replay decides just the same."""

from __future__ import annotations

from typing import Any

import attrs

from bridge.chats import Chats
from bridge.routing.chat_events import (
    Broke,
    Cancelled,
    ChatEvent,
    ChatRequest,
    Ended,
    Expired,
    Failed,
    Leaving,
    MemoryLimited,
    Said,
    SessionRecalled,
)
from bridge.routing.index import AgentKey

from .messages import Began
from .trace import Trace


@attrs.define(eq=False, repr=False)
class Journal:
    """The notes of one run."""

    trace: Trace
    _agents: dict[AgentKey, int] = attrs.field(factory=dict["AgentKey", int], init=False)
    """A number for each agent: its definition may hold secrets."""

    def begin(self, chats: Chats) -> None:
        """Note the configuration."""
        self.trace.note({"event": "configuration", "mostBytes": chats.most_bytes})

    def note(self, event: ChatEvent | Began, now: float) -> None:
        """Note an event; call it before anything follows from that."""
        record = self._record(event) if self.trace.is_on else None
        if record is not None:
            self.trace.note({"event": record.pop("event"), "at": now, **record})

    def _record(self, event: ChatEvent | Began) -> dict[str, Any] | None:
        match event:
            case Said():
                return None  # the parts are on the wire
            case ChatRequest(request=request, routed=routed):
                return {
                    "event": "request",
                    "request": request,
                    "agent": self._agents.setdefault(routed.agent, len(self._agents) + 1),
                    "keep": routed.keep,
                    "bytes": event.size,
                    "maxSessions": event.max_sessions,
                    "marker": event.marker,
                    **({"amongStrangers": True} if event.among_strangers else {}),
                }
            case Cancelled(request=request):
                return {"event": "cancelled", "request": request}
            case Began():
                return {
                    "event": "began",
                    **_turn(event),
                    "start": event.start.value,
                    "why": event.why.value,
                    "told": event.told,
                    "process": event.process,
                }
            case Ended(handle=handle):
                return {"event": "ended", **_turn(event), "remembered": handle is not None}
            case Failed(failure=failure):
                told = {"message": failure.message, "failureKind": failure.kind}
                return {"event": "failed", **_turn(event), **told}
            case Expired(conversation=key):
                return {"event": "expired", "conversation": key}
            case Broke(failure=failure, conversation=key, request=request):
                about = {"conversation": key, "request": request}
                return {"event": "broke", **about, "message": failure.message}
            case Leaving():
                return {"event": "leaving"}
            case SessionRecalled() | MemoryLimited():
                return None  # `Began` and the configuration say so


def _turn(event: Began | Ended | Failed) -> dict[str, Any]:
    return {"conversation": event.conversation, "turn": event.turn}
