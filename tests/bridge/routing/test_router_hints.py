"""What the host's ids and our markers decide, and what they do not."""

from __future__ import annotations

import pytest

from bridge.history.exchange import Extends
from bridge.history.message import Message
from bridge.routing.outcome import Candidate, Joins, Opens, Reason
from bridge.routing.request import Hints
from bridge.wire import DataPart, TextPart
from tests.bridge.desk import Desk
from tests.bridge.routing.chats import (
    A1,
    A2,
    ABSENT,
    CALL,
    CALLED,
    HERE,
    OTHER,
    Q1,
    Q2,
    Q3,
    REQUEST_ONLY,
    RESULT,
    THERE,
    answered,
    asks_for,
)
from tests.strategies import assistant


@pytest.mark.parametrize("hints", [HERE, THERE])
def test_of_two_that_fit_equally_the_host_decides(desk: Desk, hints: Hints) -> None:
    keys = {h: desk.opened(Q1, hints=h) for h in (HERE, THERE)}
    for key in keys.values():
        desk.finish(key, "a1")
    assert desk.joined(Q1, A1, Q2, hints=hints) == (keys[hints], Reason.EXTENDS)


@pytest.mark.parametrize("first", [HERE, Hints()])
@pytest.mark.parametrize("second", [HERE, Hints()])
def test_of_two_that_may_be_it_the_one_that_the_host_names_goes_on(
    desk: Desk, first: Hints, second: Hints
) -> None:
    """Who has no id yet isn't ruled out, but comes after; of equals the most recent goes on."""
    one, two = desk.opened(Q1, hints=first), desk.opened(Q1, hints=second)
    desk.finish(one, "a1")
    desk.finish(two, "a1")
    expected = one if (first, second) == (HERE, Hints()) else two
    assert desk.joined(Q1, A1, Q2, hints=HERE) == (expected, Reason.EXTENDS)


def test_a_contrary_id_rules_out_whatever_fits(desk: Desk) -> None:
    key = answered(desk, Q1, A1, Q2, A2, hints=HERE)
    for incoming in [(Q1, A1, Q2, A2, Q3), (Q1, A1, Q2), (Q1, A1, OTHER), (Q1,)]:
        assert desk.route(*incoming, hints=THERE).reason is Reason.NEW
        assert desk.route(*incoming).reason is not Reason.NEW, "no id is no contrary id"
    assert desk.histories[key].shown == [Q1, A1, Q2, A2]


def test_results_of_a_call_weigh_more_than_a_contrary_id(desk: Desk) -> None:
    key = desk.opened(Q1, hints=HERE)
    desk.emit(key, CALL)
    desk.finish(key)
    assert desk.joined(Q1, CALLED, RESULT, hints=THERE) == (key, Reason.PENDING_CALL)


def test_an_id_alone_proves_nothing(desk: Desk) -> None:
    """Forks, sub-agents and summaries have the id of their chat."""
    key = answered(desk, Q1, A1, Q2, A2, hints=HERE)
    for incoming in [(OTHER,), (OTHER, assistant("x"), Q2), (Q3, A1, Q3)]:
        assert isinstance(desk.route(*incoming, hints=HERE), Opens)
    assert desk.histories[key].shown == [Q1, A1, Q2, A2]


def test_an_id_and_what_was_typed_are_enough(desk: Desk) -> None:
    """Here the host dropped the only answer, which was cut short, and rendered the question."""
    key = desk.opened(asks_for("q1"), hints=HERE)
    desk.cancel(key, "a1")
    _, outcome = desk.ask(Q1, Q2, hints=HERE)
    assert outcome == Joins(key, Extends(1, ABSENT | REQUEST_ONLY), Reason.TOLERANT)


def test_what_was_typed_is_not_enough_without_an_id(desk: Desk) -> None:
    key = desk.opened(asks_for("q1"))
    desk.cancel(key, "a1")
    assert isinstance(desk.route(Q1, Q2), Opens)
    assert desk.histories[key].shown == [asks_for("q1"), A1]


def marked(text: str, token: str) -> Message:
    return Message.of("assistant", [TextPart(text), DataPart("stateful_marker", token.encode())])


@pytest.mark.parametrize("number", [0, 1])
def test_of_two_that_fit_equally_by_a_rule_our_marker_decides(desk: Desk, number: int) -> None:
    keys = [desk.ask(asks_for("q1"), marker=f"token-{window}")[0] for window in (0, 1)]
    for key in keys:
        desk.finish(key, "a1")
    ours = marked("a1", f"any-model\\token-{number}")
    assert desk.joined(Q1, ours, Q2) == (keys[number], Reason.TOLERANT)


def test_a_marker_alone_proves_nothing(desk: Desk) -> None:
    key, _ = desk.ask(Q1, marker="token")
    desk.finish(key, "a1")
    outcome = desk.route(OTHER, marked("something else", "m\\token"), Q2)
    nothing = Candidate(key, "nothing proves it")
    assert outcome == Opens(Extends(2), Reason.UNPROVEN, runner_up=nothing)


def test_a_marker_that_nobody_remembers_is_nothing(desk: Desk) -> None:
    key = desk.opened(Q1)
    desk.finish(key, "a1")
    assert desk.joined(Q1, marked("a1", "m\\unheard-of"), Q2) == (key, Reason.EXTENDS)
