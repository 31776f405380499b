"""One response: what an agent says to a request, on its way to the editor."""

from __future__ import annotations

import enum
from typing import assert_never

import attrs
import trio

from agents.base import AgentError, AgentSession, Turn
from agents.events import (
    AskPermission,
    Attach,
    Await,
    Break,
    CallTool,
    Counted,
    Decision,
    PermissionAnswer,
    Say,
    Stop,
    StopReason,
    Think,
    ToolAnswer,
)
from bridge.errors import Failure
from bridge.index import ConversationKey
from bridge.wire import DataPart, Part

from .denials import ALLOWED_BY_RULE, denied_by_settings
from .inbox import Ended, FromSession, Said
from .outbox import Outbox
from .plan import Delivery, Question, decide, is_allowed
from .presentation import Presenter


class Pause(enum.Enum):
    """Why an agent says nothing more in a response."""

    STOPPED = enum.auto()
    CANCELLED = enum.auto()
    """It stopped before the end by itself."""
    AWAITING = enum.auto()


@attrs.define(eq=False)
class Response:
    """Says what an agent says; `questions` are those that the open turn waits for."""

    conversation: ConversationKey
    delivery: Delivery
    session: AgentSession
    questions: list[Question]
    inbox: trio.MemorySendChannel[FromSession]
    outbox: Outbox
    counts: list[int] = attrs.field(factory=list[int], init=False)
    """How many tokens the model counted, each time that it was asked."""
    _presenter: Presenter = attrs.field(init=False)
    _last: list[Part] = attrs.field(factory=list["Part"], init=False)
    """What is said together with the end, so that the editor is woken for both at once."""
    _stopped: StopReason | None = attrs.field(default=None, init=False)
    """Why the newest turn ended; whether that must be said shows when another begins, or none."""

    def __attrs_post_init__(self) -> None:
        self._presenter = Presenter(self.delivery.capabilities, self.delivery.settings.thinking)

    async def pass_on(self, turn: Turn) -> Pause | Failure:
        """Pass on what the agent says until its turn ends or waits."""
        if self._stopped not in (StopReason.END_TURN, StopReason.CANCELLED):
            self._tell_why()  # that the others said nothing is of no interest if another turn comes
        last, self._last, self._stopped = self._last, [], None
        await self._say(last)
        async for batch in turn:
            parts: list[Part | None] = []
            pause: Pause | Failure | None = None
            for event in batch:
                match event:
                    case Say() | Think() | Attach():
                        parts.append(self._presenter.part(event))
                    case Counted(tokens=tokens):
                        self.counts.append(tokens)
                    case CallTool() | AskPermission():
                        parts.append(self._ask(event))
                    case Await():
                        pause = Pause.AWAITING if self.questions else None
                    case Stop(reason=reason):
                        self._stopped = reason
                        is_cut = reason is StopReason.CANCELLED
                        pause = Pause.CANCELLED if is_cut else Pause.STOPPED
                    case Break(failure=failure):
                        pause = failure
                    case _:
                        assert_never(event)
            said = [part for part in parts if part is not None]
            if isinstance(pause, Pause):
                self._last = said
                return pause
            await self._say(said)
            if pause is not None:
                return pause
        raise AgentError(
            Failure("AgentFailed", "The agent's turn ended without a word of why; try again.")
        )

    async def end(self, handle: str | None = None) -> None:
        """Say what is left to say, and that it was all; `handle` as in `Ended`."""
        self._tell_why()
        marker = self.delivery.marker
        if marker is not None:
            self._last.append(DataPart("stateful_marker", marker))
        if self._last:
            await self.outbox.room()
        await self.inbox.send(Ended(self.conversation, self.delivery.turn, self._last, handle))

    def _tell_why(self) -> None:
        notice = self._presenter.notice(self._stopped) if self._stopped is not None else None
        if notice is not None:
            self._last.append(notice)

    async def _say(self, parts: list[Part]) -> None:
        if parts:
            await self.outbox.room()  # an editor that doesn't read stops the agent here
            await self.inbox.send(Said(self.conversation, self.delivery.turn, parts))

    def _decide(self, ask: AskPermission) -> PermissionAnswer | None:
        """Return what the settings or the user's rules answer, None if the user is to be asked."""
        settings, options = self.delivery.settings, self.delivery.options
        if settings.permissions == "ask" and is_allowed(ask, options.allowed):
            return PermissionAnswer(ask.call_id, Decision.ALLOWED, ALLOWED_BY_RULE)
        decision = decide(ask, settings, can_ask=self.delivery.can_ask)
        if decision is None:
            return None
        denied = decision is Decision.DENIED
        why = denied_by_settings(settings, offers_tools=bool(options.tools)) if denied else ""
        return PermissionAnswer(ask.call_id, decision, why)

    def _ask(self, question: Question) -> Part | None:
        """Put a question to the editor, or answer it here where the editor can't."""
        match question:
            case CallTool(call_id=call_id, name=name):
                if all(tool.name != name for tool in self.delivery.tools):
                    error = ToolAnswer(call_id, f"{name} is not offered.", is_error=True)
                    self.session.answer(error)
                    return None
            case AskPermission():
                answer = self._decide(question)
                if answer is not None:
                    self.session.answer(answer)
                    return None
            case _:
                assert_never(question)
        self.questions.append(question)
        return self._presenter.part(question)
