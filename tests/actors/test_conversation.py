"""What a conversation has remembered of a turn that ended."""

from __future__ import annotations

import pytest

from actors.conversation import Conversation
from actors.handle import SessionHandle
from actors.inbox import Ended
from actors.memory import AgentMemory
from bridge.events import Ask, Cancel, Emit, Finish, Input
from bridge.match import Extends
from bridge.models import AgentChoice
from bridge.wire import TextPart
from tests.fakes.session_memory import Shelf, ShelfMemory, State
from tests.strategies import assistant, user

SAID = Emit(1, [TextPart("a")])
EMPTY = Emit(1, [])


def conversation(shelf: Shelf) -> Conversation:
    memory = AgentMemory.of(ShelfMemory(shelf), b"agent")
    return Conversation(AgentChoice.of({"eliza": {}}), SessionHandle(), memory)


@pytest.mark.parametrize(
    ("events", "ended", "state"),
    [
        ([SAID, Finish(1)], Ended(1, 1, handle="s"), State.SETTLED),
        ([SAID, Finish(1)], Ended(1, 1), None),
        ([SAID, Finish(1)], Ended(1, 0, handle="s"), None),
        ([SAID, Cancel(1)], Ended(1, 1, handle="s"), None),
        ([SAID], Ended(1, 1, handle="s"), None),
        ([EMPTY, Finish(1)], Ended(1, 1, handle="s"), None),
    ],
    ids=["settled", "no handle", "an older turn", "cancelled meanwhile", "runs", "no answer"],
)
def test_what_is_remembered_is_what_the_user_was_shown(
    events: list[Input], ended: Ended, state: State | None
) -> None:
    shelf = Shelf()
    one = conversation(shelf)
    one.history.apply(Ask(1, (user("q0"), assistant("a0"), user("q")), Extends(2)))
    for event in events:
        one.history.apply(event)
    one.remember(ended)
    assert shelf.state_of("s") is state
    for entry in shelf.entries.values():
        assert entry.sketch is not None
        assert len(entry.sketch.steps) == 9 + 4 * 17, "all of it"


def test_of_a_conversation_that_was_asked_nothing_nothing_is_remembered() -> None:
    shelf = Shelf()
    conversation(shelf).remember(Ended(1, 0, handle="s"))
    assert shelf.entries == {}
