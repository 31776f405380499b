"""Arguments without a key: to whom they are given, and when to nobody."""

from __future__ import annotations

import pytest

from agents.open_responses.stream.tool_call import CallState, FunctionCall, digest_of
from agents.open_responses.stream.unkeyed_arguments import claim, place, strays


def call(name: str = "look", *, index: int | None = None) -> FunctionCall:
    return FunctionCall(name=name, call_id=f"call_{name}", output_index=index)


def stray(text: str, *, index: int | None = None) -> FunctionCall:
    return FunctionCall(done_text=text, output_index=index)


def pieces(*deltas: str) -> FunctionCall:
    return FunctionCall(deltas=[*deltas])


def texts(*records: FunctionCall, silent: FunctionCall | None = None) -> list[str]:
    return [text for _, text in strays(records, [silent or call()])]


def placed(*records: FunctionCall) -> list[tuple[str | None, str]]:
    return [(record.name, text) for record, text in place(records)]


def test_whole_arguments_that_nobody_claimed_are_strays() -> None:
    assert texts(stray('{"a":1}'), call(), stray(" "), stray("[1]")) == ['{"a":1}', "{}"]
    assert texts(call(), FunctionCall(name="look", has_item=True, done_text="{}")) == []
    assert texts(call(), FunctionCall(name="look", call_id="call_1", done_text="{}")) == []


def test_arguments_with_nothing_but_a_name_are_strays() -> None:
    assert texts(call(), FunctionCall(name="look", done_text="{}")) == ["{}"]


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


def test_pieces_do_not_count_where_there_are_whole_ones() -> None:
    assert texts(pieces('{"a":1}'), stray('{"b":2}')) == ['{"b":2}']


def test_arguments_from_another_place_are_another_call_s() -> None:
    assert texts(stray("{}", index=1), silent=call(index=2)) == []
    assert texts(stray("{}", index=2), silent=call(index=2)) == ["{}"]
    assert texts(stray("{}"), silent=call(index=2)) == ["{}"]
    assert texts(stray("{}", index=1), silent=call()) == ["{}"]


def test_arguments_that_are_claimed_are_gone_once() -> None:
    records = [stray('{"a":1}'), stray('{ "a" : 1 }'), stray('{"b":2}')]
    claim(records, {"a": 1})
    assert texts(*records) == ['{ "a" : 1 }', '{"b":2}']
    claim(records, {"c": 3})
    assert len(texts(*records)) == 2


def test_calls_get_arguments_in_their_order() -> None:
    records = [call("look"), call("go"), stray('{"a":1}'), stray('{"b":2}')]
    assert placed(*records) == [("look", '{"a":1}'), ("go", '{"b":2}')]


def test_not_if_there_are_more_or_fewer_than_calls() -> None:
    assert placed(call("look"), call("go"), stray('{"a":1}')) == []
    assert placed(call("look"), stray('{"a":1}'), stray('{"b":2}')) == []
    assert placed(stray('{"a":1}')) == []
    assert placed(call("look")) == []


def test_arguments_that_were_sent_are_left_out_where_there_are_too_many() -> None:
    sent = FunctionCall(name="go", state=CallState.SENT, digest=digest_of({"a": 1}))
    again = stray('{"a":1}')
    assert placed(sent, call("look"), again, stray('{"b":2}')) == [("look", '{"b":2}')]
    assert placed(sent, call("look"), again, again, stray('{"b":2}')) == []
