"""The machine: every cell of its table, then the laws, whatever editor and agent do."""

from __future__ import annotations

import copy
from collections.abc import Callable

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from bridge.errors import Failure, LocalError
from bridge.history import message
from bridge.history.events import (
    Abort,
    Ask,
    Cancel,
    Close,
    Deliver,
    Effect,
    Emit,
    Fail,
    Finish,
    Forward,
    Input,
    Rejoin,
    Settle,
)
from bridge.history.exchange import (
    Diverges,
    Ending,
    Exchange,
    Extends,
    Match,
    Supersedes,
    exchanges_of,
)
from bridge.history.machine import TRANSITIONS, Cell, History, InputKind, Phase, Step
from bridge.history.message import Message
from bridge.history.rules import Rule
from bridge.routing.relate import exact
from bridge.routing.sketch import Sketch, recognise
from bridge.wire import RequestId, TextPart, ToolCallPart
from tests.strategies import (
    assistant,
    chunkings,
    histories,
    user,
    words,
)

IDLE, STREAMING, CLOSED = Phase.IDLE, Phase.STREAMING, Phase.CLOSED
BROKE = Failure("AgentFailed", "it fell over")


def text(value: str) -> list[TextPart]:
    return [TextPart(value)]


# Every cell.


def history_in(phase: Phase) -> History:
    """One exchange is committed; a second, of turn 2 and request 2, is open or was answered."""
    history = History()
    history.apply(Ask(1, (user("q1"),), Extends(0)))
    history.apply(Emit(1, text("a1")))
    history.apply(Finish(1))
    history.apply(Ask(2, (user("q1"), assistant("a1"), user("q2")), Extends(2)))
    history.apply(Emit(2, text("a2")))
    if phase is not STREAMING:
        history.apply(Finish(2))
    if phase is CLOSED:
        history.apply(Close())
    return history


def test_what_an_answer_is_compared_by_is_made_as_its_parts_come(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written: list[object] = []

    def counted(value: object) -> bytes:
        written.append(value)
        return b"{}"

    monkeypatch.setattr(message, "canonical_json", counted)
    history = History()
    history.apply(Ask(1, (user("q1"),), Extends(0)))
    for number in range(3):
        history.apply(Emit(1, [ToolCallPart(f"{number}-{n}", "look", {}) for n in range(10)]))
        assert len(written) == 10 * (number + 1)
        assert history.answer is not None
    history.apply(Finish(1))
    assert len(written) == 30


KNOWN = (user("q1"), assistant("a1"))
EXTENDS = Ask(3, (*KNOWN, user("q2"), assistant("a2"), user("q3")), Extends(4))
SUPERSEDES = Ask(3, (*KNOWN, user("other")), Supersedes(2))
REJOIN = Rejoin(3, text("a2"))

INPUTS: dict[InputKind, list[Input]] = {
    InputKind.EXTENDS: [EXTENDS],
    InputKind.SUPERSEDES: [SUPERSEDES],
    InputKind.REJOIN: [REJOIN],
    InputKind.CANCEL: [Cancel(2)],
    InputKind.EMIT: [Emit(2, text("more"))],
    InputKind.FINISH: [Finish(2)],
    InputKind.FAIL: [Fail(2, BROKE)],
    InputKind.CLOSE: [Close()],
    InputKind.STALE: [Cancel(1), Cancel("2"), Emit(1, text("late")), Finish(1), Fail(1, BROKE)],
}

EXPECTED: dict[Phase, dict[InputKind, tuple[Phase, list[Effect]] | type[Exception]]] = {
    IDLE: {
        InputKind.EXTENDS: (STREAMING, [Deliver(3, 4, withdrawn=False)]),
        InputKind.SUPERSEDES: (STREAMING, [Deliver(3, 2, withdrawn=True)]),
        InputKind.REJOIN: (IDLE, [Forward(3, text("a2")), Settle(3)]),
        InputKind.CANCEL: (IDLE, []),
        InputKind.EMIT: (IDLE, []),
        InputKind.FINISH: (IDLE, []),
        InputKind.FAIL: (IDLE, []),
        InputKind.CLOSE: (CLOSED, []),
        InputKind.STALE: (IDLE, []),
    },
    STREAMING: {
        InputKind.EXTENDS: (STREAMING, [Abort(2), Settle(2), Deliver(3, 4, withdrawn=False)]),
        InputKind.SUPERSEDES: (STREAMING, [Abort(2), Settle(2), Deliver(3, 2, withdrawn=True)]),
        InputKind.REJOIN: (STREAMING, [Settle(2), Forward(3, text("a2"))]),
        InputKind.CANCEL: (IDLE, [Abort(2), Settle(2)]),
        InputKind.EMIT: (STREAMING, [Forward(2, text("more"))]),
        InputKind.FINISH: (IDLE, [Settle(2)]),
        InputKind.FAIL: (IDLE, [Settle(2, BROKE)]),
        InputKind.CLOSE: (CLOSED, [Abort(2), Settle(2)]),
        InputKind.STALE: (STREAMING, []),
    },
    CLOSED: {
        InputKind.EXTENDS: LocalError,
        InputKind.SUPERSEDES: LocalError,
        InputKind.REJOIN: LocalError,
        InputKind.CANCEL: (CLOSED, []),
        InputKind.EMIT: (CLOSED, []),
        InputKind.FINISH: (CLOSED, []),
        InputKind.FAIL: (CLOSED, []),
        InputKind.CLOSE: (CLOSED, []),
        InputKind.STALE: (CLOSED, []),
    },
}

CELLS = [
    pytest.param(phase, event, EXPECTED[phase][kind], id=f"{phase.value}-{kind.value}-{number}")
    for phase in Phase
    for kind in InputKind
    for number, event in enumerate(INPUTS[kind])
]


@pytest.mark.parametrize(("phase", "event", "expected"), CELLS)
def test_a_cell_of_the_table_does_what_is_written_here(
    phase: Phase, event: Input, expected: tuple[Phase, list[Effect]] | type[Exception]
) -> None:
    history = history_in(phase)
    before = copy.deepcopy(history)
    if not isinstance(expected, tuple):
        with pytest.raises(expected):
            history.apply(event)
        assert history == before, "an illegal request changes nothing"
        return
    then, effects = expected
    assert history.apply(event) == effects
    assert history.phase is then
    if not effects and then is phase:
        assert history == before, "what has no effect leaves no mark either"


def test_the_machine_has_these_cells_and_no_others() -> None:
    cells = {(phase, kind) for phase, row in TRANSITIONS.items() for kind in row}
    assert cells == {(phase, kind) for phase in Phase for kind in InputKind}


def test_a_table_whose_steps_make_no_sense_fails_loudly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TRANSITIONS[IDLE], InputKind.CLOSE, Cell((Step.FORWARD,), CLOSED))
    with pytest.raises(AssertionError, match="FORWARD"):
        History().apply(Close())


# What is on record.


def settled(event: Callable[[History], Input], *parts: TextPart) -> History:
    history = History()
    history.apply(Ask(1, (user("q"),), Extends(0)))
    history.apply(Emit(1, parts))
    history.apply(event(history))
    return history


@pytest.mark.parametrize(
    ("event", "parts", "ending"),
    [
        (Finish(1), text("a"), Ending.COMPLETE),
        (Finish(1), [], Ending.EMPTY),
        (Cancel(1), text("a"), Ending.CANCELLED),
        (Cancel(1), [], Ending.CANCELLED),
        (Fail(1, BROKE), text("a"), Ending.FAILED),
        (Fail(1, BROKE), [], Ending.FAILED),
        (Close(), text("a"), Ending.CANCELLED),
    ],
)
def test_an_exchange_remembers_how_it_ended(
    event: Input, parts: list[TextPart], ending: Ending
) -> None:
    history = settled(lambda _: event, *parts)
    assert history.provisional is not None
    assert history.provisional.ending is ending
    assert history.answer == (assistant("a") if parts else None)
    assert history.request is None


def test_a_history_begins_with_nothing() -> None:
    history = History()
    assert (history.phase, history.turn, history.request) == (IDLE, 0, None)
    assert (history.shown, history.answer, history.committed) == ([], None, [])


def test_the_answer_grows_with_what_is_forwarded() -> None:
    history = History()
    history.apply(Ask(1, (user("q"),), Extends(0)))
    assert history.answer is None
    history.apply(Emit(1, text("a")))
    history.apply(Emit(1, text("b")))
    assert history.answer == assistant("ab")
    assert history.shown == [user("q"), assistant("ab")]


def test_a_conversation_may_begin_with_what_others_said() -> None:
    """After a reload, or with another model's chat, the first request has a history already."""
    history = History()
    incoming = (user("q1"), assistant("theirs"), user("q2"))
    assert history.apply(Ask(1, incoming, Extends(2))) == [Deliver(1, 2, withdrawn=False)]
    assert history.shown == list(incoming)
    assert history.committed_path == [*incoming[:2]]
    theirs = Exchange((user("q1"),), assistant("theirs"), Ending.COMPLETE)
    assert history.committed == [theirs], "an exchange like any of ours"


def test_a_branch_begins_with_what_its_origin_knows() -> None:
    """The host's account may be the poorer one: here an answer that was cut short is left out."""
    inherited = (Exchange((user("q1"),), assistant("a"), Ending.CANCELLED),)
    history = History()
    incoming = (user("q1"), user("q2"))
    effects = history.apply(Ask(1, incoming, Extends(1), inherited))
    assert effects == [Deliver(1, 1, withdrawn=False)]
    assert tuple(history.committed) == inherited
    assert history.committed_path == [user("q1")]
    assert history.shown == list(incoming)


def test_only_the_first_request_inherits() -> None:
    history = settled(lambda _: Finish(1), TextPart("a"))
    others = (Exchange((user("x"),), assistant("y"), Ending.COMPLETE),)
    history.apply(Ask(2, (user("q"), assistant("a"), user("r")), Extends(2), others))
    assert [exchange.asked for exchange in history.committed] == [(user("q"),)]


def test_what_was_said_stays_on_record_in_the_first_words() -> None:
    """The next request repeats the host's words; an alignment needs those that were said."""
    history = settled(lambda _: Finish(1), TextPart("see [app](src/app.py)"))
    incoming = (user("q in other words"), assistant("see app"), user("r"))
    history.apply(Ask(2, incoming, Extends(2, frozenset({Rule.LINKS_REWRITTEN}))))
    said = Exchange((user("q"),), assistant("see [app](src/app.py)"), Ending.COMPLETE)
    assert history.committed == [said]
    assert history.committed_path == list(incoming[:2])
    assert history.shown == list(incoming)


def test_what_is_superseded_is_on_no_record_and_what_stays_is_in_the_hosts_words() -> None:
    history = history_in(IDLE)
    history.apply(Ask(3, (user("q1 anew"), assistant("a1"), user("r")), Supersedes(2)))
    said = Exchange((user("q1"),), assistant("a1"), Ending.COMPLETE)
    assert history.committed == [said]
    assert history.committed_path == [user("q1 anew"), assistant("a1")]


def test_a_repeat_changes_whom_the_turn_answers_and_nothing_on_record() -> None:
    history = history_in(STREAMING)
    before = (history.turn, history.shown, history.exchanges)
    history.apply(REJOIN)
    assert (history.turn, history.shown, history.exchanges) == before
    assert history.apply(Emit(2, text("!"))) == [Forward(3, text("!"))]
    assert history.apply(Finish(2)) == [Settle(3)]
    assert history.answer == assistant("a2!")


def test_a_repeat_of_which_nothing_was_sent_yet_is_sent_nothing() -> None:
    assert history_in(STREAMING).apply(Rejoin(3, [])) == [Settle(2)]


def test_an_answer_that_tells_a_failure_resolves_its_request_and_is_complete() -> None:
    history = history_in(STREAMING)
    assert history.apply(Finish(2, BROKE)) == [Settle(2, told=BROKE)]
    assert history.exchanges[-1].ending is Ending.COMPLETE


@pytest.mark.parametrize(
    ("path", "expected"),
    [((), False), ((user("q"),), False), ((user("q"), assistant("a")), True)],
)
def test_an_answer_that_was_built_upon_is_acknowledged(
    path: tuple[Message, ...], expected: bool
) -> None:
    history = History()
    history.apply(Ask(1, (*path, user("r")), Extends(len(path))))
    assert history.is_acknowledged is expected


def test_committed_exchanges_keep_question_answer_and_ending() -> None:
    history = settled(lambda _: Cancel(1), TextPart("a"))
    history.apply(Ask(2, (user("q"), assistant("a"), user("r")), Extends(2)))
    (exchange,) = history.committed
    assert (exchange.asked, exchange.answer) == ((user("q"),), assistant("a"))
    assert exchange.ending is Ending.CANCELLED


def test_an_answer_that_did_not_come_back_is_not_what_the_editor_shows() -> None:
    history = settled(lambda _: Cancel(1), TextPart("a"))
    history.apply(Ask(2, (user("q"), user("r")), Extends(1, frozenset({Rule.ANSWER_ABSENT}))))
    assert history.committed_path == [user("q")]
    assert history.shown == [user("q"), user("r")]
    said = Exchange((user("q"),), assistant("a"), Ending.CANCELLED)
    assert history.committed == [said], "but it was said, and may come back"


@given(st.data())
def test_how_an_answer_was_cut_never_shows(data: st.DataObject) -> None:
    """Law 1, through the machine."""
    said = data.draw(st.text(min_size=1))
    history = History()
    history.apply(Ask(1, (user("q"),), Extends(0)))
    for piece in data.draw(chunkings(said)):
        history.apply(Emit(1, text(piece)))
    history.apply(Finish(1))
    assert history.shown == [user("q"), assistant(said)]


@given(histories(), st.sampled_from([EXTENDS, SUPERSEDES, REJOIN]))
def test_a_closed_history_takes_no_request_whatever_was_before(
    history: History, ask: Ask | Rejoin
) -> None:
    history.apply(Close())
    before = copy.deepcopy(history)
    with pytest.raises(LocalError, match="3"):
        history.apply(ask)
    assert history == before


# The laws, with everything happening at any time.


@attrs.define
class Seen:
    """What the editor saw of one request."""

    shown: str = ""
    settled: int = 0


class Chat(RuleBasedStateMachine):
    """An editor that echoes, replies, edits, retries, cancels and forgets; an agent that is late.

    `record` is what the editor holds without the newest answer, whose text is in `requests`.
    """

    def __init__(self) -> None:
        super().__init__()
        self.history = History()
        self.record: tuple[Message, ...] = ()
        self.requests: dict[RequestId, Seen] = {}
        self.open: RequestId | None = None
        self.ending = ""
        self.committed: list[Message] = []

    # The editor.

    @property
    def answer(self) -> tuple[Message, ...]:
        shown = self.requests[len(self.requests)].shown if self.requests else ""
        return (assistant(shown),) if shown else ()

    @property
    def is_acknowledged(self) -> bool:
        return any(message.role == "assistant" for message in self.committed)

    def ask(self, incoming: tuple[Message, ...], expected: Match) -> None:
        assert exact(self.history, incoming) == expected
        request = len(self.requests) + 1
        turn, open_before, length = self.history.turn, self.open, len(self.history.committed)
        self.requests[request] = Seen()
        self.record = incoming
        effects = self.history.apply(Ask(request, incoming, expected))
        deliver = effects.pop()
        withdrawn = isinstance(expected, Supersedes)
        assert deliver == Deliver(turn + 1, expected.new_from, withdrawn)
        self.perform(effects)
        if open_before is not None:
            assert effects == [Abort(turn), Settle(open_before)]
        self.open = request
        # Law 4: what is committed only grows, and only here.
        assert self.history.committed_path[: len(self.committed)] == self.committed
        if withdrawn:
            assert self.history.committed_path == self.committed
            assert len(self.history.committed) == length
        self.committed = list(self.history.committed_path)

    @precondition(lambda self: self.open is None or self.is_acknowledged or bool(self.answer))
    @rule(words=words)
    def reply(self, words: str) -> None:
        """Law 8: an editor that echoes faithfully is never told it superseded anything."""
        known = (*self.record, *self.answer)
        self.ask((*known, user(words)), Extends(len(known)))

    @precondition(
        lambda self: self.open is not None and not self.is_acknowledged and not self.answer
    )
    @rule(words=words)
    def reply_before_anything_was_answered(self, words: str) -> None:
        """Nothing shows that this is the same window."""
        assert exact(self.history, (*self.record, user(words))) is None

    @precondition(lambda self: bool(self.requests))
    @rule(words=words)
    def edit(self, words: str) -> None:
        """What was acknowledged is evidence; a complete answer becomes another branch's."""
        incoming = (*self.committed, user(words + "!"))
        if not self.is_acknowledged:
            assert exact(self.history, incoming) is None
        else:
            self.take_back(incoming, again=False)

    @precondition(lambda self: bool(self.requests))
    @rule()
    def retry(self) -> None:
        if self.is_acknowledged or self.open is None:
            self.take_back(self.record, again=True)
        else:
            assert exact(self.history, self.record) is None

    def take_back(self, incoming: tuple[Message, ...], *, again: bool) -> None:
        base = len(self.committed)
        if self.open is None and self.ending == "finished":
            branch = Diverges(len(self.history.committed), base, again)
            assert exact(self.history, incoming) == branch
        else:
            self.ask(incoming, Supersedes(base))

    @precondition(lambda self: bool(self.requests))
    @rule()
    def repeat(self) -> None:
        """The host sends the newest request again by itself: the new one is shown everything."""
        turn, newest = self.history.turn, self.requests[len(self.requests)]
        request, was_open = len(self.requests) + 1, self.open
        self.requests[request] = Seen()
        parts = text(newest.shown) if newest.shown else []
        effects = self.history.apply(Rejoin(request, parts))
        if was_open is not None:
            assert effects[0] == Settle(was_open)
            self.perform(effects[:1])
        self.open = request
        self.perform(effects if was_open is None else effects[1:])
        assert self.requests[request].shown == newest.shown
        assert self.history.turn == turn

    @precondition(
        lambda self: bool(self.requests) and self.open is None and self.ending != "finished"
    )
    @rule(words=words)
    def forget_an_answer_that_was_cut_short(self, words: str) -> None:
        rules = frozenset({Rule.ANSWER_ABSENT} if self.answer else ())
        self.ask((*self.record, user(words)), Extends(len(self.record), rules))

    @precondition(lambda self: self.open is not None)
    @rule()
    def cancel(self) -> None:
        assert self.open is not None
        effects = self.history.apply(Cancel(self.open))
        assert effects == [Abort(self.history.turn), Settle(self.open)]
        self.perform(effects)
        self.ending = "cancelled"

    @precondition(lambda self: bool(self.requests))
    @rule(data=st.data())
    def cancel_late(self, data: st.DataObject) -> None:
        request = data.draw(st.sampled_from([*self.requests, 0, "1"]))
        if request != self.open:
            assert self.history.apply(Cancel(request)) == []

    # The agent.

    @rule(late=st.integers(0, 2), data=st.data())
    def emit(self, late: int, data: st.DataObject) -> None:
        pieces = [TextPart(piece) for piece in data.draw(chunkings(data.draw(words)))]
        effects = self.history.apply(Emit(self.history.turn - late, pieces))
        if late or self.open is None:
            assert effects == []
        else:
            assert effects == [Forward(self.open, pieces)]
        self.perform(effects)

    @rule(late=st.integers(0, 2))
    def finish(self, late: int) -> None:
        effects = self.history.apply(Finish(self.history.turn - late))
        if late or self.open is None:
            assert effects == []
            return
        assert effects == [Settle(self.open)]
        self.ending = "finished" if self.answer else "empty"
        self.perform(effects)

    @rule(late=st.integers(0, 2))
    def fail(self, late: int) -> None:
        effects = self.history.apply(Fail(self.history.turn - late, BROKE))
        if late or self.open is None:
            assert effects == []
            return
        assert effects == [Settle(self.open, BROKE)]
        self.ending = "failed"
        self.perform(effects)

    def perform(self, effects: list[Effect]) -> None:
        for effect in effects:
            match effect:
                case Forward(request=request, parts=parts):
                    # Law 6: nothing is forwarded to a settled request.
                    assert request == self.open
                    for part in parts:
                        assert isinstance(part, TextPart)
                        self.requests[request].shown += part.value
                case Settle(request=request):
                    self.requests[request].settled += 1
                    self.open = None
                case _:
                    pass

    # At any time.

    @invariant()
    def requests_are_settled_exactly_once_and_at_most_one_is_open(self) -> None:
        """Law 5."""
        assert self.history.request == self.open
        for request, seen in self.requests.items():
            assert seen.settled == (0 if request == self.open else 1)

    @invariant()
    def nothing_but_a_request_commits(self) -> None:
        """Law 4, the other half."""
        assert self.history.committed_path == self.committed

    @invariant()
    def the_record_is_what_the_editor_was_shown(self) -> None:
        """Law 7."""
        assert self.history.shown == [*self.record, *self.answer]


def test_the_laws_hold_whatever_editor_and_agent_do() -> None:
    """A run is forty steps, so a third of the usual examples is plenty."""
    runs = max(10, settings().max_examples // 3)
    run_state_machine_as_test(Chat, settings=settings(max_examples=runs, stateful_step_count=40))


# As it is told again.


@given(histories())
def test_the_record_is_recognised_in_what_was_shown(history: History) -> None:
    sketch = Sketch.of(history.record)
    if sketch is not None:
        assert recognise(sketch.steps, history.shown) == len(history.shown)


def test_what_the_editor_told_in_quite_other_words_is_told_so_again() -> None:
    """The record of what was said stays: our own words in it are looked up there."""
    history = asked_and_answered()
    summary = user("<conversation-summary>\nThey greeted.\n</conversation-summary>")
    rules = frozenset({Rule.SUMMARY})
    history.apply(Ask(2, (summary, user("go on")), Extends(1, rules)))
    said = history.committed[0]
    assert (history.committed, history.retold) == ([said], exchanges_of([summary]))
    history.apply(Emit(history.turn, [TextPart("well")]))
    history.apply(Finish(history.turn))
    newest = Exchange((user("go on"),), assistant("well"), Ending.COMPLETE)
    assert history.record == [*exchanges_of([summary]), newest]
    again = (*history.shown, user("and?"))
    history.apply(Ask(3, again, Extends(3, frozenset({Rule.PREAMBLE}))))
    assert history.retold == [*exchanges_of([summary]), newest]
    assert history.committed == [said, newest]


def test_what_is_withdrawn_may_come_with_other_words_too() -> None:
    history = asked_and_answered()
    summary = user("<conversation-summary>\nNothing.\n</conversation-summary>")
    history.apply(Ask(2, (summary, user("rather")), Supersedes(1, frozenset({Rule.SUMMARY}))))
    assert history.retold == exchanges_of([summary])
    assert history.committed == []


def asked_and_answered() -> History:
    history = History()
    history.apply(Ask(1, (user("hello"),), Extends(0)))
    history.apply(Emit(history.turn, [TextPart("hello")]))
    history.apply(Finish(history.turn))
    return history
