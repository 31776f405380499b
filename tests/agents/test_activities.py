from __future__ import annotations

import trio

from agents.activities import Activities
from bridge.wire import ProgressParams


def test_an_activity_is_shown_from_its_first_word_to_its_end() -> None:
    activities, told = Activities(), list[ProgressParams]()
    with activities.told_to(told.append):
        with activities.begin("Quick"):
            pass
        with activities.begin("Fetching") as activity:
            activity.tell("1 s")
            activity.tell("2 s")
    assert [(one.title, one.message, one.is_over) for one in told] == [
        ("Fetching", "1 s", False),
        ("Fetching", "2 s", False),
        ("Fetching", "", True),
    ]
    assert {one.token for one in told} == {activity.token}


def test_nobody_need_listen() -> None:
    activities = Activities()
    with activities.begin("Fetching") as activity:
        activity.tell("1 s")


async def test_an_activity_is_cancelled_by_its_token_while_it_goes_on() -> None:
    activities = Activities()
    with activities.begin("One") as one, activities.begin("Two") as two:
        activities.cancel(99)
        with trio.fail_after(5), one.scope:
            activities.cancel(one.token)
            await trio.sleep_forever()
        assert one.scope.cancelled_caught
        assert not two.scope.cancel_called
    activities.cancel(two.token)
    assert not two.scope.cancel_called
