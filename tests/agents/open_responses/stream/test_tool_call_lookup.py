"""Calls whose events have hardly a key: what is said goes to the right one, or to none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agents.events import Break
from tests.agents.open_responses.hearing import JSON, hear
from tests.agents.open_responses.mutations import MUTATIONS, mutate
from tests.agents.open_responses.script import Call, Script

ONE, TWO = {"a": 1}, {"b": 2}
BEGIN: JSON = {"type": "response.created", "response": {"id": "resp_1", "output": []}}


def item(number: int, parameters: Any = "", **fields: Any) -> JSON:
    text = parameters if isinstance(parameters, str) else json.dumps(parameters)
    known = {"id": f"fc_{number}", "call_id": f"call_{number}", "name": "look", "arguments": text}
    every = {"type": "function_call", **known, **fields}
    return {key: value for key, value in every.items() if value is not None}


def added(it: JSON, **key: Any) -> JSON:
    return {"type": "response.output_item.added", "item": it, **key}


def done(it: JSON, **key: Any) -> JSON:
    return {"type": "response.output_item.done", "item": it, **key}


def piece(text: str, **key: Any) -> JSON:
    return {"type": "response.function_call_arguments.delta", "delta": text, **key}


def whole(value: Any, **key: Any) -> JSON:
    text = value if isinstance(value, str) else json.dumps(value)
    return {"type": "response.function_call_arguments.done", "arguments": text, **key}


def end(*output: JSON) -> JSON:
    return {"type": "response.completed", "response": {"status": "completed", "output": output}}


BEGUN = [BEGIN, added(item(1)), added(item(2))]
DONE = [done(item(1, ONE)), done(item(2, TWO))]
END = end(item(1, ONE), item(2, TWO))
BOTH = [("gw-call_1", ONE), ("gw-call_2", TWO)]


def heard(*events: JSON) -> list[tuple[str, Any]]:
    told = hear(events)
    parameters = (parameters for _, parameters in told.calls)
    return sorted(zip(told.call_ids, parameters, strict=True), key=str)


def asked(*events: JSON) -> list[Any]:
    return sorted((parameters for _, parameters in hear(events).calls), key=str)


def test_an_item_under_other_ids_at_the_next_index_is_the_next_call_that_asks_the_same() -> None:
    """vLLM gives the item of a call, when it is done, another call id, no id and the next index."""
    events = [BEGIN]
    for number in range(2):
        key = {"item_id": f"fc_{number}", "output_index": number}
        events += [added(item(number), output_index=number), piece(json.dumps(ONE), **key)]
        if number:  # all arguments of the first one are only in its item
            events.append(whole(ONE, **{**key, "output_index": number + 7}))
    for number in range(2):
        other = item(number, ONE, id=None, call_id=f"other_{number}")
        events.append(done(other, output_index=number + 7))
    heard = hear([*events, {"type": "response.completed", "response": {"status": "completed"}}])
    assert heard.calls == [("look", ONE), ("look", ONE)]


@pytest.mark.parametrize("last", [[*DONE, END], [END], [*DONE, end()]], ids=["all", "end", "items"])
@pytest.mark.parametrize(
    "arguments",
    [
        [whole(ONE), whole(TWO)],
        [whole(TWO), whole(ONE)],
        [piece('{"a":'), piece('{"b":'), piece(" 1}"), piece(" 2}"), whole(ONE), whole(TWO)],
        [piece('{"a":'), piece('{"b":'), piece(" 1}"), piece(" 2}")],
        [piece('{"a": 1}'), whole(ONE), piece('{"b": 2}'), whole(TWO)],
        [piece('{"a": 1}', item_id="x1"), piece('{"b": 2}', item_id="x2")],
        [whole(ONE, item_id="x1"), whole(TWO, item_id="x2")],
        [whole(ONE, output_index=0), whole(TWO, output_index=1)],
        [piece('{"a"', item_id="x"), piece('{"b"', item_id="y"), whole(ONE, item_id="x")],
    ],
    ids=str,
)
def test_calls_at_the_same_time_without_keys_get_what_their_items_say(
    arguments: list[JSON], last: list[JSON]
) -> None:
    assert heard(*BEGUN, *arguments, *last) == BOTH


@pytest.mark.parametrize("last", [[end()], [done(item(1)), done(item(2)), end()]], ids=len)
@pytest.mark.parametrize(
    "arguments",
    [
        [whole(ONE), whole(TWO)],
        [piece('{"a":'), piece('{"b":'), piece(" 1}"), piece(" 2}"), whole(ONE), whole(TWO)],
        [piece('{"a": 1}'), piece('{"b": 2}')],
        [piece('{"a":', item_id="x1"), piece("1}", item_id="x2"), piece('{"b":2}', item_id="x3")],
        [whole(ONE, item_id="x1"), whole(TWO, item_id="x2")],
        [whole(ONE, output_index=0), whole(TWO, output_index=1)],
        [piece('{"a": 1}', item_id="x1"), piece('{"b": 2}', item_id="x2")],
    ],
    ids=str,
)
def test_where_no_item_says_it_the_order_does(arguments: list[JSON], last: list[JSON]) -> None:
    assert heard(*BEGUN, *arguments, *last) == BOTH


def test_calls_one_after_the_other_need_no_key() -> None:
    first = [added(item(1)), piece('{"a"'), piece(": 1}")]
    second = [added(item(2)), piece('{"b"'), piece(": 2}")]
    assert heard(BEGIN, *first, whole(ONE), *second, whole(TWO), end()) == BOTH
    assert heard(BEGIN, *first, *second, end()) == BOTH
    assert heard(BEGIN, *first, done(item(1)), *second, done(item(2)), end()) == BOTH
    assert heard(BEGIN, *first, *second, done(item(1)), done(item(2)), end()) == BOTH


def test_whole_arguments_tell_which_pieces_are_theirs() -> None:
    first = [added(item(1)), piece('{"a": 1}', item_id="fc_1")]
    second = [added(item(2)), piece('{"b": 2}', item_id="fc_2")]
    assert heard(BEGIN, *first, *second, whole(TWO), whole(ONE), end()) == BOTH


def test_pieces_go_to_no_call_that_has_another_id() -> None:
    events = [BEGIN, added(item(1)), piece('{"b": 2}', call_id="call_2"), added(item(2))]
    assert heard(*events, piece('{"a": 1}', call_id="call_1"), end()) == BOTH
    early = [piece('{"b": 2}', call_id="call_2"), piece('{"a": 1}', call_id="call_1")]
    assert heard(*early, *BEGUN, end()) == BOTH


def test_whole_arguments_at_the_index_of_other_pieces_are_another_call_s() -> None:
    begun = piece('{"', item_id="fc_2", output_index=1)
    told = whole(ONE, item_id="fc_1", output_index=1, name="look")
    ends = [done(item(2, {}, id="fc_2")), done(item(1, ONE, id="fc_1"))]
    assert asked(begun, told, *ends, end()) == [ONE, {}]
    assert asked(piece('{"b"', output_index=1), told, *ends[1:], end()) == [ONE]


def test_arguments_that_come_again_are_no_other_call_s() -> None:
    events = [BEGIN, added(item(1)), whole(ONE), whole(ONE), added(item(2)), done(item(2)), end()]
    assert heard(*events) == [("gw-call_1", ONE), ("gw-call_2", {})]


@pytest.mark.parametrize("is_swapped", [False, True])
def test_arguments_that_an_item_has_claimed_are_no_other_call_s(is_swapped: bool) -> None:
    ends = [done(item(1, ONE)), done(item(2))]
    last = [*(reversed(ends) if is_swapped else ends), end()]
    assert heard(*BEGUN, whole(ONE), *last) == [("gw-call_1", ONE), ("gw-call_2", {})]


def test_an_item_that_lost_its_ids_is_the_call_that_was_made() -> None:
    events = [BEGIN, added(item(1)), whole(ONE), done(item(9, ONE, call_id=None)), end()]
    assert heard(*events) == BOTH[:1]


KEYLESS: JSON = {"id": None, "call_id": None}


@pytest.mark.parametrize("second", [TWO, ONE, {}], ids=str)
@pytest.mark.parametrize("is_parallel", [True, False])
def test_items_without_any_key_are_told_by_what_they_ask(second: Any, is_parallel: bool) -> None:
    begins = [added(item(0, **KEYLESS)) for _ in range(2)]
    says = [whole(ONE), whole(second)]
    ends = [done(item(0, ONE, **KEYLESS)), done(item(0, second, **KEYLESS))]
    last = end(item(0, ONE, **KEYLESS), item(0, second, **KEYLESS))
    if is_parallel:
        events = [*begins, *says, *ends]
    else:
        events = [begins[0], says[0], ends[0], begins[1], says[1], ends[1]]
    wanted = sorted([ONE, second], key=str)
    assert asked(BEGIN, *events, last) == wanted
    assert asked(BEGIN, *events, end()) == wanted


def test_an_item_with_an_id_of_its_own_is_the_call_that_asks_the_same() -> None:
    begins = [added(item(n, call_id=None)) for n in (1, 2)]
    ends = [done(item(n + 6, asks, call_id=None)) for n, asks in ((2, TWO), (1, ONE))]
    assert asked(BEGIN, *begins, whole(ONE), whole(TWO), *ends, END) == [ONE, TWO]


@pytest.mark.parametrize("arguments", [{"a": 1}, {}], ids=str)
def test_a_call_that_begins_whole_and_says_no_more_is_made(arguments: JSON) -> None:
    begun = added(item(1, arguments, status="completed"), output_index=0)
    assert heard(BEGIN, begun, end()) == [("gw-call_1", arguments)]
    told = [begun, done(item(1), output_index=0), end()]
    assert heard(BEGIN, *told) == [("gw-call_1", arguments)]


def test_an_empty_object_in_the_beginning_says_nothing() -> None:
    begun = added(item(1, {}, status="in_progress"), output_index=0)
    for more in ([], [piece('{"a', output_index=0)]):
        told = hear([BEGIN, begun, *more, end()])
        assert told.calls == []
        assert isinstance(told.end, Break)
    assert heard(BEGIN, begun, piece('{"a": 1}', output_index=0), end()) == BOTH[:1]


def test_interleaved_calls_survive_the_loss_of_every_key_of_their_arguments() -> None:
    lost = [one for one in MUTATIONS if one.name in ("no output index", "no item id")]
    for lacking in ([], ["no item.done"], ["empty final output"], ["no deltas"]):
        written = Script()
        written.begin()
        calls = [
            Call("look", ['{"a"', ":1}"], "call_1"),
            Call("go", ['{"b"', ":2}"], "call_2"),
            Call("look", ["{}"], "call_3"),
        ]
        written.tell_calls(calls)
        further = [one for one in MUTATIONS if one.name in lacking]
        told = hear(mutate(written.complete(), [*lost, *further]))
        got = sorted((name, str(parameters)) for name, parameters in told.calls)
        assert got == sorted((call.name, str(call.parameters)) for call in calls)


@pytest.mark.parametrize("key", [{}, {"item_id": ""}, {"item_id": "fc_9"}], ids=str)
@pytest.mark.parametrize("has_final", [True, False])
def test_arguments_with_a_name_at_the_next_index_are_those_of_the_call_that_awaits_them(
    key: JSON, has_final: bool
) -> None:
    """The vLLM of 2025 counts the index up before it says that the arguments are done."""
    other = item(9, ONE, id=None, item_id="fc_9", call_id="fc_other")
    told = hear(
        [
            BEGIN,
            added(item(1, id="msg_0"), output_index=1),
            piece('": 1}', output_index=1, **key),
            whole(ONE, output_index=2, name="look", **key),
            done(other, output_index=2),
            end(*([item(8, ONE)] if has_final else [])),
        ]
    )
    assert told.calls == [("look", ONE)]
    assert told.shown == ""


def test_arguments_with_a_name_are_those_of_the_only_call_of_that_name() -> None:
    begun = [BEGIN, added(item(1), output_index=0), added(item(2, name="go"), output_index=1)]
    named = whole(TWO, output_index=2, name="go")
    final = end(item(1, ONE), item(2, TWO, name="go"))
    assert heard(*begun, named, done(item(1, ONE)), final) == BOTH


def test_arguments_with_the_name_of_several_calls_are_given_to_none_of_these() -> None:
    begun = [BEGIN, added(item(1), output_index=0), added(item(2), output_index=1)]
    named = whole(TWO, output_index=2, name="look")
    assert ("gw-call_1", TWO) not in heard(*begun, named, *DONE, END)
