"""What follows from each event: who is answered, who ends, and what is remembered.

Whose a request is, is tested in routing/test_router*.py.
"""

from __future__ import annotations

import pytest

from bridge.chats import REPEATED
from bridge.history.events import Abort, Fail, Forward, Settle
from bridge.history.message import Message
from bridge.routing.chat_events import (
    NOBODY,
    Broke,
    Cancelled,
    Closed,
    Ended,
    Expired,
    Leaving,
    LeftBehind,
    MemoryLimited,
    Opened,
    Refused,
    Remember,
    Routed,
    Said,
    SessionRecalled,
    TurnEnded,
)
from bridge.routing.damper import MOST_BAD, MOST_GOOD
from bridge.routing.outcome import Opens, Reason
from bridge.routing.repeats import FAILED_SECONDS
from bridge.routing.request import Hints, RequestClass
from bridge.wire import OwnTextPart, TextPart, ToolCallPart, ToolResultPart
from tests.bridge.desk import BROKE, OTHER_AGENT, Desk
from tests.strategies import assistant, user

HOST = Hints(session="s")
Q1, Q2, OTHER = user("q1"), user("q2"), user("other")
A1 = assistant("a1")


@pytest.fixture
def desk() -> Desk:
    return Desk()


def _odd(*_: object) -> None:
    raise ZeroDivisionError


def kinds(desk: Desk) -> list[tuple[int, str]]:
    return [(key, type(effect).__name__) for key, effect in desk.effects]


# One request.


def test_a_request_opens_a_conversation_is_delivered_and_answered(desk: Desk) -> None:
    request = desk.request(Q1)
    assert kinds(desk) == [(1, "Opened"), (1, "Routed"), (1, "Deliver")]
    assert desk.chats.conversation_of(request) == 1
    part = TextPart("a1")
    assert desk.tell(Said(1, 1, [part])) == [(1, Forward(request, [part]))]
    desk.tell(Ended(1, 1))
    assert kinds(desk) == [(1, "TurnEnded"), (1, "Settle")]
    assert desk.chats.conversation_of(request) is None
    assert (len(desk.chats), 1 in desk.chats, 2 in desk.chats) == (1, True, False)


def test_nothing_follows_from_what_is_about_no_conversation_or_an_older_turn(desk: Desk) -> None:
    desk.request(Q1)
    for event in (
        Said(2, 1, [TextPart("x")]),
        Said(1, 0, [TextPart("x")]),
        Said(1, 1, []),
        Ended(1, 0),
        Ended(2, 1),
        Cancelled(7),
        Expired(2),
        Broke(BROKE, 2),
    ):
        assert desk.tell(event) == []


def test_a_request_that_supersedes_settles_the_older_one(desk: Desk) -> None:
    desk.finish(desk.opened(Q1), "a1")
    older = desk.request(Q1, A1, Q2)
    newer = desk.request(Q1, A1, OTHER)
    assert kinds(desk) == [(1, "Routed"), (1, "Abort"), (1, "Settle"), (1, "Deliver")]
    assert [one.request for _, one in desk.effects if isinstance(one, Settle)] == [older]
    assert [one.request for _, one in desk.effects if isinstance(one, Routed)] == [newer]


# What is remembered of a turn that ended.


@pytest.mark.parametrize(
    ("answer", "handle", "turn", "is_remembered"),
    [("a1", "s", 1, True), ("a1", None, 1, False), ("a1", "s", 0, False), ("", "s", 1, False)],
    ids=["settled", "no handle", "an older turn", "no answer"],
)
def test_what_is_remembered_is_what_the_user_was_shown(
    desk: Desk, answer: str, handle: str | None, turn: int, is_remembered: bool
) -> None:
    desk.request(user("q0"), assistant("a0"), Q1)
    desk.tell(Ended(1, turn, [TextPart(answer)] if answer else [], handle))
    records = [one.record for _, one in desk.effects if isinstance(one, Remember)]
    assert bool(records) is is_remembered
    for record in records:
        assert [(*one.asked, one.answer) for one in record] == [
            (user("q0"), assistant("a0")),
            (Q1, A1),
        ]


def test_of_a_turn_that_was_cancelled_meanwhile_nothing_is_remembered(desk: Desk) -> None:
    request = desk.request(Q1)
    desk.tell(Said(1, 1, [TextPart("a1")]))
    desk.tell(Cancelled(request))
    assert desk.tell(Ended(1, 1, handle="s")) == []


# Repeats.


def test_a_storm_after_bad_answers_is_refused_and_passes() -> None:
    desk = Desk(apart=0.0)
    for _ in range(1 + MOST_BAD):
        desk.request(Q1)
        desk.fail(1)
    request = desk.request(Q1)
    assert desk.effects == [(NOBODY, Refused(request, REPEATED))]
    assert sum(desk.tally.classes.values()) == 1 + MOST_BAD
    desk.now += 100
    desk.request(Q1)
    assert (1, "Deliver") in kinds(desk)


def test_strangers_who_say_the_same_make_no_storm() -> None:
    desk = Desk(apart=0.0, among_strangers=True)
    key, _ = desk.ask(Q1)
    desk.finish(key, "a1")
    for _ in range(1 + MOST_GOOD):
        key, _ = desk.ask(Q1)
        desk.finish(key, "a1")
    assert (key, "Deliver") in kinds(desk) or (key, "TurnEnded") in kinds(desk)


def test_a_stranger_takes_nobodys_place() -> None:
    desk = Desk(among_strangers=True)
    desk.finish(desk.opened(Q1), "a1")
    desk.request(Q1, A1, Q2)
    key, outcome = desk.ask(Q1, A1, Q2)
    assert (key, outcome.reason) == (2, Reason.UNPROVEN)
    assert "Settle" not in [name for _, name in kinds(desk)]
    desk.finish(1, "a2")
    assert desk.joined(Q1, A1, Q2, assistant("a2"), Q1) == (1, Reason.EXTENDS)


def test_after_good_answers_more_repeats_are_answered() -> None:
    desk = Desk(apart=0.0)
    for _ in range(1 + MOST_GOOD):
        key, _ = desk.ask(Q1)
        desk.finish(key, "a1")
    desk.request(Q1)
    assert [name for _, name in kinds(desk)] == ["Refused"]


def test_a_repeat_by_the_host_gets_what_was_sent_and_then_the_rest() -> None:
    desk = Desk(apart=0.0)
    older = desk.request(Q1, hints=HOST)
    desk.emit(1, TextPart("a"))
    newer = desk.request(Q1, hints=HOST)
    routed, *rest = desk.effects
    assert isinstance(routed[1], Routed)
    assert (routed[1].turn, routed[1].outcome.reason) == (1, Reason.REPEAT)
    assert rest == [(1, Settle(older)), (1, Forward(newer, [TextPart("a")]))]
    assert desk.tell(Ended(1, 1, [TextPart("1")]))[0] == (1, Forward(newer, [TextPart("1")]))
    newest = desk.request(Q1, hints=HOST)
    assert desk.effects[1:] == [(1, Forward(newest, [TextPart("a1")])), (1, Settle(newest))]
    assert desk.chats.conversation_of(newest) is None
    assert desk.histories[1].shown == [Q1, A1]


def test_a_repeat_of_what_an_unexpected_error_ended_gets_that_error() -> None:
    desk = Desk(apart=0.0)
    desk.request(Q1, hints=HOST)
    desk.request(Q2)
    for key in (1, 2):
        desk.tell(Broke(BROKE, key))
    repeat = desk.request(Q1, hints=HOST)
    assert desk.effects == [(NOBODY, Refused(repeat, BROKE))]
    desk.opened(Q2)  # of a host that repeats nothing by itself
    desk.now += FAILED_SECONDS
    desk.finish(desk.opened(Q1, hints=HOST), "a1")
    desk.tell(Broke(BROKE, 4))  # the answer was given before
    desk.opened(Q1, hints=HOST)


def test_equal_chats_of_a_host_are_damped_each_for_itself() -> None:
    desk = Desk(apart=0.0)
    for hints in (HOST, Hints(session="t")):
        key = desk.opened(Q1, hints=hints)
        for _ in range(MOST_BAD):
            desk.cancel(key)
            assert desk.joined(Q1, hints=hints) == (key, Reason.RETRY)
        desk.cancel(key)
    request = desk.request(Q1, hints=HOST)
    assert desk.effects == [(NOBODY, Refused(request, REPEATED))]


# Branches.


def test_a_branch_may_begin_with_the_session_that_knows_no_more(desk: Desk) -> None:
    desk.finish(desk.opened(Q1), "a1")
    desk.ask(Q1, A1, Q2)
    desk.finish(1, "a2")
    desk.request(Q1, A1, OTHER)
    assert (2, Opened(RequestClass.MAIN)) in desk.effects, "that of 1 knows more"
    assert (1, LeftBehind()) in desk.effects
    desk.finish(2, "b2")
    desk.request(Q1, A1, OTHER)
    assert (3, Opened(RequestClass.MAIN)) in desk.effects
    desk.finish(3, "b2")
    assert [one.answer for one in desk[3].history.exchanges] == [A1, assistant("b2")]


# Room.


def test_the_least_recently_used_of_the_same_agent_gives_way() -> None:
    desk = Desk(max_sessions=2)
    for agent in (b"a", b"a", OTHER_AGENT, b"a"):
        key, _ = desk.ask(user(f"q{len(desk.histories)}"), agent=agent)
        closed = [(one, effect) for one, effect in desk.effects if isinstance(effect, Closed)]
        desk.finish(key, "a")
    assert closed == [(1, Closed("least-recently-used"))]
    assert 1 not in desk.chats


def test_who_waited_longest_for_the_user_gives_way_and_is_told_why() -> None:
    desk = Desk(max_sessions=1)
    desk.request(Q1)
    call = ToolCallPart("c1", "read", {})
    desk.tell(Said(1, 1, [call]))
    desk.tell(Ended(1, 1))
    desk.request(OTHER)
    assert (1, Closed("waited-longest", is_newest=True)) in desk.effects
    desk.tell(Ended(2, 1, [TextPart("a")]))
    desk.request(Q1, Message.of("assistant", [call]), Message.of("user", [ToolResultPart("c1")]))
    ((key, told),) = [(key, one) for key, one in desk.effects if isinstance(one, Forward)]
    assert key == 3
    assert isinstance(told.parts[0], OwnTextPart)
    assert "sessions with one agent are the limit" in told.parts[0].value


def test_what_is_asked_beside_a_chat_ends_no_chat_that_waits_for_its_user() -> None:
    desk = Desk(max_sessions=1)
    desk.request(Q1)
    desk.tell(Said(1, 1, [ToolCallPart("c1", "read", {})]))
    desk.tell(Ended(1, 1))
    desk.request(OTHER, request_class=RequestClass.UTILITY)
    assert 1 in desk.chats
    desk.tell(Ended(2, 1, [TextPart("a title")]))
    assert (2, Closed("answered", is_newest=True)) in desk.effects


def test_chats_that_are_too_large_together_end_but_for_the_newest(desk: Desk) -> None:
    desk.tell(MemoryLimited(100))
    for number, size in enumerate((40, 40, 900)):
        desk.request(user(f"q{number}"), size=size)
        desk.tell(Ended(number + 1, 1, [TextPart("a")]))
    assert [key in desk.chats for key in (1, 2, 3)] == [False, True, True]


def test_the_limit_of_memory_can_be_read(desk: Desk) -> None:
    assert desk.tell(MemoryLimited(100)) == []
    assert desk.chats.most_bytes == 100


def test_a_recalled_session_is_counted_and_nothing_else(desk: Desk) -> None:
    key = desk.opened(Q1)
    assert desk.tell(SessionRecalled()) == []
    assert desk.tally.matches == {"stored": 1}
    assert key in desk.chats


# The end.


def test_an_idle_conversation_ends_and_a_busy_one_does_not(desk: Desk) -> None:
    key = desk.opened(Q1)
    assert desk.tell(Expired(key)) == []
    desk.finish(key, "a1")
    assert desk.tell(Expired(key)) == [(key, Closed("idle", is_newest=True))]


def test_leaving_settles_and_closes_everything_and_what_comes_then(desk: Desk) -> None:
    first = desk.request(Q1)
    desk.tell(Leaving())
    assert desk.effects == [
        (1, Abort(1)),
        (1, Settle(first)),
        (1, Closed("leaving", is_newest=True)),
    ]
    late = desk.request(Q2)
    assert desk.effects == [(NOBODY, Settle(late))]


@pytest.mark.parametrize("by_request", [False, True])
def test_an_unexpected_error_ends_one_conversation(desk: Desk, by_request: bool) -> None:
    request = desk.request(Q1)
    other = desk.opened(OTHER)
    broke = Broke(BROKE, request=request) if by_request else Broke(BROKE, 1)
    assert desk.tell(broke) == [(1, Settle(request, BROKE)), (1, Abort(1)), (1, Closed("internal"))]
    assert other in desk.chats
    assert desk.tell(Broke(BROKE, request=request)) == [(NOBODY, Settle(request, BROKE))]


def test_of_what_an_error_interrupts_only_answers_are_still_given(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.finish(desk.opened(Q1), "a1")
    older = desk.request(Q1, A1, Q2)
    with monkeypatch.context() as broken:
        broken.setattr("bridge.routing.index.Index.place", _odd)
        with pytest.raises(ZeroDivisionError):
            desk.request(Q1, A1, OTHER)
    desk.tell(Broke(BROKE, request=3))
    assert desk.effects == [
        (1, Settle(older)),
        (1, Settle(3, BROKE)),
        (1, Abort(3)),
        (1, Closed("internal")),
    ]
    assert isinstance(desk.route(Q1), Opens)
    assert desk.ask(Q1)[1].reason is Reason.NEW


def test_how_a_turn_ended_is_told(desk: Desk) -> None:
    desk.fail(desk.opened(Q1))
    assert (1, TurnEnded(1, Fail(1, BROKE))) in desk.effects
