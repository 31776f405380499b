from __future__ import annotations

import attrs
from hypothesis import given
from hypothesis import strategies as st

from actors.continuity.unseen import UnseenDeliveries
from bridge.wire import ChatMessage, TextPart
from tests.actors.scenes import delivery


@attrs.frozen
class Put:
    """A request comes; it takes the newest exchange of the chat back, or not."""

    withdrawn: bool


@attrs.frozen
class GiveUp:
    """The request of the newest delivery, or of one before it, is settled without the agent."""

    is_newest: bool


@attrs.frozen
class See:
    """The agent gets everything."""


STEPS = st.one_of(st.builds(Put, st.booleans()), st.builds(GiveUp, st.booleans()), st.builds(See))


def message(turn: int) -> ChatMessage:
    return ChatMessage("user", (TextPart(f"question {turn}"),))


@given(st.lists(STEPS, max_size=12))
def test_the_agent_gets_what_it_has_not_seen_and_forgets_only_what_it_saw(
    steps: list[Put | GiveUp | See],
) -> None:
    """The model is the chat itself: its exchanges, and which of them the agent has seen."""
    unseen = UnseenDeliveries()
    chat: list[int] = []  # the turns that the agent hasn't seen; it has seen all before them
    open_turn: int | None = None
    must_forget = False
    turn = 0
    for step in steps:
        match step:
            case Put(withdrawn):
                turn += 1
                if withdrawn and chat:
                    chat.pop()
                elif withdrawn:
                    must_forget = True
                chat.append(turn)
                open_turn = turn
                unseen.put(delivery(turn, message(turn), withdrawn=withdrawn))
            case GiveUp(is_newest):
                unseen.give_up(turn if is_newest else turn - 1)
                open_turn = None if is_newest else open_turn
            case See():
                chat, open_turn, must_forget = [], None, False
                unseen.clear()
        newest = unseen.newest()
        assert (newest and newest.turn) == open_turn
        assert newest is None or newest.withdrawn is must_forget
        waiting = [one for one in chat if one != open_turn]
        assert list(unseen.missed()) == [message(one) for one in waiting]
