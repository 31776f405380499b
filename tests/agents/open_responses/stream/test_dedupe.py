"""An event that comes again, and a word that is said twice."""

from __future__ import annotations

from typing import Any

from agents.open_responses.stream.dedupe import Doubles
from agents.open_responses.stream.events import StreamEvent


def again(*events: StreamEvent) -> list[bool]:
    doubles = Doubles()
    return [doubles.is_again(event, repr(event).encode()) for event in events]


def word(**fields: Any) -> StreamEvent:
    return StreamEvent(type="response.output_text.delta", delta="ha", **fields)


def test_a_number_tells() -> None:
    assert again(word(sequence_number=1), word(sequence_number=2)) == [False, False]
    first, second = word(sequence_number=1), word(sequence_number=2)
    assert again(first, second, second, word(sequence_number=3)) == [False, False, True, False]


def test_without_a_number_nothing_does_but_two_beginnings() -> None:
    assert again(word(), word()) == [False, False]
    begun = StreamEvent(type="response.created")
    assert again(begun, word(), word()) == [False, False, False]
    assert again(begun, begun, word(), word(), word(), word()) == [False, True] * 3


def test_the_same_number_in_all_events_tells_nothing() -> None:
    assert again(*[word(sequence_number=0)] * 3) == [False] * 3
