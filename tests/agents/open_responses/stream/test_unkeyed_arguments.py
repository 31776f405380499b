"""Arguments without a key: to whom they are given, and when to nobody."""

from __future__ import annotations

import pytest

from agents.open_responses.stream.tool_call import CallSource, CallState, FunctionCall, digest_of
from agents.open_responses.stream.unkeyed_arguments import place, strays


def call(
    name: str = "look", *, index: int | None = None, is_finished: bool = False
) -> FunctionCall:
    return FunctionCall(
        name=name,
        call_id=f"call_{name}",
        has_item=True,
        output_index=index,
        is_finished=is_finished,
    )


def stray(text: str, *, index: int | None = None, name: str | None = None) -> FunctionCall:
    return FunctionCall(done_text=text, output_index=index, name=name, told=CallSource.ARGUMENTS)


def pieces(*deltas: str, index: int | None = None) -> FunctionCall:
    return FunctionCall(deltas=[*deltas], output_index=index, told=CallSource.PIECES)


def texts(*records: FunctionCall) -> list[str]:
    return [text for _, text in strays(records)]


def placed(*records: FunctionCall) -> list[tuple[str | None, str | None]]:
    """Return the calls that got arguments, in their order."""
    calls = [one for one in records if one.has_item]
    for _ in place(records, records):
        pass
    return [(one.name, one.done_text) for one in calls if one.done_text]


def test_whole_arguments_that_nobody_claimed_are_strays() -> None:
    assert texts(stray('{"a":1}'), call(), stray(" "), stray("[1]")) == ['{"a":1}', "{}"]
    assert texts(call(), FunctionCall(name="look", has_item=True, done_text="{}")) == []
    assert texts(call(), FunctionCall(name="look", call_id="call_1", done_text="{}")) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"a":1}{"b":"}{"}', ['{"a":1}', '{"b":"}{"}']),
        (' {"a":1}\n {} \n', ['{"a":1}', "{}"]),
        ('{"a":1}{"b"', []),
        ('{"a":1}[1]', []),
        ("", []),
    ],
)
def test_pieces_are_taken_apart_where_an_object_ends(text: str, found: list[str]) -> None:
    assert texts(pieces(text[:5], text[5:])) == found
    assert texts(pieces(text[:5]), pieces(text[5:])) == found


def test_pieces_do_not_count_where_there_are_whole_ones() -> None:
    assert texts(pieces('{"a":1}'), stray('{"b":2}')) == ['{"b":2}']
    assert texts(pieces('{"a":1}'), stray("")) == ['{"a":1}']


def test_pieces_of_a_call_that_was_made_are_gone_once() -> None:
    made = FunctionCall(state=CallState.SENT, digest=digest_of({"a": 1}), told=CallSource.ITEM)
    assert texts(made, pieces('{"a":1}{"a":1}')) == ['{"a":1}']
    made.told |= CallSource.PIECES
    assert texts(made, pieces('{"a":1}')) == ['{"a":1}']


def test_arguments_at_the_index_of_a_call_may_be_those_of_another() -> None:
    """vLLM counts the index up before the arguments are done."""
    of_a_lost_call = stray('{"a":1}', index=1)
    assert placed(call(index=1), of_a_lost_call, stray('{"b":2}', index=2)) == []


def test_calls_get_arguments_in_their_order() -> None:
    records = [call("look"), call("go"), stray('{"a":1}'), stray('{"b":2}')]
    assert placed(*records) == [("look", '{"a":1}'), ("go", '{"b":2}')]
    records = [call("look", index=1), call("go", index=0), stray("{}", index=1), pieces("x")]
    records.append(stray('{"b":2}', index=0))
    assert placed(*records) == [("look", "{}"), ("go", '{"b":2}')]


def test_arguments_with_a_name_are_those_of_the_next_call_of_that_name() -> None:
    records = [call("look"), call("go"), stray('{"a":1}', name="go"), stray('{"b":2}', name="go")]
    assert placed(*records) == [("go", '{"a":1}')]
    assert [record.is_matched for record in records] == [False, False, True, False]
    records = [call("go"), stray("[1]", name="go"), stray("", name="go")]
    assert placed(*records) == [("go", "{}")]


def test_not_if_there_are_more_or_fewer_than_calls() -> None:
    assert placed(call("look"), call("go"), stray('{"a":1}')) == []
    assert placed(call("look"), stray('{"a":1}'), stray('{"b":2}')) == []
    assert placed(stray('{"a":1}')) == []
    assert placed(call("look")) == []


def test_a_call_that_is_done_without_arguments_has_none_if_those_left_are_of_others() -> None:
    def done() -> FunctionCall:
        return call("go", is_finished=True)

    assert placed(done()) == [("go", "{}")]
    assert placed(done(), stray('{"a":1}'), stray('{"a":2}')) == []
    assert placed(call("look"), done(), stray('{"a":1}')) == [("look", '{"a":1}'), ("go", "{}")]
