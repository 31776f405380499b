"""One conversation, as the History Actor has it: its record, and its session's handle."""

from __future__ import annotations

import math

import attrs

from bridge.events import Deliver
from bridge.exchange import Ending
from bridge.history import History
from bridge.models import AgentChoice
from bridge.wire import PERMISSION_TOOL

from .handle import SessionHandle
from .head import Head
from .inbox import Asked, Ended
from .memory import AgentMemory
from .plan import Delivery, offered_tools


@attrs.define(eq=False)
class Conversation:
    """A record and a session. Nothing here waits."""

    agent: AgentChoice
    handle: SessionHandle
    memory: AgentMemory
    history: History = attrs.field(factory=History)
    size: int = attrs.field(default=0, init=False)
    """Bytes of the newest request."""
    settled_at: float = attrs.field(default=-math.inf, init=False)
    """When the newest request was settled."""

    def deliver(
        self, asked: Asked, deliver: Deliver, marker: bytes | None, origin: Head | None
    ) -> None:
        """Hand a request over to the session, which may begin as a fork of `origin`."""
        self.size = asked.transcript.size
        delivery = Delivery(
            turn=deliver.turn,
            transcript=asked.transcript,
            new_from=deliver.new_from,
            withdrawn=deliver.withdrawn,
            options=asked.options,
            settings=asked.settings,
            tools=offered_tools(asked.options, asked.settings),
            can_ask=any(tool.name == PERMISSION_TOOL for tool in asked.options.tools),
            capabilities=asked.capabilities,
            model=asked.model,
            marker=marker,
            origin=origin,
            answers=self.history.answers,
        )
        self.handle.deliver(delivery)

    def whole(self, shared: int) -> Head | None:
        """Return the session that knows the first `shared` exchanges, if this one knows no more."""
        return self.handle.head if shared == len(self.history.exchanges) else None

    def remember(self, ended: Ended) -> None:
        """Have remembered what the session knows, if what it said is what the user was shown."""
        newest = self.history.provisional
        if ended.handle is None or newest is None or ended.turn != self.history.turn:
            return
        if newest.ending is Ending.COMPLETE:
            self.memory.settle(ended.handle, self.history.record)
