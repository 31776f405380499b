"""The machine of a conversation's session: every cell of its table."""

from __future__ import annotations

import gc
import json
import weakref
from collections.abc import Callable

import pytest
from msgspec import Raw
from msgspec.structs import replace

from actors.beginning import Head, Start, Why
from actors.continuity.effects import (
    AllowForks,
    AnswerAgent,
    BeginResponse,
    BeginTurn,
    CheckOrigin,
    CloseSession,
    ContinueTurn,
    DrainFirst,
    DrainTurn,
    EndResponse,
    FailResponse,
    FailTurn,
    ForgetHandle,
    Introduce,
    OpenSession,
    PrepareAgent,
    PreparePrompt,
    PromptAgent,
    ReleaseHandle,
    SearchMemory,
    SessionEffect,
)
from actors.continuity.events import (
    AgentPrepared,
    ChatSuperseded,
    ConversationEnded,
    DeliveryReceived,
    DeliverySkipped,
    OriginChecked,
    PreparationFailed,
    PromptDue,
    PromptReady,
    ResponseEnded,
    SearchEnded,
    SessionBroke,
    SessionEvent,
    SessionOpened,
    SessionTaken,
    SessionWanted,
    TurnAborted,
    TurnCut,
    TurnDrained,
    TurnFailed,
    TurnPaused,
    TurnStopped,
)
from actors.continuity.machine import SessionMachine
from actors.continuity.states import SessionInput, SessionState
from actors.continuity.table import TRANSITIONS
from actors.plan import Delivery, plan
from agents.events import CallTool
from agents.origin import FRESH, ForkOf, Resumed
from bridge.errors import Failure, internal
from bridge.history.transcript import TranscriptReader
from bridge.wire import Capabilities, ChatOptions, Settings
from tests.fakes.editor import JSON, assistant, tool_result, user

S, IN = SessionState, SessionInput
KEEPS = Settings(rewind="continue")
CALL = CallTool("1", "f", {})
CALLED: JSON = {"type": "tool_call", "toolCallId": "1", "toolName": "f", "parameters": {}}


def delivery(
    *messages: object, new_from: int = 2, withdrawn: bool = False, settings: Settings | None = None
) -> Delivery:
    said = messages or (user("a"), assistant("b"), user("c"))
    return Delivery(
        turn=1,
        transcript=TranscriptReader().read([Raw(json.dumps(one).encode()) for one in said]),
        new_from=new_from,
        withdrawn=withdrawn,
        options=ChatOptions(),
        settings=settings or Settings(),
        tools=(),
        asks_by=None,
        capabilities=Capabilities(),
    )


NEXT = delivery()
FIRST = delivery(user("a"), new_from=0)
REWOUND = delivery(withdrawn=True, settings=KEEPS)
UNDONE = delivery(withdrawn=True)
OTHER = delivery(user("x"), assistant("y"), user("z"))
CALLS: JSON = {"role": "assistant", "content": [CALLED]}
ANSWER = delivery(user("a"), CALLS, tool_result(CALLED, "r"))
SAID_MORE = delivery(user("a"), CALLS, tool_result(CALLED, "r"), user("d"))


GONE = Failure("AgentFailed", "The agent is gone.")
Way = tuple[SessionEvent | Callable[[], SessionEvent], ...]


def after(*way: SessionEvent | Callable[[], SessionEvent]) -> SessionMachine:
    """Return a machine that took events."""
    machine = SessionMachine()
    for event in way:
        machine.apply(event() if callable(event) else event)
    return machine


def take(machine: SessionMachine, *events: SessionEvent) -> list[SessionEffect]:
    """Have a machine take events, and return what follows from the last."""
    return [machine.apply(event) for event in events][-1]


def machine_in(state: SessionState) -> SessionMachine:
    """Return a machine that came to a state by events."""
    machine = after(*WAYS[state])
    assert machine.state is state
    return machine


def forkable(wanted: Delivery = NEXT) -> DeliveryReceived:
    return DeliveryReceived(replace(wanted, origin=Head("origin")))


OPENED = SessionOpened("mine", knows_history=True)
EMPTY = SessionOpened("new", knows_history=False)
BROKE = SessionBroke(None)
WANTED: tuple[SessionEvent, ...] = (SessionWanted(), AgentPrepared())
TOLD: tuple[SessionEvent, ...] = (PromptReady(), PromptDue())
PROMPTS: tuple[SessionEvent, ...] = (DeliveryReceived(NEXT), *TOLD)
REPROMPTS: tuple[SessionEvent, ...] = (DeliveryReceived(REWOUND), *TOLD)
SEARCHING: Way = (DeliveryReceived(NEXT), *WANTED)
OPENING: Way = (DeliveryReceived(FIRST), *WANTED)
UNTOLD: tuple[SessionEvent, ...] = (*OPENING, SessionOpened("mine", knows_history=False))
RUNNING: Way = (*UNTOLD, *PROMPTS)
SETTLED: Way = (*RUNNING, TurnStopped(), ResponseEnded())
RERUNNING: Way = (*SETTLED, *REPROMPTS)
KEPT: Way = (*SETTLED, BROKE)
RESUMING: Way = (*KEPT, DeliveryReceived(NEXT), *WANTED)
RESUMED: Way = (*RESUMING, OPENED)
BEGUN: Way = (*RESUMED, DeliveryReceived(NEXT), PromptReady())
RECALLING: Way = (*SEARCHING, SearchEnded("mine", 1))
WAYS: dict[SessionState, Way] = {
    S.ABSENT: (),
    S.TAKEN: (*BEGUN, SessionTaken()),
    S.KEPT: KEPT,
    S.SEARCHING: SEARCHING,
    S.OPENING: OPENING,
    S.FORKING: (forkable, *WANTED),
    S.RESUMING: RESUMING,
    S.RECALLING: RECALLING,
    S.UNTOLD: UNTOLD,
    S.KNOWING: (*RECALLING, OPENED),
    S.FORK: (forkable, *WANTED, OPENED),
    S.RESUMED: RESUMED,
    S.BEGUN: (*BEGUN, DeliverySkipped()),
    S.RUNNING: RUNNING,
    S.AWAITING: (*RUNNING, TurnPaused()),
    S.SETTLED: SETTLED,
    S.UNSETTLED: (*RUNNING, TurnCut()),
    S.RERUNNING: RERUNNING,
    S.REAWAITING: (*RERUNNING, TurnPaused()),
    S.REWOUND: (*RERUNNING, TurnStopped()),
}
"""The events that lead to each state."""

ANSWERS = DeliveryReceived(ANSWER, questions=(CALL,))
ANSWERS_AND_SAYS = DeliveryReceived(SAID_MORE, questions=(CALL,))
EVENTS: dict[SessionInput, Way] = {
    IN.WAITS: (DeliveryReceived(NEXT),),
    IN.WANTED: (DeliveryReceived(NEXT), SessionWanted()),
    IN.EXTENDS: (DeliveryReceived(NEXT), *WANTED),
    IN.COPIES: (forkable, *WANTED),
    IN.PAST: (DeliveryReceived(UNDONE), *WANTED),
    IN.OPENS: (DeliveryReceived(replace(FIRST, withdrawn=True)), *WANTED),
    IN.FOUND: (SearchEnded("found", 1),),
    IN.KNOWS: (OPENED,),
    IN.FORGETS: (EMPTY,),
    IN.GOES_ON: (DeliveryReceived(NEXT),),
    IN.ANSWERS: (ANSWERS,),
    IN.ABANDONS: (DeliveryReceived(NEXT, questions=(CALL,)),),
    IN.CONTRADICTS: (DeliveryReceived(UNDONE),),
    IN.TOOLLESS: (DeliveryReceived(NEXT, offers_tools=False),),
    IN.VERIFIED: (DeliveryReceived(NEXT), OriginChecked(is_ours=True)),
    IN.READY: (DeliveryReceived(NEXT), PromptReady()),
    IN.SKIPPED: (DeliverySkipped(),),
    IN.LEFT: (SessionTaken(),),
    IN.TOLD: (DeliveryReceived(NEXT), PromptDue()),
    IN.TOLD_REWOUND: (DeliveryReceived(REWOUND), PromptDue()),
    IN.STOPPED: (TurnStopped(),),
    IN.CUT: (TurnCut(),),
    IN.TURN_FAILED: (TurnFailed(GONE),),
    IN.PAUSED: (TurnPaused(),),
    IN.ABORTED: (TurnAborted(),),
    IN.ANSWERED: (ResponseEnded(),),
    IN.LOST: (DeliveryReceived(NEXT, is_lost=True),),
    IN.BROKEN: (BROKE,),
    IN.FAILED: (SessionBroke(GONE),),
    IN.SUPERSEDED: (ChatSuperseded(has_own_process=True),),
    IN.SHARED: (ChatSuperseded(has_own_process=False),),
    IN.ENDED: (ConversationEnded(),),
}
"""Events of which the last means an input, in most states."""


def way_to(state: SessionState, what: SessionInput) -> Way:
    """Return the events that lead to a state, and then those of which the last means `what`."""
    way = WAYS[state]
    match state, what:
        case S.KEPT, IN.COPIES:
            return (*way, lambda: forkable(UNDONE), *WANTED)
        case S.SEARCHING, IN.COPIES:
            return (lambda: forkable(replace(NEXT, new_from=1)), *WANTED, SearchEnded())
        case S.SEARCHING, IN.OPENS:
            return (*way, SearchEnded())
        case ((S.KNOWING | S.FORK), IN.CONTRADICTS):
            return (*way, DeliveryReceived(OTHER))
        case S.FORK, IN.READY:
            return (*way, DeliveryReceived(NEXT), OriginChecked(is_ours=True), PromptReady())
        case ((S.AWAITING | S.REAWAITING), IN.TOLD):
            return (*way, ANSWERS, PromptDue())
        case ((S.RUNNING | S.RERUNNING), IN.OWES):
            return (*way, TurnPaused(), ANSWERS_AND_SAYS, PromptDue(), TurnStopped())
        case ((S.UNTOLD | S.KNOWING | S.FORK | S.RESUMED | S.BEGUN), IN.FAILED):
            return (*way, DeliverySkipped(), SessionBroke(GONE))
        case ((S.ABSENT | S.TAKEN | S.KEPT), IN.FAILED):
            return (*way, DeliveryReceived(NEXT), SessionWanted(), PreparationFailed(GONE))
        case _:
            return (*way, *EVENTS[what])


HELD = {*S} - {S.ABSENT, S.SEARCHING, S.OPENING, S.FORKING}
FREE = (ReleaseHandle("mine"),)
REPLACED = (S.ABSENT, (CloseSession(Why.WITHDRAWN),))
LEFT = (S.TAKEN, (CloseSession(Why.TAKEN),))
FAIL = FailTurn(1, GONE)
SEARCH = (SearchMemory(NEXT.transcript.path[:2]),)
OPEN = (OpenSession(FRESH),)
FORKED = (OpenSession(ForkOf("origin")),)
ANSWERED = plan(ANSWER, fresh=False, open_questions=(CALL,))
PROMPT = PromptAgent(NEXT.transcript.messages(2))
GIVEN = (BeginResponse(NEXT, is_in_step=True), PROMPT)
GIVEN_REWOUND = (BeginResponse(REWOUND, is_in_step=False), PROMPT)
BEGIN = (BeginTurn(1, "mine"),)
Done = tuple[SessionState, tuple[SessionEffect, ...]]


def at_rest(state: SessionState, kept: SessionState, known: int | None, begun: Done) -> None:
    EXPECTED.update(
        {
            (state, IN.GOES_ON): (state, (PreparePrompt(NEXT, known),)),
            (state, IN.READY): begun,
            (state, IN.SKIPPED): (state, ()),
            (state, IN.BROKEN): (kept, ()),
            (state, IN.FAILED): (kept, (FAIL,)),
            (state, IN.SUPERSEDED): (kept, (CloseSession(Why.SUPERSEDED),)),
            (state, IN.SHARED): (state, ()),
        }
    )
    if state is not S.UNTOLD:
        EXPECTED[state, IN.CONTRADICTS] = REPLACED
    if state not in {S.RESUMED, S.SETTLED}:
        EXPECTED[state, IN.LEFT] = LEFT
    if state in {S.SETTLED, S.UNSETTLED, S.REWOUND}:
        EXPECTED[state, IN.TOOLLESS] = (kept, (CloseSession(Why.TOOLS),))
        EXPECTED[state, IN.LOST] = (kept, (CloseSession(Why.LOST),))
        EXPECTED[state, IN.ANSWERED] = (state, ())
        EXPECTED[state, IN.ABORTED] = (state, ())


EXPECTED: dict[tuple[SessionState, SessionInput], Done] = {
    (S.KEPT, IN.EXTENDS): (S.RESUMING, (OpenSession(Resumed("mine")),)),
    (S.SEARCHING, IN.FOUND): (S.RECALLING, (OpenSession(Resumed("found")),)),
    (S.SEARCHING, IN.COPIES): (S.FORKING, FORKED),
    (S.SEARCHING, IN.OPENS): (S.OPENING, OPEN),
    (S.OPENING, IN.KNOWS): (S.UNTOLD, ()),
    (S.OPENING, IN.FORGETS): (S.UNTOLD, ()),
    (S.FORKING, IN.KNOWS): (S.FORK, ()),
    (S.FORKING, IN.FORGETS): (S.UNTOLD, ()),
    (S.RESUMING, IN.KNOWS): (S.RESUMED, ()),
    (S.RESUMING, IN.FORGETS): (S.UNTOLD, (ForgetHandle("mine", is_held=False),)),
    (S.RECALLING, IN.KNOWS): (S.KNOWING, ()),
    (S.RECALLING, IN.FORGETS): (S.UNTOLD, (ForgetHandle("mine", is_held=False),)),
    (S.UNTOLD, IN.TOLD): (S.RUNNING, (Introduce(1, Start.FRESH, Why.NEW, 0), *GIVEN)),
    (S.KNOWING, IN.TOLD): (S.RUNNING, (Introduce(1, Start.STORED, Why.NEW, 0), *GIVEN)),
    (S.BEGUN, IN.TOLD): (S.RUNNING, (Introduce(1, Start.RESUMED, Why.LOST, 0), *GIVEN)),
    (S.BEGUN, IN.TOLD_REWOUND): (
        S.RERUNNING,
        (Introduce(1, Start.RESUMED, Why.LOST, 0), *GIVEN_REWOUND),
    ),
    (S.UNSETTLED, IN.TOLD): (S.RUNNING, GIVEN),
    (S.UNSETTLED, IN.TOLD_REWOUND): (S.RERUNNING, GIVEN_REWOUND),
    (S.REWOUND, IN.TOLD): (S.RERUNNING, (BeginResponse(NEXT, is_in_step=False), PROMPT)),
    (S.REWOUND, IN.TOLD_REWOUND): (S.RERUNNING, GIVEN_REWOUND),
}
"""Every cell."""
for closed, free in ((S.ABSENT, ()), (S.TAKEN, FREE), (S.KEPT, FREE)):
    EXPECTED.update(
        {
            (closed, IN.WAITS): (closed, ()),
            (closed, IN.WANTED): (closed, (PrepareAgent(1),)),
            (closed, IN.COPIES): (S.FORKING, (*free, *FORKED)),
            (closed, IN.PAST): (S.SEARCHING, (*free, *SEARCH)),
            (closed, IN.OPENS): (S.OPENING, (*free, *OPEN)),
            (closed, IN.SKIPPED): (closed, ()),
            (closed, IN.BROKEN): (closed, ()),
            (closed, IN.FAILED): (closed, (FAIL,)),
        }
    )
for pending in (S.SEARCHING, S.OPENING, S.FORKING, S.RESUMING, S.RECALLING):
    again = S.KEPT if pending is S.RESUMING else S.ABSENT
    EXPECTED[pending, IN.SKIPPED] = (again, ())
    EXPECTED[pending, IN.FAILED] = (again, (FAIL,))
at_rest(S.UNTOLD, S.ABSENT, 0, (S.UNTOLD, BEGIN))
at_rest(S.KNOWING, S.ABSENT, 1, (S.KNOWING, BEGIN))
at_rest(S.FORK, S.ABSENT, 2, (S.KNOWING, BEGIN))
at_rest(S.RESUMED, S.KEPT, None, (S.BEGUN, BEGIN))
at_rest(S.BEGUN, S.ABSENT, None, (S.BEGUN, BEGIN))
at_rest(S.SETTLED, S.KEPT, None, (S.UNSETTLED, BEGIN))
at_rest(S.UNSETTLED, S.ABSENT, None, (S.UNSETTLED, BEGIN))
at_rest(S.REWOUND, S.ABSENT, None, (S.REWOUND, BEGIN))
EXPECTED[S.FORK, IN.GOES_ON] = (S.FORK, (CheckOrigin("origin"),))
EXPECTED[S.FORK, IN.VERIFIED] = (S.FORK, (PreparePrompt(NEXT, 2),))
EXPECTED[S.SETTLED, IN.ABORTED] = (S.UNSETTLED, ())
for running, rest, cut, awaiting in (
    (S.RUNNING, S.SETTLED, S.UNSETTLED, S.AWAITING),
    (S.RERUNNING, S.REWOUND, S.REWOUND, S.REAWAITING),
):
    in_step = running is S.RUNNING
    EXPECTED.update(
        {
            (running, IN.STOPPED): (rest, (EndResponse(is_settled=in_step),)),
            (running, IN.OWES): (running, (PromptAgent(SAID_MORE.transcript.messages(3)),)),
            (running, IN.CUT): (cut, (EndResponse(is_settled=False),)),
            (running, IN.TURN_FAILED): (cut, (FailResponse(GONE),)),
            (running, IN.PAUSED): (awaiting, (EndResponse(is_settled=False),)),
            (running, IN.ABORTED): (cut, (DrainTurn(),)),
            (running, IN.BROKEN): (S.ABSENT, ()),
            (running, IN.FAILED): (S.ABSENT, (FAIL,)),
            (awaiting, IN.ANSWERED): (awaiting, ()),
            (awaiting, IN.ANSWERS): (awaiting, (ContinueTurn(1),)),
            (awaiting, IN.SKIPPED): (awaiting, ()),
            (awaiting, IN.ABANDONS): (cut, (DrainFirst((), (), Settings()),)),
            (awaiting, IN.CONTRADICTS): REPLACED,
            (awaiting, IN.TOLD): (
                running,
                (BeginResponse(ANSWER, is_in_step=in_step), AnswerAgent(ANSWERED.answers)),
            ),
            (awaiting, IN.ABORTED): (cut, (DrainTurn(),)),
            (awaiting, IN.BROKEN): (S.ABSENT, ()),
            (awaiting, IN.FAILED): (S.ABSENT, (FAIL,)),
            (awaiting, IN.SUPERSEDED): (awaiting, ()),
            (awaiting, IN.SHARED): (awaiting, ()),
        }
    )
EXPECTED.update({(state, IN.ENDED): (S.ABSENT, FREE if state in HELD else ()) for state in S})


def test_the_table_has_these_cells_and_no_others() -> None:
    cells = {(state, what) for state, row in TRANSITIONS.items() for what in row}
    assert set(TRANSITIONS) == {*S}
    assert cells == {*EXPECTED, (S.SETTLED, IN.ANSWERED)}


@pytest.mark.parametrize(("state", "what"), EXPECTED)
def test_a_cell_of_the_table_does_what_is_written_here(
    state: SessionState, what: SessionInput
) -> None:
    then, effects = EXPECTED[state, what]
    *way, last = way_to(state, what)
    machine = after(*way)
    assert machine.state is state
    done = tuple(machine.apply(last() if callable(last) else last))
    if (state, what) == (S.SETTLED, IN.ANSWERED):
        (settled,) = done
        assert isinstance(settled, AllowForks)
        done = ()
    assert (machine.state, done) == (then, effects)


# What an input means.


@pytest.mark.parametrize("state", SessionState)
def test_an_event_that_can_t_come_is_an_error(state: SessionState) -> None:
    event = TurnPaused() if IN.PAUSED not in TRANSITIONS[state] else SessionWanted()
    with pytest.raises(AssertionError, match="can't come"):
        machine_in(state).apply(event)


@pytest.mark.parametrize(
    ("failure", "fails"), [(GONE, False), (internal(ValueError("broken")), True)]
)
def test_a_request_that_waits_gets_another_session_unless_the_error_is_ours(
    failure: Failure, fails: bool
) -> None:
    machine = after(*WAYS[S.SETTLED], DeliveryReceived(NEXT), PromptReady())
    assert machine.apply(SessionBroke(failure)) == ([FailTurn(1, failure)] if fails else [])
    assert (machine.waiting is None) is fails
    assert machine.why is Why.LOST


def test_a_session_that_breaks_as_it_is_closed_leaves_the_request_to_another() -> None:
    machine = after(*WAYS[S.SETTLED], DeliveryReceived(UNDONE))
    assert machine.state is S.ABSENT
    assert machine.apply(SessionBroke(GONE)) == []
    assert machine.waiting is UNDONE


def test_an_agent_that_cuts_its_turn_gets_what_came_meanwhile() -> None:
    machine = after(*WAYS[S.AWAITING], ANSWERS_AND_SAYS, PromptDue())
    assert machine.apply(TurnCut()) == [PromptAgent(SAID_MORE.transcript.messages(3))]
    assert machine.apply(TurnCut()) == [EndResponse(is_settled=False)]


def test_what_came_meanwhile_is_not_for_another_session() -> None:
    machine = after(*WAYS[S.AWAITING], ANSWERS_AND_SAYS, PromptDue(), BROKE)
    wanted = (DeliveryReceived(NEXT), *WANTED, SearchEnded(), EMPTY)
    assert take(machine, *wanted, *PROMPTS)[-1] == PROMPT


def test_a_kept_session_that_the_agent_forgot_is_not_kept_again() -> None:
    """The agent opened an empty session instead. It mustn't be resumed as if it knew the chat."""
    machine = machine_in(S.RESUMING)
    assert machine.apply(EMPTY) == [ForgetHandle("mine", is_held=False)]
    assert machine.apply(BROKE) == []
    assert take(machine, *WANTED) == [ReleaseHandle("new"), *SEARCH]


def test_a_session_that_is_empty_under_its_old_name_is_offered_to_nobody() -> None:
    machine = machine_in(S.RESUMING)
    effects = machine.apply(SessionOpened("mine", knows_history=False))
    assert effects == [ForgetHandle("mine", is_held=True)]
    assert (machine.state, machine.why) == (S.UNTOLD, Why.FORGOTTEN)


def test_a_forgotten_session_is_forked_no_more() -> None:
    machine = after(*WAYS[S.RUNNING], TurnStopped())
    (settled,) = machine.apply(ResponseEnded())
    assert isinstance(settled, AllowForks)
    head = settled.head
    assert head is not None
    take(machine, BROKE, DeliveryReceived(NEXT), *WANTED)
    assert head.is_current
    machine.apply(EMPTY)
    assert not head.is_current


def test_a_session_without_a_handle_is_not_opened_again() -> None:
    machine = after(*OPENING, SessionOpened(None, knows_history=False), *PROMPTS, TurnStopped())
    assert machine.apply(ResponseEnded()) == [AllowForks(None)]
    assert take(machine, BROKE, DeliveryReceived(NEXT), *WANTED) == [*SEARCH]


def test_the_memory_is_not_asked_for_a_session_that_was_just_taken() -> None:
    assert take(machine_in(S.TAKEN), *WANTED) == [ReleaseHandle("mine"), *OPEN]


@pytest.mark.parametrize("is_ours", [True, False])
def test_a_fork_of_a_session_that_went_on_is_not_used(is_ours: bool) -> None:
    origin = Head("origin")
    forked = DeliveryReceived(replace(NEXT, origin=origin))
    machine = after(forked, *WANTED, OPENED, DeliveryReceived(NEXT))
    origin.is_current = not is_ours
    why = Why.WITHDRAWN if is_ours else Why.TAKEN
    assert machine.apply(OriginChecked(is_ours)) == [CloseSession(why)]
    assert not origin.is_current


def test_a_fork_is_left_whose_origin_went_on_before_it_was_asked_for() -> None:
    origin = Head("origin")
    machine = after(DeliveryReceived(replace(NEXT, origin=origin)), *WANTED, OPENED)
    origin.is_current = False
    assert machine.apply(DeliveryReceived(NEXT)) == [CloseSession(Why.WITHDRAWN)]


@pytest.mark.parametrize(
    ("event", "why"),
    [
        (TurnDrained(is_lost=True, offers_tools=True), Why.LOST),
        (TurnDrained(is_lost=False, offers_tools=False), Why.TOOLS),
        (DeliveryReceived(NEXT, is_lost=True), Why.LOST),
    ],
)
def test_a_session_that_can_t_go_on_is_closed(event: SessionEvent, why: Why) -> None:
    assert machine_in(S.UNSETTLED).apply(event) == [CloseSession(why)]


def test_a_turn_that_was_left_is_drained_before_the_prompt() -> None:
    machine = machine_in(S.AWAITING)
    machine.apply(DeliveryReceived(NEXT, questions=(CALL,)))
    drained = TurnDrained(is_lost=False, offers_tools=True)
    assert machine.apply(drained) == [PreparePrompt(NEXT, None)]
    assert machine.state is S.UNSETTLED


@pytest.mark.parametrize("state", SessionState)
def test_a_session_is_open_from_when_it_was_opened_until_it_is_closed(state: SessionState) -> None:
    closed = {S.ABSENT, S.TAKEN, S.KEPT, S.SEARCHING, S.OPENING, S.FORKING, S.RESUMING, S.RECALLING}
    assert machine_in(state).is_open is (state not in closed)


def test_a_machine_is_freed_without_the_collector() -> None:
    """Full passes are rare (decision 0022), and each conversation has a machine."""
    gc.disable()
    try:
        machine = after(*OPENING)
        freed = weakref.ref(machine)
        del machine
        assert freed() is None
    finally:
        gc.enable()
