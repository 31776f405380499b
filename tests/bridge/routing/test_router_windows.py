"""Windows that ask at the same time stay apart."""

from __future__ import annotations

import attrs
from hypothesis import given
from hypothesis import strategies as st

from bridge.history.exchange import Extends
from bridge.history.machine import History, Phase
from bridge.history.message import Message
from bridge.routing.outcome import Joins, Opens, Reason, Tally
from bridge.routing.request import RequestSource
from bridge.wire import TextPart
from tests.bridge.desk import OTHER_AGENT, Desk
from tests.bridge.routing.chats import (
    A1,
    A2,
    ABSENT,
    OTHER,
    Q1,
    Q2,
    Q3,
)
from tests.strategies import assistant, user, words


def test_two_windows_with_equal_openings_stay_apart(desk: Desk) -> None:
    """The first implementation of this idea let the second cancel the first."""
    one, two = desk.opened(Q1), desk.opened(Q1)
    assert one != two
    assert desk.histories[one].phase is Phase.STREAMING
    desk.finish(two, "from two")
    desk.finish(one, "from one")
    assert desk.joined(Q1, assistant("from two"), Q2) == (two, Reason.EXTENDS)
    assert desk.joined(Q1, assistant("from one"), Q2) == (one, Reason.EXTENDS)


def test_two_windows_in_one_first_turn_do_not_notice_each_other(desk: Desk) -> None:
    one, two = desk.opened(Q1), desk.opened(OTHER)
    assert desk.histories[one].request == 1
    assert desk.histories[two].request == 2


def test_windows_with_equal_openings_and_equal_answers_both_go_on(desk: Desk) -> None:
    """Which is which can't be told, and doesn't matter: both were shown the same."""
    one, two = desk.opened(Q1), desk.opened(Q1)
    desk.finish(one, "a1")
    desk.finish(two, "a1")
    first, _ = desk.joined(Q1, A1, Q2)
    second, _ = desk.joined(Q1, A1, Q3)
    assert {first, second} == {one, two}


def test_agents_keep_their_conversations_apart(desk: Desk) -> None:
    one = desk.opened(Q1)
    desk.finish(one, "a1")
    two = desk.opened(Q1, A1, Q2, agent=OTHER_AGENT)
    desk.finish(two, "a2")
    assert desk.joined(Q1, A1, Q2) == (one, Reason.EXTENDS)
    assert desk.joined(Q1, A1, Q2, A2, Q3, agent=OTHER_AGENT) == (two, Reason.EXTENDS)


def test_a_utility_request_in_mid_turn_touches_nothing(desk: Desk) -> None:
    """Titles and commit messages come while the chat they are about streams."""
    chat = desk.opened(Q1)
    desk.finish(chat, "a1")
    desk.ask(Q1, A1, Q2)
    desk.emit(chat, TextPart("a"))
    title = desk.opened(user("Please write a brief title for: q1"))
    desk.finish(title, "A title")
    assert desk.histories[chat].phase is Phase.STREAMING
    desk.finish(chat, "2")
    assert desk.joined(Q1, A1, Q2, A2, Q3) == (chat, Reason.EXTENDS)


@attrs.define
class Window:
    """A faithful editor: it sends back what it was shown, and its next question."""

    record: tuple[Message, ...] = ()
    conversation: int = 0
    request: int = 0


@attrs.frozen
class Act:
    """A window asks; or, where its request is open, that ends so."""

    window: int
    question: str
    answer: str
    is_cancelled: bool


acts = st.lists(
    st.builds(Act, st.integers(0, 2), words, st.sampled_from(["", "a", "b", "ab"]), st.booleans()),
    min_size=10,
    max_size=40,
)


def settle(desk: Desk, window: Window, act: Act) -> None:
    end = desk.cancel if act.is_cancelled else desk.finish
    end(window.conversation, act.answer)
    if act.answer:
        window.record += (assistant(act.answer),)


def is_found_by_its_owner(history: History) -> bool:
    """Whether there is evidence of whose it is: more than a question that others may ask, too."""
    return history.is_acknowledged or history.phase is Phase.IDLE


def ask_and_check(desk: Desk, window: Window, question: str) -> None:
    known = list(window.record)
    incoming = (*known, user(question))
    shown = {key: history.shown for key, history in desk.histories.items()}
    answers = {key: history.answer for key, history in desk.histories.items()}
    twins = [
        key
        for key, history in desk.histories.items()
        if known and shown[key] == known and is_found_by_its_owner(history)
    ]
    key, outcome = desk.ask(*incoming)
    window.record, window.conversation = incoming, key
    window.request = int(desk.histories[key].request or 0)
    assert desk.histories[key].shown == [*incoming], "now it shows what the window shows"
    said = [*incoming[: outcome.match.new_from]]
    assert key in twins or not twins, "somebody has just this history, and was not found"
    match outcome:
        case Opens():
            pass
        case Joins(match=Extends() as match) if twins or not match.rules:
            assert shown[key] == said
            assert not match.rules, "a faithful echo needs none"
        case Joins(match=Extends(rules=rules)) if rules == ABSENT and shown[key][:-1] == said:
            assert shown[key][-1] == answers[key], "all but an answer cut short"
        case Joins(match=Extends()):
            ours = {m for m in said if m.role == "assistant"} & {*shown[key]}
            assert ours, "what differs is told by rules, and an answer proves it"
        case Joins(match=match):
            assert not match.rules
            assert shown[key][: match.new_from] == said


def let_windows_work(acts: list[Act]) -> Desk:
    desk = Desk()
    windows = [Window(), Window(), Window()]
    for act in acts:
        window = windows[act.window]
        history = desk.histories.get(window.conversation)
        if history is not None and history.request == window.request:
            settle(desk, window, act)
        else:
            ask_and_check(desk, window, act.question)
    asked = next(desk.requests) - 1
    assert desk.tally.classes.total() == desk.reasons.total() == asked
    assert desk.tally.misses[Reason.NEW] <= len(desk.histories) <= asked
    return desk


@given(acts)
def test_a_faithful_window_joins_only_what_shows_its_own_history(acts: list[Act]) -> None:
    """Windows that say the same may be taken for each other, but for nothing they did not say."""
    let_windows_work(acts)


@given(acts)
def test_windows_that_say_different_things_never_meet(acts: list[Act]) -> None:
    told_apart = [attrs.evolve(act, question=f"{act.window} {act.question}") for act in acts]
    desk = let_windows_work(told_apart)
    assert desk.tally.matches.keys() <= {Reason.EXTENDS.value}, "nobody is retried, none by a rule"
    assert len(desk.histories) == len({act.window for act in acts})


def test_a_session_that_was_found_though_no_conversation_was_is_counted_with_the_matches() -> None:
    tally = Tally()
    tally.count(Opens(Extends(2), Reason.NEW), RequestSource())
    tally.count_stored()
    assert tally.matches == {"stored": 1}
    assert tally.misses == {Reason.NEW: 1}
