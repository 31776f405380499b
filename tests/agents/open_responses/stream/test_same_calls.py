"""Records of one call: which are the same, and which are two."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agents.open_responses.stream.same_calls import MadeCalls, absorb, excuse, is_made
from agents.open_responses.stream.tool_call import CallSource, CallState, FunctionCall, digest_of
from agents.open_responses.stream.tool_call_lookup import MOST_TRIED

OSLO = '{"city": "Oslo"}'


def made(told: CallSource, name: str = "look", place: int = 0) -> FunctionCall:
    digest = digest_of({"city": "Oslo"})
    return FunctionCall(
        place,
        name=name,
        has_item=True,
        done_text=OSLO,
        told=told,
        state=CallState.SENT,
        digest=digest,
    )


def calls_of(*records: FunctionCall) -> MadeCalls:
    calls = MadeCalls()
    for record in records:
        calls.add(record)
    return calls


def all_of(steps: Iterator[None]) -> None:
    for _ in steps:
        pass


def stray(name: str | None = None, text: str = OSLO) -> FunctionCall:
    return FunctionCall(name=name, done_text=text, told=CallSource.ARGUMENTS)


def announced(*pieces: str, place: int = 0) -> FunctionCall:
    return FunctionCall(place, name="look", deltas=[*pieces], told=CallSource.ANNOUNCED)


def test_what_no_source_told_twice_is_one_call() -> None:
    calls = calls_of(made(CallSource.ITEM))
    assert calls.has(made(CallSource.ANNOUNCED | CallSource.ARGUMENTS))
    assert not calls.has(made(CallSource.ARGUMENTS))
    assert calls.has(made(CallSource.ANNOUNCED))
    assert not calls.has(made(CallSource.ITEM, "go"))
    assert not calls_of(made(CallSource.PIECES | CallSource.ITEM)).has(made(CallSource.ITEM))
    assert calls_of(made(CallSource.PIECES | CallSource.ITEM)).has(made(CallSource.PIECES))


def test_what_was_told_of_a_call_since_counts() -> None:
    first = made(CallSource.ITEM)
    calls = calls_of(first)
    first.told |= CallSource.ARGUMENTS
    assert not calls.has(made(CallSource.ARGUMENTS))


def test_a_repeated_record_is_no_call() -> None:
    again = made(CallSource.ITEM)
    again.is_repeated = True
    assert not is_made(again)
    assert is_made(made(CallSource.ITEM))


def test_arguments_are_those_of_the_first_call_without() -> None:
    calls = [made(CallSource.ARGUMENTS), made(CallSource.ITEM), made(CallSource.ITEM, "go")]
    strays = [stray(), stray("go"), stray("look", "{}"), stray(), stray("look", "[1]")]
    all_of(absorb([*calls, *strays]))
    assert [one.is_matched for one in strays] == [True, True, False, False, False]
    assert all(CallSource.ARGUMENTS in one.told for one in calls)


def test_an_announcement_is_that_of_a_call_without_one() -> None:
    whole = [made(CallSource.ITEM), made(CallSource.ITEM | CallSource.ANNOUNCED, place=1)]
    records = [*whole, announced(place=2), announced(place=3)]
    all_of(excuse(records))
    assert [one.is_repeated for one in records[2:]] == [True, False]
    assert CallSource.ANNOUNCED in whole[0].told


def test_pieces_tell_of_which_call() -> None:
    whole = FunctionCall(
        1, name="look", deltas=["x"], told=CallSource.ANNOUNCED | CallSource.ARGUMENTS
    )
    records = [
        made(CallSource.ITEM),
        announced(),
        announced('"Rome'),
        announced('"Os', "lo"),
        whole,
    ]
    all_of(excuse(records))
    assert [one.is_repeated for one in records[1:]] == [False, False, True, False]


@pytest.mark.limit("agents.open_responses.stream.tool_call_lookup.MOST_TRIED")
def test_pieces_are_looked_for_in_so_many_calls() -> None:
    for others, is_found in ((MOST_TRIED - 1, True), (MOST_TRIED, False)):
        records = [made(CallSource.ITEM, place=place) for place in range(others + 1)]
        records[-1].done_text = '{"city": "Rome"}'
        records.append(announced("Rome", place=others + 1))
        all_of(excuse(records))
        assert records[-1].is_repeated is is_found
