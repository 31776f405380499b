"""Exchanges that others had: how a conversation that was led elsewhere is cut into them."""

from __future__ import annotations

from hypothesis import given

from bridge.history.exchange import Ending, Exchange, exchanges_of
from bridge.history.message import Message
from tests.strategies import assistant, conversations, user


def test_each_answer_of_a_foreign_history_ends_an_exchange() -> None:
    q, r, a, b = user("q"), user("r"), assistant("a"), assistant("b")
    assert exchanges_of(()) == []
    assert exchanges_of((q, r, a, b, q)) == [
        Exchange((q, r), a, Ending.COMPLETE),
        Exchange((), b, Ending.COMPLETE),
        Exchange((q,), None, Ending.EMPTY),
    ]


@given(conversations())
def test_cutting_a_foreign_history_into_exchanges_loses_nothing(path: tuple[Message, ...]) -> None:
    said: list[Message] = []
    for exchange in exchanges_of(path):
        said.extend(exchange.asked)
        if exchange.answer is not None:
            said.append(exchange.answer)
    assert tuple(said) == path
