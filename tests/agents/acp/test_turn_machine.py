"""The machine of a turn: every cell of its table, then what it asks of the editor's tools."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import get_args

import attrs
import pytest

from agents.acp.calls.state import CallRecord
from agents.acp.questions import TurnTools
from agents.acp.render.renderer import Renderer
from agents.acp.render.session_view import SessionView
from agents.acp.rpc.news import (
    InputRequested,
    News,
    PermissionRequested,
    QuestionId,
    Returned,
    UserQuestion,
)
from agents.acp.schema.content import ContentBlock, TextContent, ToolCall, ToolCallUpdate
from agents.acp.schema.elicitation import CreateElicitationRequest, CreateElicitationResponse
from agents.acp.schema.errors import AUTH_REQUIRED, Error
from agents.acp.schema.methods import (
    CancelledPermissionOutcome,
    PermissionOption,
    PromptResponse,
    RequestPermissionOutcome,
    RequestPermissionRequest,
    SelectedPermissionOutcome,
)
from agents.acp.turn_machine import CANCELLED, LATE_SECONDS, SILENT_SECONDS, TurnMachine
from agents.acp.turn_states import (
    TRANSITIONS,
    TURN_EVENTS,
    AllAnswered,
    Cancelling,
    Closing,
    LateTimeOver,
    LoginWanted,
    NewsTaken,
    PauseDue,
    PromptNotSent,
    PromptSent,
    SessionGone,
    Silence,
    TurnCell,
    TurnEvent,
    TurnState,
    TurnStep,
    changes,
)
from agents.events import (
    AskPermission,
    Await,
    Break,
    CallTool,
    Decision,
    Event,
    PermissionAnswer,
    Say,
    Stop,
    StopReason,
    ToolAnswer,
)
from agents.habits import Habits
from agents.mcp.call_broker import CallBroker
from agents.mcp.offer import ToolsOwner
from agents.mcp.tools import ToolCatalogue
from bridge.errors import Failure
from bridge.wire import ToolSpec
from tests.agents.acp.offered import Offered

BLOCKS = (TextContent("hello"),)
DONE = PromptResponse("end_turn")
BROKEN = Failure("AgentFailed", "It broke.")
NO_LOGIN = Error(AUTH_REQUIRED, "Log in first.")
MINE, OTHER = "vscaaaaaa", "vscbbbbbb"
READ = CallTool("call-1", "read_file", {})
ONCE = PermissionOption("yes", "Yes", "allow_once")


@attrs.define
class Owner(ToolsOwner):
    """A process that has another session, too."""

    done: list[str]

    def others(self, server: str) -> Collection[str]:
        return (OTHER,)

    def mix(self) -> None:
        self.done.append("mixed")


@attrs.define
class Tools(Offered):
    """A toolbox whose calls are real; it notes what else a turn does with it."""

    calls: CallBroker = attrs.field(factory=CallBroker)
    done: list[str] = attrs.field(factory=list[str])

    def __attrs_post_init__(self) -> None:
        self.owner = Owner(self.done)

    def answer(self, answer: ToolAnswer) -> None:
        self.calls.answer(answer)

    def cancel(self) -> None:
        self.calls.cancel()
        self.done.append("cancel")


def tools_of(server: str) -> Tools:
    """Return a toolbox with one tool."""
    return Tools(server, ToolCatalogue.of([ToolSpec("read_file")], server))


@attrs.define
class Line:
    """A session's channel and the session itself, without an agent."""

    tools: Tools | None = None
    lost: Failure | None = None
    is_unproven: bool = False
    has_missed_file: bool = False
    complaints: list[str] = attrs.field(factory=list[str])
    news: list[News] = attrs.field(factory=list[News])
    answers: list[RequestPermissionOutcome | CreateElicitationResponse] = attrs.field(
        factory=list["RequestPermissionOutcome | CreateElicitationResponse"]
    )
    done: list[str] = attrs.field(factory=list[str])

    def allows_edit(self, kind: str, paths: Collection[str]) -> bool:
        return False

    def is_open(self, id_: QuestionId) -> bool:
        return not self.answers

    def asks(self, id_: QuestionId, question: UserQuestion) -> bool:
        return self.is_open(id_)

    def answer(
        self, id_: QuestionId, answer: RequestPermissionOutcome | CreateElicitationResponse
    ) -> None:
        self.answers.append(answer)

    def record(self, words: str) -> None:
        self.done.append(words)

    def wake(self) -> None:
        self.done.append("wake")

    def prompt(self, blocks: tuple[ContentBlock, ...]) -> None:
        self.done.append("prompt")

    def take(self) -> list[News]:
        news, self.news = self.news, []
        return news

    def cancel(self, now: float) -> None:
        self.done.append("cancel")

    def end_stopped(self) -> None:
        self.done.append("end stopped")

    def lose(self, failure: Failure) -> None:
        self.lost = failure

    def pause(self) -> None:
        self.done.append("pause")

    def new_call_id(self) -> str:
        return "question-1"

    def be_told(self) -> None:
        self.done.append("told")

    def failure_of(self, error: Error) -> Failure:
        return Failure("AgentFailed", error.message)

    def complaint(self, now: float) -> str | None:
        return self.complaints.pop() if self.complaints else None


def machine_on(line: Line) -> TurnMachine:
    renderer = Renderer(SessionView(), root="/", offer=line.tools)
    return TurnMachine(line, line, renderer, "ask", Habits(), "Agent")


def machine_in(state: TurnState, line: Line) -> TurnMachine:
    """Return a machine that has come to a state by events."""
    machine = machine_on(line)
    bring(machine, state)
    line.done.clear()
    return machine


def bring(machine: TurnMachine, state: TurnState) -> None:
    """Bring a new machine to a state by events."""
    ways: dict[TurnState, tuple[TurnEvent, ...]] = {
        NEW: (),
        LOGIN: (PromptSent(BLOCKS), LoginWanted(NO_LOGIN)),
        UNSENT: (Cancelling(),),
        RUNNING: (PromptSent(BLOCKS),),
        QUIET: (PromptSent(BLOCKS), Silence()),
        AWAITING: (PromptSent(BLOCKS), PauseDue()),
        STOPPING: (PromptSent(BLOCKS), Cancelling()),
        ENDING: (PromptSent(BLOCKS), Returned(DONE)),
        STOPPED: (PromptSent(BLOCKS), Cancelling(), Returned(DONE)),
        OVER: (PromptSent(BLOCKS), Returned(DONE), LateTimeOver()),
        LOST: (PromptSent(BLOCKS), Returned(DONE), SessionGone(BROKEN)),
        CLOSED: (Closing(),),
    }
    for event in ways[state]:
        machine.apply(event, 0)
    assert machine.state is state


EVENTS: dict[type[TurnEvent], TurnEvent] = {
    PromptSent: PromptSent(BLOCKS),
    PromptNotSent: PromptNotSent(BROKEN),
    LoginWanted: LoginWanted(NO_LOGIN),
    NewsTaken: NewsTaken(),
    Returned: Returned(DONE),
    PauseDue: PauseDue(),
    AllAnswered: AllAnswered(),
    Silence: Silence(),
    LateTimeOver: LateTimeOver(),
    SessionGone: SessionGone(BROKEN),
    Cancelling: Cancelling(),
    Closing: Closing(),
}
NEW, LOGIN, UNSENT = TurnState.NEW, TurnState.LOGIN, TurnState.UNSENT
RUNNING, QUIET, AWAITING = TurnState.RUNNING, TurnState.QUIET, TurnState.AWAITING
STOPPING, ENDING, STOPPED = TurnState.STOPPING, TurnState.ENDING, TurnState.STOPPED
OVER, LOST, CLOSED = TurnState.OVER, TurnState.LOST, TurnState.CLOSED
TOLD_TO_STOP = ["cancel"]
LEFT = ["pause"]
EXPECTED: dict[
    tuple[TurnState, type[TurnEvent]], tuple[TurnState, tuple[Event, ...], list[str]]
] = {
    (NEW, PromptSent): (RUNNING, (), ["prompt", "told"]),
    (NEW, PromptNotSent): (OVER, (Break(BROKEN),), LEFT),
    (NEW, Cancelling): (UNSENT, (), TOLD_TO_STOP),
    (LOGIN, PromptSent): (RUNNING, (), ["prompt", "told"]),
    (LOGIN, PromptNotSent): (LOST, (), LEFT),
    (LOGIN, Cancelling): (UNSENT, (), TOLD_TO_STOP),
    (UNSENT, PromptSent): (OVER, (CANCELLED,), LEFT),
    (UNSENT, PromptNotSent): (OVER, (CANCELLED,), LEFT),
    (RUNNING, LoginWanted): (LOGIN, (), []),
    (RUNNING, Returned): (ENDING, (), []),
    (RUNNING, PauseDue): (AWAITING, (Await(),), LEFT),
    (RUNNING, Silence): (QUIET, (), []),
    (RUNNING, Cancelling): (STOPPING, (), TOLD_TO_STOP),
    (QUIET, LoginWanted): (LOGIN, (), []),
    (QUIET, NewsTaken): (RUNNING, (), []),
    (QUIET, Returned): (ENDING, (), []),
    (QUIET, PauseDue): (AWAITING, (Await(),), LEFT),
    (QUIET, Cancelling): (STOPPING, (), TOLD_TO_STOP),
    (AWAITING, AllAnswered): (RUNNING, (), []),
    (AWAITING, Cancelling): (STOPPING, (), TOLD_TO_STOP),
    (STOPPING, LoginWanted): (STOPPED, (), []),
    (STOPPING, Returned): (STOPPED, (), []),
    (ENDING, LateTimeOver): (OVER, (Stop(),), LEFT),
    (ENDING, SessionGone): (LOST, (), LEFT),
    (ENDING, Cancelling): (STOPPED, (), TOLD_TO_STOP),
    (STOPPED, LateTimeOver): (OVER, (CANCELLED,), ["end stopped", *LEFT]),
    (STOPPED, SessionGone): (LOST, (), LEFT),
    **{(state, Closing): (CLOSED, (), LEFT) for state in TurnState if state is not CLOSED},
}
"""Every cell in which something happens."""


@pytest.mark.parametrize("event", TURN_EVENTS)
@pytest.mark.parametrize("state", TurnState)
def test_a_cell_of_the_table_does_what_is_written_here(
    state: TurnState, event: type[TurnEvent]
) -> None:
    line = Line()
    machine = machine_in(state, line)
    then, shown, done = EXPECTED.get((state, event), (state, (), []))
    assert machine.apply(EVENTS[event], 1) == shown
    assert (machine.state, line.done) == (then, done)
    assert (machine.failure is None) is (machine.line.lost is None) is (LOST not in (state, then))


def test_the_machine_has_these_cells_and_no_others() -> None:
    cells = {(state, event) for state, row in TRANSITIONS.items() for event in row}
    assert cells == {(state, event) for state in TurnState for event in get_args(TurnEvent)}
    assert {(state, event) for state, event in cells if changes(state, event)} == set(EXPECTED)


def test_a_table_whose_steps_make_no_sense_fails_loudly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TRANSITIONS[NEW], Closing, TurnCell((TurnStep.SEND,), CLOSED))
    with pytest.raises(AssertionError, match="SEND"):
        machine_on(Line()).apply(Closing(), 0)


def test_a_turn_without_news_is_looked_at_again_after_a_silence_only() -> None:
    line = Line()
    machine = machine_in(RUNNING, line)
    assert machine.deadline(5) == 5 + SILENT_SECONDS
    assert machine.elapsed(6) == ()
    assert machine.deadline(6) == math.inf
    line.news = [ToolCall("c1", "Look")]
    machine.hear(6)
    assert machine.deadline(6) == 6 + SILENT_SECONDS
    machine.apply(Returned(DONE), 7)
    assert machine.deadline(7) == 7 + LATE_SECONDS
    assert machine.elapsed(8)[-1] == Stop()
    assert not machine.runs


def test_a_login_is_tried_once() -> None:
    line = Line()
    machine = machine_in(RUNNING, line)
    line.news = [Returned(NO_LOGIN)]
    assert machine.hear(0) == ()
    assert (machine.state, machine.login) == (LOGIN, NO_LOGIN)
    machine.apply(PromptSent(BLOCKS), 1)
    line.news = [Returned(NO_LOGIN)]
    assert machine.hear(2) == ()
    assert machine.state is ENDING
    assert machine.elapsed(3) == ()
    assert machine.failure == line.lost == Failure("AgentFailed", NO_LOGIN.message)


def test_a_login_that_fails_costs_the_session() -> None:
    line = Line()
    machine = machine_in(LOGIN, line)
    assert machine.apply(PromptNotSent(BROKEN), 1) == ()
    assert machine.failure == line.lost == BROKEN
    assert not machine.runs


@pytest.mark.parametrize(
    ("answer", "shown", "done"),
    [
        (DONE, (CANCELLED,), ["end stopped"]),
        (Error(-32000 - 9, "Request cancelled"), (CANCELLED,), ["end stopped"]),
        (
            Error(-1, "odd"),
            (CANCELLED,),
            ["its stop failed: odd", "end stopped"],
        ),
    ],
)
def test_a_cancelled_turn_ends_so_whatever_the_agent_answers(
    answer: PromptResponse | Error, shown: tuple[Event, ...], done: list[str]
) -> None:
    line = Line()
    machine = machine_in(RUNNING, line)
    machine.apply(Cancelling(), 0)
    line.news, line.done = [Returned(answer)], []
    assert machine.hear(1) == ()
    assert machine.elapsed(2) == shown
    assert line.done == [*done, "pause"]
    assert (line.lost is None) is (len(done) == 1)


def test_a_session_that_refuses_its_first_prompt_is_lost() -> None:
    line = Line(is_unproven=True)
    machine = machine_in(RUNNING, line)
    line.news = [Returned(PromptResponse("refusal"))]
    assert machine.hear(0) == ()
    assert machine.elapsed(1) == ()
    assert machine.failure is not None
    assert machine.failure == line.lost


def test_a_session_that_the_agent_does_not_know_is_lost() -> None:
    line = Line(tools=tools_of(MINE))
    machine = machine_in(RUNNING, line)
    line.news = [Returned(Error(-32002, "Resource not found"))]
    assert machine.hear(0) == ()
    assert machine.elapsed(1) == ()
    assert machine.failure == line.lost == Failure("AgentFailed", "Resource not found")
    assert line.tools is not None
    assert line.tools.done == ["cancel"]


def test_an_error_breaks_the_turn() -> None:
    line = Line()
    machine = machine_in(RUNNING, line)
    line.news = [Returned(Error(-1, "odd"))]
    machine.hear(0)
    assert machine.elapsed(1) == (Break(Failure("AgentFailed", "odd")),)


def test_a_turn_that_is_cancelled_before_its_prompt_needs_no_agent() -> None:
    machine = machine_in(NEW, Line())
    machine.apply(Cancelling(), 0)
    assert machine.apply(PromptNotSent(None), 0) == (Stop(StopReason.CANCELLED),)


# The editor's tools.


def test_calls_go_out_when_they_are_due_and_the_turn_goes_on_with_their_results() -> None:
    tools = tools_of(MINE)
    line = Line(tools=tools)
    machine = machine_in(RUNNING, line)
    tools.calls.arrive("key", READ, 2)
    due = tools.calls.due
    assert 2 < due < 3
    assert machine.hear(2) == ()
    assert machine.deadline(2) == due
    assert machine.elapsed(2) == ()  # another call came in the last moment
    assert machine.elapsed(due) == (READ, Await())
    assert machine.hear(4) == ()
    assert machine.deadline(4) == math.inf
    machine.answer(ToolAnswer("call-1", "text"))
    assert machine.hear(5) == ()
    assert machine.state is RUNNING
    tools.calls.arrive("key", READ, 5)
    assert machine.deadline(5) > 5, "the response that goes on can take calls"


def test_calls_go_out_when_they_are_due_though_the_agent_talks_on() -> None:
    tools = tools_of(MINE)
    machine = machine_in(RUNNING, Line(tools=tools))
    tools.calls.arrive("key", READ, 2)
    assert machine.hear(3) == (READ, Await())


def test_the_user_is_told_that_the_tools_were_ignored() -> None:
    tools = tools_of(MINE)
    line = Line(tools=tools, complaints=["The agent ignores them."])
    machine = machine_in(ENDING, line)
    shown = machine.apply(LateTimeOver(), 1)
    assert shown == (Say("\n\nThe agent ignores them.\n\n", by_us=True), Stop())
    assert not tools.calls.is_open


def asked(title: str, *options: PermissionOption) -> PermissionRequested:
    call = ToolCallUpdate("c1", title=title)
    return PermissionRequested(1, RequestPermissionRequest("s", call, options))


@pytest.mark.parametrize(
    ("request_", "allowed", "done"),
    [
        (asked(f"mcp__{MINE}__read_file", ONCE), True, []),
        (asked(f"mcp__{OTHER}__read_file", ONCE), True, ["mixed"]),
        (asked("Delete everything", ONCE), False, []),
        (asked(f"mcp__{MINE}__read_file"), False, []),
    ],
)
@pytest.mark.parametrize("is_over", [False, True])
def test_a_question_about_an_editors_tool_is_not_the_users(
    request_: PermissionRequested, allowed: bool, done: list[str], is_over: bool
) -> None:
    tools = tools_of(MINE)
    line = Line(tools=tools)
    record = CallRecord("c1")
    if is_over:
        record.learn(ToolCallUpdate("c1", title="Delete everything", status="completed"))
    assert TurnTools(line).allow(request_, record) is allowed
    assert line.answers == ([SelectedPermissionOutcome("yes")] if allowed else [])
    assert tools.done == done


def test_without_tools_every_question_is_the_users() -> None:
    tools = TurnTools(Line())
    assert not tools.allow(asked("Look", ONCE), CallRecord("c1"))
    tools.answer(ToolAnswer("call-1", "late"))
    assert (tools.calls.due, tools.calls.out, tools.calls.emit(0)) == (math.inf, 0, ())


# Questions.


def test_a_question_is_asked_and_its_answer_is_handed_over() -> None:
    line = Line()
    machine = machine_in(RUNNING, line)
    line.news = [asked("Delete everything", ONCE)]
    (question,) = machine.hear(0)
    assert isinstance(question, AskPermission)
    assert machine.hear(machine.deadline(0)) == (Await(),)
    machine.answer(PermissionAnswer(question.call_id, Decision.ABANDONED))
    assert line.answers == [CancelledPermissionOutcome()]
    assert machine.hear(1) == ()
    assert machine.state is RUNNING


@pytest.mark.parametrize(
    "question",
    [
        asked("Delete everything", ONCE),
        InputRequested(1, CreateElicitationRequest("Which one?")),
    ],
)
def test_a_question_that_was_taken_back_is_not_asked(question: News) -> None:
    line = Line(answers=[CancelledPermissionOutcome()])
    machine = machine_in(RUNNING, line)
    line.news = [question]
    assert machine.hear(0) == ()
    assert machine.deadline(0) == SILENT_SECONDS
