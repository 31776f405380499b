"""One conversation, as the History Actor has it: its session's mailbox and memory."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from agents.duplicates import has_own_tools
from bridge.history.events import Deliver
from bridge.history.message import Message
from bridge.routing.agent_host import INITIATOR, offers_progress, session_of
from bridge.routing.request import RequestClass
from bridge.wire import PROGRESS_TOOL, Settings

from .beginning import Head
from .log import log
from .mailbox import Mailbox
from .memory import AgentMemory
from .messages import Asked
from .permissions import permission_tool
from .plan import Delivery, offered_tools


@attrs.define(eq=False, repr=False)
class Conversation:
    """The mailbox for a conversation's requests. Nothing here waits."""

    mailbox: Mailbox
    memory: AgentMemory
    origin: Head | None = None
    """The session that its own may begin as a fork of, until the first delivery."""
    _has_told: bool = attrs.field(default=False, init=False)
    """Whether the log says that the chat's host has no progress tool."""

    def deliver(
        self,
        asked: Asked,
        deliver: Deliver,
        settings: Settings,
        marker: str | None,
        answers: Sequence[Message],
        request_class: RequestClass,
    ) -> None:
        """Hand a request over to the session; `answers` are those of the record."""
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
            shows_progress=self._shows_progress(asked, request_class),
            model=asked.model,
            marker=None if marker is None else f"{asked.model}\\{marker}".encode(),
            origin=origin,
            is_chat=request_class is RequestClass.MAIN and bool(asked.hints.names),
            may_command=request_class is RequestClass.MAIN and not asked.is_program,
            notice=asked.notice,
            answers=tuple(answers),
            is_program=asked.is_program,
            room=asked.room,
        )
        self.mailbox.deliver(delivery)

    def _shows_progress(self, asked: Asked, request_class: RequestClass) -> bool:
        """Return whether long responses are cut; where they can't be, say so once.

        A one-shot has only one response: its conversation ends with that.
        """
        if request_class.is_one_shot or asked.options.request_initiator != INITIATOR:
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
