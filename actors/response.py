"""Pass an agent's output to the editor: one response, and the turns of a session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, assert_never

import attrs
import trio

from agents.base import AgentError, AgentSession, Turn
from agents.events import (
    Answer,
    AskPermission,
    Attach,
    Await,
    Break,
    CallTool,
    Counted,
    Decision,
    Elicit,
    ElicitAnswer,
    PermissionAnswer,
    Say,
    Stop,
    StopReason,
    TakeBack,
    Think,
    ToolAnswer,
)
from bridge.errors import Failure
from bridge.history.progress_rounds import has_begun, is_progress_call
from bridge.routing.index import ConversationKey
from bridge.tokens.gauge import Gauge
from bridge.wire import PERMISSION_TOOL, ChatMessage, DataPart, OwnTextPart, Part

from .continuity.events import TurnCut, TurnFailed, TurnPaused, TurnStopped
from .denials import ALLOWED_BY_RULE, cannot_ask, denied_by_settings
from .messages import Ended, Failed, FormAsked, FormTakenBack, FromSession, Gauged, Said
from .outbox import Outbox
from .permissions import decide, is_allowed
from .plan import AgentQuestion, Delivery, abandoned
from .presentation import Presenter

TurnEnd: TypeAlias = TurnStopped | TurnCut | TurnPaused | TurnFailed
"""Why an agent says nothing more in a turn for now."""

DRAIN_SECONDS = 5.0
"""Seconds that a cancelled turn may take to end."""


@attrs.define(eq=False, repr=False)
class Response:
    """Passes on an agent's output; `questions` are those that the open turn waits for."""

    conversation: ConversationKey
    delivery: Delivery
    session: AgentSession
    questions: list[AgentQuestion]
    inbox: trio.MemorySendChannel[FromSession]
    outbox: Outbox
    counts: list[int] = attrs.field(factory=list[int], init=False)
    """The number of tokens that the model counted, for each of its requests."""
    _presenter: Presenter = attrs.field(init=False)
    _last: list[Part] = attrs.field(factory=list["Part"], init=False)
    """Parts that are sent together with the end, so that the editor wakes once for both."""
    _stopped: StopReason | None = attrs.field(default=None, init=False)
    """Why the newest turn ended; whether that must be said shows when another begins, or none."""

    def __attrs_post_init__(self) -> None:
        delivery = self.delivery
        self._presenter = Presenter(
            delivery.capabilities,
            delivery.settings.thinking,
            delivery.asks_by or PERMISSION_TOOL,
            has_begun(delivery.transcript.path),
            delivery.is_program,
        )

    async def pass_on(self, turn: Turn) -> TurnEnd:
        """Pass on what the agent says until its turn ends or waits."""
        if self._stopped not in (StopReason.END_TURN, StopReason.CANCELLED):
            self._tell_why()  # that the others said nothing is of no interest if another turn comes
        last, self._last, self._stopped = self._last, [], None
        await self._say(last)
        async for batch in turn:
            parts: list[Part | None] = []
            end: TurnEnd | None = None
            for event in batch:
                match event:
                    case Say() | Think() | Attach():
                        parts.append(self._presenter.part(event))
                    case Counted(tokens=tokens):
                        self.counts.append(tokens)
                    case CallTool() | AskPermission():
                        parts.append(self._ask(event))
                    case Elicit():
                        said, parts = [part for part in parts if part is not None], []
                        await self._say(said)  # it may tell what the question is about
                        parts.append(await self._elicit(event))
                    case TakeBack(call_id=call_id):
                        await self.inbox.send(FormTakenBack(self.conversation, call_id))
                    case Await():
                        end = TurnPaused() if self.questions else None
                    case Stop(reason=reason):
                        self._stopped = reason
                        is_cut = reason is StopReason.CANCELLED
                        end = TurnCut() if is_cut else TurnStopped()
                    case Break(failure=failure):
                        end = TurnFailed(failure)
                    case _:
                        assert_never(event)
            said = [part for part in parts if part is not None]
            if end is not None and not isinstance(end, TurnFailed):
                self._last = said
                return end
            await self._say(said)
            if end is not None:
                return end
        raise AgentError(
            Failure("AgentFailed", "The agent ended its turn without a reason. Try again.")
        )

    def begin_with(self, notice: str) -> None:
        """Say a line that isn't the agent's, before its answer."""
        self._last.append(OwnTextPart(f"*{notice}*\n\n"))

    async def end(self, handle: str | None = None) -> None:
        """Say what is left to say, and that it was all; `handle` as in `Ended`."""
        self._tell_why()
        marker = self.delivery.marker
        if marker is not None:
            self._last.append(DataPart("stateful_marker", marker))
        if self._last:
            await self._room()
        await self.inbox.send(Ended(self.conversation, self.delivery.turn, self._last, handle))

    def _tell_why(self) -> None:
        notice = self._presenter.notice(self._stopped) if self._stopped is not None else None
        if notice is not None:
            self._last.append(notice)

    async def _say(self, parts: list[Part]) -> None:
        if parts:
            await self._room()  # an editor that doesn't read stops the agent here
            await self.inbox.send(Said(self.conversation, self.delivery.turn, parts))

    async def _room(self) -> None:
        await (self.delivery.room or self.outbox.room)()

    async def _elicit(self, elicit: Elicit) -> Part | None:
        """Ask the user for input; where that can't be, decline, and return what to say of it."""
        delivery = self.delivery
        why = cannot_ask(
            elicit.message,
            shows_forms=delivery.capabilities.elicit,
            is_read=delivery.is_chat or delivery.asks_by is not None,
            words=delivery.words,
        )
        if why is not None:
            self.session.answer(ElicitAnswer(elicit.call_id, "decline", is_told=True))
            return self._presenter.part(Say(why, by_us=True))
        asked = FormAsked(self.conversation, self.delivery.turn, elicit, self.session.answer)
        await self.inbox.send(asked)
        return None

    def _decide(self, ask: AskPermission) -> PermissionAnswer | None:
        """Return what the settings or the user's rules answer, None if the user is to be asked."""
        settings, options = self.delivery.settings, self.delivery.options
        if settings.permissions == "ask" and is_allowed(ask, options.allowed):
            return PermissionAnswer(ask.call_id, Decision.ALLOWED, ALLOWED_BY_RULE)
        decision = decide(ask, settings, can_ask=self.delivery.asks_by is not None)
        if decision is None:
            return None
        denied = decision is Decision.DENIED
        words, offers_tools = self.delivery.words, bool(options.tools)
        why = denied_by_settings(settings, offers_tools=offers_tools, words=words) if denied else ""
        return PermissionAnswer(ask.call_id, decision, why)

    def _ask(self, question: AgentQuestion) -> Part | None:
        """Put a question to the editor, or answer it here where the editor can't."""
        match question:
            case CallTool(call_id=call_id, name=name):
                is_offered = any(tool.name == name for tool in self.delivery.tools)
                if not (is_offered or is_progress_call(call_id)):
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


class StuckTurn(Exception):
    """The agent didn't stop in time; its session can't be used any more."""


@attrs.define(eq=False, repr=False)
class SessionTurns:
    """The turns of one open session. A turn may last for several responses."""

    conversation: ConversationKey
    session: AgentSession
    inbox: trio.MemorySendChannel[FromSession]
    outbox: Outbox
    questions: list[AgentQuestion] = attrs.field(factory=list["AgentQuestion"], init=False)
    """The questions that the open turn waits for."""
    _turn: Turn | None = attrs.field(default=None, init=False)
    """The agent's open turn."""
    _response: Response | None = attrs.field(default=None, init=False)
    """The newest response. It holds a whole request, so it is dropped when it has ended."""
    _is_in_step: bool = attrs.field(default=True, init=False)
    _gauge: Gauge = attrs.field(factory=Gauge, init=False)
    _notice: str = attrs.field(default="", init=False)
    """The newest notice that the user has read."""

    def respond(self, delivery: Delivery, *, is_in_step: bool) -> None:
        """Begin the response to a delivery; `is_in_step` as in `BeginResponse`."""
        self._response = Response(
            self.conversation, delivery, self.session, self.questions, self.inbox, self.outbox
        )
        self._is_in_step = is_in_step
        if delivery.notice and delivery.notice != self._notice:
            self._response.begin_with(delivery.notice)
        self._notice = delivery.notice

    @property
    def _current(self) -> Response:
        assert self._response is not None, "a response was begun"
        return self._response

    @property
    def turn(self) -> int:
        """The turn of the newest response."""
        return self._current.delivery.turn

    async def prompt(
        self, messages: tuple[ChatMessage, ...], before: tuple[ChatMessage, ...]
    ) -> TurnEnd:
        """Run a turn of the agent, and return how it ended."""
        self._turn = self.session.run(self._current.delivery.prompt(messages, before))
        return await self._pass_on(self._turn)

    async def reply(self, answers: Sequence[Answer]) -> TurnEnd:
        """Answer the questions of the open turn, and return how it ended."""
        assert self._turn is not None, "only an open turn has questions"
        self.questions.clear()
        # The turn has the newest tools and options before it gets the answers.
        await self.session.renew(self._current.delivery.prompt())
        for answer in answers:
            self.session.answer(answer)
        return await self._pass_on(self._turn)

    async def _pass_on(self, turn: Turn) -> TurnEnd:
        end = await self._current.pass_on(turn)
        if not isinstance(end, TurnPaused):
            self._turn = None
        return end

    async def end(self, *, is_settled: bool) -> None:
        """End the response; `is_settled` as in `EndResponse`."""
        response = await self._measured()
        await response.end(self.session.handle if is_settled else None)

    async def fail(self, failure: Failure) -> None:
        """End the response by a failure."""
        response = await self._measured()
        await self.inbox.send(Failed(self.conversation, response.delivery.turn, failure))

    async def _measured(self) -> Response:
        """Learn from the count of a response, which ends; several count more than its request."""
        response, self._response = self._current, None
        delivery, counts = response.delivery, response.counts
        if self._is_in_step and len(counts) == 1:
            measured = self._gauge.take(delivery.transcript, delivery.tools, counts[0])
            if measured is not None:
                await self.inbox.send(Gauged(delivery.model, measured))
        return response

    async def stop(self) -> None:
        """Cancel the open turn and drain it to its end; what it still asks is answered."""
        turn, self._turn, self._response = self._turn, None, None
        if turn is None:
            return
        with trio.move_on_after(DRAIN_SECONDS) as scope:
            for question in self.questions:
                self.session.answer(abandoned(question))
            await self.session.cancel()
            async for batch in turn:
                for event in batch:
                    if isinstance(event, CallTool | AskPermission | Elicit):
                        self.session.answer(abandoned(event))
        self.questions.clear()
        if scope.cancelled_caught:
            raise StuckTurn
