"""Decide what happens in one turn with an ACP agent. Pure.

Rule 1: nothing in this file waits. Time comes in as an argument, and `deadline` says when to look
again. `AcpTurn` waits, prepares the prompt and reads files.
Rule 2: the table in `turn_states` decides. `apply` looks a cell up and runs its steps.
Rule 3: the session comes in as two ports: `TurnLine` is its channel to the agent, and `TurnSession`
does the rest.
"""

from __future__ import annotations

import math
from typing import assert_never

import attrs

from agents.acp.render.renderer import Renderer
from agents.acp.rpc.news import (
    InputCompleted,
    InputMissed,
    InputRequested,
    News,
    PermissionRequested,
    Returned,
)
from agents.acp.rpc.surrogates import ChunkJoiner
from agents.acp.schema.content import ToolCall
from agents.acp.schema.errors import Error
from agents.acp.schema.methods import PromptResponse
from agents.events import (
    CANCELLED,
    Answer,
    Await,
    Batch,
    Break,
    ElicitAnswer,
    Event,
    PermissionAnswer,
    Say,
    Stop,
    StopReason,
    ToolAnswer,
)
from agents.habits import Habits
from bridge.errors import Failure
from bridge.wire import Permissions

from .errors import is_auth_required, is_cancelled, is_lost_session, unknown_session
from .questions import Questions, TurnForms, TurnTools
from .turn_ports import TurnLine, TurnSession
from .turn_states import (
    TRANSITIONS,
    AllAnswered,
    LateTimeOver,
    LoginWanted,
    NewsTaken,
    PauseDue,
    PromptNotSent,
    PromptSent,
    SessionGone,
    Silence,
    TurnEvent,
    TurnState,
    TurnStep,
)

LATE_SECONDS = 0.06
"""Seconds in which updates still count after the agent has answered its prompt."""
MISSED = "⚠️ The agent asked for your input between your messages, so it was declined:"
"""Before the question of an agent that nobody could be asked."""
SILENT_SECONDS = 1.0
"""After how long a silence the lines that are held back are shown."""


@attrs.define(eq=False, repr=False)
class TurnMachine:
    """The decisions of one turn. The batches that its methods return go to the editor."""

    line: TurnLine
    session: TurnSession
    renderer: Renderer
    permissions: Permissions
    habits: Habits
    agent: str
    questions: Questions = attrs.field(init=False)
    tools: TurnTools = attrs.field(init=False)
    forms: TurnForms = attrs.field(init=False)
    state: TurnState = attrs.field(default=TurnState.NEW, init=False)
    login: Error | None = attrs.field(default=None, init=False)
    """The error of a prompt that was refused until the user logs in."""
    failure: Failure | None = attrs.field(default=None, init=False)
    """Why the session is lost."""
    _chunks: ChunkJoiner = attrs.field(factory=ChunkJoiner, init=False)
    _answer: PromptResponse | Error | None = attrs.field(default=None, init=False)
    _ends_at: float = attrs.field(default=math.inf, init=False)

    def __attrs_post_init__(self) -> None:
        self.questions = Questions(self.line, self.permissions, self.agent, self.habits.questions)
        self.tools = TurnTools(self.line)
        self.forms = TurnForms(self.line)

    @property
    def runs(self) -> bool:
        """Whether the last event is still to come, and the session is there to send it."""
        is_over = self.state in (TurnState.OVER, TurnState.LOST, TurnState.CLOSED)
        return not is_over and self.line.lost is None

    @property
    def is_answered(self) -> bool:
        """Whether the agent has answered the prompt, and late news may come."""
        return self.state in (TurnState.ENDING, TurnState.STOPPED)

    def apply(self, event: TurnEvent, now: float) -> Batch:
        """Take one event in; return the events to show."""
        cell = TRANSITIONS[self.state][type(event)]
        events = [shown for step in cell.steps for shown in self._run(step, event, now)]
        self.state = cell.then
        return tuple(events)

    def answer(self, answer: Answer) -> None:
        """Take the first answer to a question or a call that is open."""
        match answer:
            case PermissionAnswer():
                self.questions.answer(answer)
            case ToolAnswer():
                self.tools.answer(answer)
            case ElicitAnswer():
                self.forms.answer(answer)
            case _:
                assert_never(answer)

    def hear(self, now: float) -> Batch:
        """Return the news as events."""
        if self.state is TurnState.AWAITING:
            if self.questions.are_open or self.tools.calls.out:
                return ()
            self.apply(AllAnswered(), now)
        events: list[Event] = [*self._close_forms()]
        for one in self.questions.take_decided():
            events += self.renderer.decide(
                one.call_id, one.title, one.reason, is_allowed=one.is_allowed
            )
        news = self.line.take()
        if news:
            self.apply(NewsTaken(), now)
        for one in news:
            events += self._take(one, now)
        self.renderer.files.clear()
        calls = self.renderer.calls
        self.tools.calls.announce(calls.under_way, calls.take_announced())
        if now >= self._pauses_at:  # an agent that goes on talking must not delay it
            events += self.apply(PauseDue(), now)
        return tuple(events)

    def deadline(self, now: float) -> float:
        """Return when to call `elapsed`, unless there is news before."""
        if self.is_answered:
            return self._ends_at
        pauses_at = self._pauses_at
        if pauses_at < math.inf:
            return pauses_at
        return now + SILENT_SECONDS if self.state is TurnState.RUNNING else math.inf

    def elapsed(self, now: float) -> Batch:
        """Return the events to show at the deadline."""
        if self.is_answered:
            gone = self._why_gone()
            return self.apply(LateTimeOver() if gone is None else SessionGone(gone), now)
        pauses_at = self._pauses_at
        if pauses_at == math.inf:
            return self.apply(Silence(), now)
        return self.apply(PauseDue(), now) if now >= pauses_at else ()

    @property
    def _pauses_at(self) -> float:
        """When the turn begins to await answers; infinite if it awaits none."""
        if self.state not in (TurnState.RUNNING, TurnState.QUIET) or self.forms.are_open:
            return math.inf  # a response that ends would take the user's form away
        due = self.tools.calls.due
        if not self.questions.are_open:
            return due
        gathered_at = self.questions.gathered_at
        return gathered_at if due == math.inf else max(gathered_at, due)

    def _take(self, news: News, now: float) -> Batch:
        match news:
            case PermissionRequested():
                return self._ask(news, now)
            case InputRequested():
                return self._elicit(news)
            case InputCompleted(elicitation_id=elicitation_id):
                self.forms.complete(elicitation_id)
                return self._close_forms()
            case InputMissed(message=message):
                return tuple(self.renderer.tell_form(MISSED, message))
            case Returned(answer=Error() as error) if self.login is None and is_auth_required(
                error
            ):
                return self.apply(LoginWanted(error), now)
            case Returned():
                return self.apply(news, now)
            case _:
                if isinstance(news, ToolCall):
                    self.habits.suppose()
                return tuple(
                    event
                    for update in self._chunks.pass_on(news)
                    for event in self.renderer.update(update)
                )

    def _elicit(self, asked: InputRequested) -> Batch:
        if not self.line.asks(asked.id, asked.request):
            return ()  # the agent has taken it back, or a cancel has refused it
        return (*self.renderer.flush(), self.forms.put(asked, self.session.new_call_id()))

    def _close_forms(self) -> Batch:
        """Return that the user is asked for some input no longer, and how forms have ended."""
        gone: list[Event] = [*self.forms.take_gone()]
        for ended in self.forms.take_ended():
            gone += self.renderer.tell_form(ended.mark, ended.message)
        return tuple(gone)

    def _ask(self, asked: PermissionRequested, now: float) -> Batch:
        record = self.renderer.ask(asked.request.tool_call)
        if not self.line.is_open(asked.id):
            return ()  # the agent has taken it back, or a cancel has refused it
        if self.tools.allow(asked, record):
            return ()
        others = self.renderer.calls.open_calls(record.call_id)
        call_id = self.session.new_call_id()
        return tuple(self.questions.put(asked, call_id, record, others, now=now))

    # The steps.

    def _run(self, step: TurnStep, event: TurnEvent, now: float) -> Batch:
        match step, event:
            case TurnStep.SEND, PromptSent(blocks=blocks):
                self.line.prompt(blocks)
                self.tools.calls.begin(now)
                self.session.be_told()
                return tuple(self.renderer.begin())
            case TurnStep.BREAK, PromptNotSent(failure=Failure() as failure):
                return (Break(failure),)
            case TurnStep.ASK_LOGIN, LoginWanted(error=error):
                self.login = error
            case TurnStep.LISTEN, Returned(answer=answer) | LoginWanted(error=answer):
                self._answer, self._ends_at = answer, now + LATE_SECONDS
            case TurnStep.PAUSE, _:
                return self._pause(now)
            case TurnStep.RESUME, _:
                self.renderer.begin_response()
                self.tools.calls.resume(now)
            case TurnStep.FLUSH, _:
                return tuple(self.renderer.flush())
            case TurnStep.END, _:
                return self._end(now)
            case TurnStep.END_STOPPED, _:
                return self._end_stopped()
            case TurnStep.END_UNSENT, _:
                return (CANCELLED,)
            case TurnStep.LOSE, SessionGone(failure=failure) | PromptNotSent(
                failure=Failure() as failure
            ):
                # The agent doesn't know the session, or only a new process sees a login.
                self.tools.cancel()
                self.line.lose(failure)
                self.failure = failure
                return tuple(self.renderer.tell_changes())
            case TurnStep.STOP, _:
                self.questions.clear()
                self.forms.clear()
                self.tools.cancel()
                self.line.cancel(now)
            case TurnStep.REFUSE, _:
                self.tools.cancel()
            case TurnStep.LEAVE, _:
                self.line.pause()
            case _:
                raise AssertionError(f"step {step} can't follow {event}")
        return ()

    def _pause(self, now: float) -> Batch:
        shown = self.renderer.flush()
        late, calls = self.questions.take_late(now), self.tools.calls.emit(now)
        self.line.pause()
        return (*shown, *late, *calls, Await())

    def _end(self, now: float) -> Batch:
        fault = self._fault
        if fault is None:
            last = Stop(_REASONS.get(_stop_reason(self._answer), StopReason.END_TURN))
        else:
            last = Break(self.session.failure_of(fault))
        shown = self._finish(is_complete=last == Stop())
        self.tools.calls.end()
        complaint = self.session.complaint(now)
        if complaint is not None:
            shown = (*shown, Say(f"\n\n{complaint}\n\n", by_us=True))
        return (*shown, last)

    def _end_stopped(self) -> Batch:
        fault = self._fault
        self.renderer.keep_changes()
        shown = self._finish(is_complete=False)
        if fault is not None:  # the agent may believe that the turn still runs
            failure = self.session.failure_of(fault)
            self.line.record(f"its stop failed: {failure.message}")
            self.line.lose(failure)
        self.line.end_stopped()
        return (*shown, CANCELLED)

    def _finish(self, *, is_complete: bool) -> Batch:
        """Return the events that were held back until the end."""
        late = [event for one in self._chunks.flush() for event in self.renderer.update(one)]
        usage = self._answer.usage if isinstance(self._answer, PromptResponse) else None
        return (*late, *self.renderer.finish(usage, is_complete=is_complete))

    @property
    def _fault(self) -> Error | None:
        """The error that ended the prompt; a stop that the user wanted is none."""
        answer = self._answer
        if not isinstance(answer, Error):
            return None
        return None if self.state is TurnState.STOPPED and is_cancelled(answer) else answer

    def _why_gone(self) -> Failure | None:
        """Return why the session can't be used after this answer.

        Some agents refuse the prompt where they don't know the session.
        """
        fault = self._fault
        if self.line.is_unproven and _stop_reason(self._answer) == StopReason.REFUSAL.value:
            return unknown_session(self.agent)
        if fault is None:
            return None
        is_lost = is_lost_session(fault, may_be_file=self.line.has_missed_file)
        return self.session.failure_of(fault) if is_lost or is_auth_required(fault) else None


def _stop_reason(answer: PromptResponse | Error | None) -> str:
    return answer.stop_reason if isinstance(answer, PromptResponse) else ""


_REASONS: dict[str, StopReason] = {reason.value: reason for reason in StopReason}
