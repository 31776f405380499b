"""Each call whole and once, found by whatever key fits."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from agents.events import CallTool
from agents.open_responses.stream.events import OutputItem, StreamEvent
from agents.open_responses.stream.tool_call_lookup import MOST_TRIED, CallSearch
from agents.open_responses.stream.tool_calls import CallLedger, WholeCall
from tests.agents.open_responses.hearing import JSON, hear
from tests.agents.open_responses.script import Script, call, script

ARGUMENTS = '{"a":1}'
LOOK = WholeCall("call_1", "look", {"a": 1}, ARGUMENTS)


def item(**fields: Any) -> OutputItem:
    known = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "look"}
    return OutputItem(**{**known, "status": "completed", **fields})


def arguments(**fields: Any) -> StreamEvent:
    if "arguments" in fields:
        fields["arguments"] = msgspec.Raw(json.dumps(fields["arguments"]).encode())
    return StreamEvent(**fields)


def concluded(ledger: CallLedger, items: list[OutputItem], *, is_complete: bool) -> list[WholeCall]:
    steps = ledger.conclude(items, is_complete=is_complete)
    return [call for call in steps if call is not None]


# Rule 1: how a call is found.


@pytest.mark.parametrize(
    "key",
    [
        {"call_id": "call_1"},
        {"item_id": "fc_1"},
        {"item_id": "call_1"},
        {"output_index": 3},
        {"item_id": "rotated", "output_index": 3},
        {"item_id": "rotated"},
        {},
    ],
    ids=str,
)
def test_arguments_find_their_call(key: JSON) -> None:
    ledger = CallLedger()
    ledger.announce(item(), 3)
    ledger.add(arguments(**key, delta=ARGUMENTS[:3]))
    ledger.add(arguments(**key, delta=ARGUMENTS[3:]))
    ledger.complete(arguments(**key))
    assert concluded(ledger, [], is_complete=True) == [LOOK]


def test_ids_that_stay_tell_calls_apart_that_were_not_announced() -> None:
    ledger = CallLedger()
    ledger.announce(item(), None)
    ledger.add(arguments(item_id="fc_1", delta='{"a":'))
    ledger.add(arguments(item_id="fc_2", delta="{}"))
    ledger.add(arguments(item_id="fc_1", delta="1}"))
    assert ledger.finish(item(), None) == [LOOK]
    second = ledger.finish(item(id="fc_2", call_id="call_2"), None)
    assert second == [WholeCall("call_2", "look", {}, "{}")]


def test_calls_that_all_have_the_index_0_are_told_apart() -> None:
    ledger = CallLedger()
    ledger.announce(item(), 0)
    ledger.complete(arguments(item_id="fc_1", output_index=0, arguments=ARGUMENTS))
    assert ledger.finish(item(arguments=ARGUMENTS), 0) == [LOOK]
    ledger.add(arguments(item_id="fc_2", output_index=0, delta='{"b":2}'))
    second = ledger.finish(item(id="fc_2", call_id="call_2"), 0)
    assert second == [WholeCall("call_2", "look", {"b": 2}, '{"b":2}')]


def test_so_are_those_that_were_announced() -> None:
    ledger = CallLedger()
    ledger.announce(item(), 0)
    ledger.announce(item(id="fc_2", call_id="call_2"), 0)
    ledger.add(arguments(item_id="fc_1", output_index=0, delta=ARGUMENTS))
    ledger.add(arguments(item_id="fc_2", output_index=0, delta='{"b":2}'))
    assert ledger.finish(item(), 0) == [LOOK]
    (second,) = ledger.finish(item(id="fc_2", call_id="call_2"), 0)
    assert second.parameters == {"b": 2}


@pytest.mark.parametrize("key", [{"item_id": "fc_1"}, {"item_id": "call_1"}, {"output_index": 3}])
def test_arguments_may_come_before_their_call(key: JSON) -> None:
    ledger = CallLedger()
    ledger.add(arguments(**key, delta=ARGUMENTS))
    ledger.complete(arguments(**key, arguments=ARGUMENTS))
    ledger.announce(item(), 3)
    made = ledger.finish(item(arguments=None), 3)
    assert made + concluded(ledger, [], is_complete=True) == [LOOK]


def test_arguments_may_bring_the_name_and_the_id() -> None:
    event = arguments(item_id="fc_1", call_id="call_1", name="look", arguments=ARGUMENTS)
    ledger = CallLedger()
    ledger.complete(event)
    assert concluded(ledger, [], is_complete=True) == [LOOK]


def test_an_empty_piece_of_arguments_begins_no_call() -> None:
    ledger = CallLedger()
    ledger.add(arguments(item_id="fc_1", delta=""))
    ledger.add(arguments(item_id="fc_1"))
    assert concluded(ledger, [], is_complete=True) == []


def test_a_call_that_is_announced_twice_is_one() -> None:
    ledger = CallLedger()
    ledger.announce(item(), 3)
    ledger.announce(item(), 3)
    ledger.announce(item(id="other"), 3)
    assert ledger.finish(item(arguments=ARGUMENTS), 3) == [LOOK]
    assert concluded(ledger, [], is_complete=True) == []
    assert ledger.broken == []


def test_arguments_go_to_the_call_they_name_and_to_no_other() -> None:
    ledger = CallLedger()
    ledger.announce(item(), 0)
    ledger.announce(item(id="fc_2", call_id="call_2"), 1)
    ledger.add(arguments(call_id="call_1", delta=ARGUMENTS))
    assert ledger.finish(item(), 0) == [LOOK]
    ledger.add(arguments(output_index=2, delta='{"c":3}'))
    rest = ledger.finish(item(id="fc_2", call_id="call_2"), 1)
    rest += ledger.finish(item(id="fc_3", call_id="call_3"), 2)
    rest += concluded(ledger, [], is_complete=True)
    assert [(one.call_id, one.parameters) for one in rest] == [("call_2", {}), ("call_3", {"c": 3})]


def test_a_call_that_begins_under_the_id_of_another_is_another() -> None:
    """Older versions of vLLM begin a call under the id of the item before it."""
    ledger = CallLedger()
    ledger.announce(item(), 0)
    ledger.complete(arguments(item_id="fc_1", arguments=ARGUMENTS))
    ledger.announce(item(call_id="call_2", name="go"), 1)
    ledger.complete(arguments(item_id="fc_1", name="look", arguments=ARGUMENTS))
    assert concluded(ledger, [], is_complete=True) == [LOOK]
    assert ledger.broken == ["go"]


def test_arguments_with_another_name_are_those_of_another_call() -> None:
    ledger = CallLedger()
    ledger.announce(item(), 0)
    ledger.complete(arguments(item_id="fc_1", name="go", arguments=ARGUMENTS))
    assert concluded(ledger, [], is_complete=True) == [WholeCall("", "go", {"a": 1}, ARGUMENTS)]
    assert ledger.broken == ["look"]


def test_other_arguments_after_those_of_a_call_are_told_as_lost() -> None:
    ledger = CallLedger()
    ledger.announce(item(), 0)
    for text in (ARGUMENTS, '{"b":2}'):
        ledger.complete(arguments(item_id="fc_1", arguments=text))
        assert len(ledger.finish(item(arguments=ARGUMENTS), 0)) == (text == ARGUMENTS)
    assert concluded(ledger, [], is_complete=True) == []
    assert ledger.broken == [""]


# Rule 2: when a call is emitted.


def test_a_call_is_emitted_when_its_item_is_done_and_not_again() -> None:
    ledger = CallLedger()
    ledger.announce(item(), 0)
    ledger.complete(arguments(item_id="fc_1", arguments=ARGUMENTS))
    ledger.complete(arguments(item_id="fc_1", arguments=ARGUMENTS))
    assert ledger.finish(item(arguments=ARGUMENTS), 0) == [LOOK]
    assert ledger.finish(item(arguments=ARGUMENTS), 0) == []
    assert concluded(ledger, [item(arguments=ARGUMENTS)], is_complete=True) == []


def test_the_item_counts_more_than_what_came_before_it() -> None:
    ledger = CallLedger()
    ledger.announce(item(call_id=None), 0)
    ledger.add(arguments(item_id="fc_1", delta='{"delta":0}'))
    ledger.complete(arguments(item_id="fc_1", arguments='{"done":0}'))
    assert ledger.finish(item(arguments=ARGUMENTS), 0) == [LOOK]


@pytest.mark.parametrize("empty", [None, "", " "])
def test_the_arguments_that_came_count_where_the_item_has_none(empty: str | None) -> None:
    ledger = CallLedger()
    ledger.announce(item(), 0)
    ledger.add(arguments(item_id="fc_1", delta=ARGUMENTS))
    assert ledger.finish(item(arguments=empty), 0) == [LOOK]


def test_a_call_is_found_in_the_end_that_was_told_nowhere_else() -> None:
    assert concluded(CallLedger(), [item(arguments=ARGUMENTS)], is_complete=True) == [LOOK]


def test_a_call_of_which_only_deltas_came_is_emitted_in_the_end() -> None:
    ledger = CallLedger()
    ledger.announce(item(), 0)
    ledger.add(arguments(item_id="fc_1", delta=ARGUMENTS))
    assert concluded(ledger, [], is_complete=True) == [LOOK]


def test_and_once_where_it_has_other_ids_there() -> None:
    """vLLM: none of the events that make a call whole, and another call id in the end."""
    ledger = CallLedger()
    ledger.announce(item(), 0)
    ledger.add(arguments(item_id="fc_1", delta=ARGUMENTS))
    final = item(call_id="chatcmpl-tool-1", id="tmp", arguments=ARGUMENTS)
    (found,) = concluded(ledger, [final], is_complete=True)
    assert found == WholeCall("chatcmpl-tool-1", "look", {"a": 1}, ARGUMENTS)


def test_an_object_instead_of_a_text_is_taken() -> None:
    assert CallLedger().finish(item(arguments={"a": 1}), 0) == [LOOK]
    event = arguments(call_id="call_1", name="look", arguments={"a": 1})
    ledger = CallLedger()
    ledger.complete(event)
    assert concluded(ledger, [], is_complete=True) == [LOOK]


# Rule 3: empty arguments, and wrong ones.


@pytest.mark.parametrize("empty", ["", " \n", None])
def test_truly_empty_arguments_are_an_empty_object(empty: str | None) -> None:
    ledger = CallLedger()
    ledger.announce(item(), 0)
    ledger.complete(arguments(item_id="fc_1", arguments=empty))
    assert ledger.finish(item(arguments=empty), 0) == [], "the final output may have them"
    made = concluded(ledger, [item(arguments=empty)], is_complete=True)
    assert made == [WholeCall("call_1", "look", {}, "{}")]


@pytest.mark.parametrize("empty", ["", None, "null"])
@pytest.mark.parametrize("ids", [{}, {"id": "fc_9"}, {"id": "fc_9", "call_id": "call_9"}])
@pytest.mark.parametrize("is_heard", [True, False])
@pytest.mark.parametrize("is_complete", [True, False])
def test_vllm_arguments_of_the_final_output_alone_are_those_of_the_call(
    empty: str | None, ids: JSON, is_heard: bool, is_complete: bool
) -> None:
    """OpenRouter sends such calls, too."""
    ledger = CallLedger()
    ledger.announce(item(arguments=""), 0)
    if is_heard:
        ledger.complete(arguments(item_id="fc_1", arguments=""))
    made = ledger.finish(item(arguments=empty), 0)
    final = item(arguments=ARGUMENTS, status=None, **ids)
    made += concluded(ledger, [final], is_complete=is_complete)
    assert [(one.name, one.parameters) for one in made] == [("look", {"a": 1})]
    assert ledger.broken == []


def test_vllm_calls_with_and_without_arguments_are_told_apart_by_the_final_output() -> None:
    ledger = CallLedger()
    for at in (1, 2, 3):
        item_at = item(id=f"fc_{at}", call_id=f"call_{at}", arguments=ARGUMENTS if at == 1 else "")
        ledger.finish(item_at, at)
    final = [
        item(id=None, call_id=f"x{text}", arguments=text) for text in (ARGUMENTS, '{"b":2}', "")
    ]
    made = concluded(ledger, final, is_complete=True)
    assert sorted(one.arguments for one in made) == ['{"b":2}', "{}"]


@pytest.mark.parametrize("last", ["", "response.completed", "response.incomplete"])
def test_a_call_without_arguments_is_made_however_the_answer_ends(last: str) -> None:
    told = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "look"}
    events: list[JSON] = [
        {"type": "response.output_item.added", "output_index": 0, "item": told},
        {"type": "response.output_item.done", "output_index": 0, "item": {**told, "arguments": ""}},
    ]
    if last:
        events.append({"type": last, "response": {"output": []}})
    assert hear(events).calls == [("look", {})]


def test_empty_arguments_are_emitted_in_the_end_where_no_item_is_done() -> None:
    ledger = CallLedger()
    ledger.announce(item(), 0)
    ledger.complete(arguments(item_id="fc_1", arguments=""))
    assert concluded(ledger, [], is_complete=True) == [WholeCall("call_1", "look", {}, "{}")]


def test_arguments_that_never_came_are_not_empty() -> None:
    ledger = CallLedger()
    ledger.announce(item(), 0)
    assert concluded(ledger, [], is_complete=True) == []
    assert ledger.broken == ["look"]


@pytest.mark.parametrize("wrong", ["[1]", "7", '"text"', '{"a":', "{'a': 1}", "{}{}"])
def test_arguments_that_are_no_object_are_never_an_empty_one(wrong: str) -> None:
    ledger = CallLedger()
    ledger.announce(item(), 0)
    ledger.add(arguments(item_id="fc_1", delta=wrong))
    ledger.complete(arguments(item_id="fc_1", arguments=wrong))
    assert ledger.finish(item(arguments=wrong), 0) == []
    assert concluded(ledger, [item(arguments=wrong)], is_complete=True) == []
    assert ledger.broken == ["look"]


@pytest.mark.parametrize("wrong", [[1], [{"a": 1}], 7, 0, True, False])
def test_arguments_that_are_other_json_are_no_empty_object(wrong: Any) -> None:
    ledger = CallLedger()
    ledger.announce(item(), 0)
    ledger.complete(arguments(item_id="fc_1", arguments=wrong))
    assert ledger.finish(item(arguments=wrong), 0) == []
    assert concluded(ledger, [item(arguments=wrong)], is_complete=True) == []
    assert ledger.broken == ["look"]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("null", {}),
        ("[]", {}),
        ('""', {}),
        ([], {}),
        (None, {}),
        (" ", {}),
        ('"{}"', {}),
        (json.dumps(json.dumps('{"a":1}')), {"a": 1}),
    ],
)
def test_arguments_that_are_odd_are_what_was_meant(written: Any, meant: Any) -> None:
    for ledger in (CallLedger(), CallLedger()):
        ledger.announce(item(), 0)
        made = ledger.finish(item(arguments=written), 0)
        made += concluded(ledger, [], is_complete=True)
        assert [one.parameters for one in made] == [meant]


@pytest.mark.limit("agents.open_responses.stream.tool_call._MOST_WRAPPINGS")
def test_an_object_is_not_looked_for_in_text_without_end() -> None:
    text = '{"a":1}'
    for _ in range(4):
        text = json.dumps(text)
    ledger = CallLedger()
    assert ledger.finish(item(arguments=text), 0) == []


def test_half_a_character_does_no_harm() -> None:
    (found,) = CallLedger().finish(item(arguments=r'{"a":"\ud83d"}'), 0)
    assert found.parameters == {"a": "\ufffd"}


# Rule 4: what was cut off.


def test_a_call_that_is_incomplete_is_not_emitted() -> None:
    ledger = CallLedger()
    ledger.announce(item(), 0)
    ledger.add(arguments(item_id="fc_1", delta='{"text":"half'))
    cut = item(arguments='{"text":"half', status="incomplete")
    assert ledger.finish(cut, 0) == []
    assert concluded(ledger, [cut], is_complete=False) == []


def test_not_even_if_its_arguments_look_whole() -> None:
    cut = item(arguments=ARGUMENTS, status="incomplete")
    ledger = CallLedger()
    assert ledger.finish(cut, 0) == []
    assert concluded(ledger, [cut], is_complete=True) == []
    assert concluded(ledger, [], is_complete=True) == []
    assert ledger.broken == ["look"]


def test_calls_that_are_out_stay_out() -> None:
    events = script(call("look", ARGUMENTS, "call_1"))
    cut: JSON = {"type": "function_call", "id": "fc_9", "call_id": "call_9", "name": "go"}
    cut |= {"arguments": '{"text":"half', "status": "incomplete"}
    response: JSON = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    response["output"] = [*events[-1]["response"]["output"], cut]
    end = {"type": "response.incomplete", "response": response}
    done = {"type": "response.output_item.done", "output_index": 1, "item": cut}
    assert hear([*events[:-1], done, end]).calls == [("look", {"a": 1})]


def test_of_an_incomplete_response_only_items_that_say_they_are_complete_are_emitted() -> None:
    assert concluded(CallLedger(), [item(arguments=ARGUMENTS)], is_complete=False) == [LOOK]
    for status in (None, "in_progress", "incomplete"):
        unsure = item(arguments=ARGUMENTS, status=status)
        assert concluded(CallLedger(), [unsure], is_complete=False) == []


def test_of_an_incomplete_response_no_call_is_made_out_of_its_pieces() -> None:
    ledger = CallLedger()
    ledger.announce(item(), 0)
    ledger.add(arguments(item_id="fc_1", delta=ARGUMENTS))
    assert concluded(ledger, [], is_complete=False) == []


def test_an_item_in_progress_that_is_done_is_done() -> None:
    """OpenAI's calls out of a program say so."""
    assert CallLedger().finish(item(arguments=ARGUMENTS, status="in_progress"), 0) == [LOOK]


# Rule 5: the final output.


def test_the_same_call_under_another_id_in_the_end_is_not_new() -> None:
    events = script(call("look", '{"a": 1, "b": 2}'))
    (final,) = events[-1]["response"]["output"]
    events[-1]["response"]["output"] = [
        {**final, "id": "x", "call_id": "chatcmpl-tool-1", "arguments": '{"b":2,"a":1}'}
    ]
    assert hear(events).calls == [("look", {"a": 1, "b": 2})]


def test_two_real_calls_that_are_alike_stay_two() -> None:
    events = script(call(call_id="call_1"), call(call_id="call_2"))
    for number, final in enumerate(events[-1]["response"]["output"]):
        final |= {"id": f"tmp_{number}", "call_id": f"chatcmpl-tool-{number}"}
    assert len(hear(events).calls) == 2
    assert len(hear([events[0], events[-1]]).calls) == 2


def test_a_third_one_in_the_end_is_new() -> None:
    events = script(call(call_id="call_1"), call(call_id="call_2"))
    third = {**events[-1]["response"]["output"][0], "id": "fc_9", "call_id": "call_9"}
    events[-1]["response"]["output"].append(third)
    assert len(hear(events).calls) == 3


def test_what_has_other_ids_and_other_arguments_or_another_name_is_new() -> None:
    for change in ({"arguments": '{"b":2}'}, {"name": "go"}):
        ledger = CallLedger()
        assert ledger.finish(item(arguments=ARGUMENTS), 0) == [LOOK]
        final = {"id": "x", "call_id": "y", "arguments": ARGUMENTS, **change}
        assert len(concluded(ledger, [item(**final)], is_complete=True)) == 1


def test_calls_that_are_swapped_in_the_end_are_known() -> None:
    written = Script()
    written.begin()
    written.tell_calls([call("look", '{"a":1}', "call_1"), call("look", '{"b":2}', "call_2")])
    events = written.complete()
    events[-1]["response"]["output"].reverse()
    assert len(hear(events).calls) == 2


def test_one_id_for_two_calls_is_known_in_the_end_too() -> None:
    events = script(call(arguments='{"a":1}'), call(arguments='{"a":2}'))
    events[-1]["response"]["output"].reverse()
    assert len(hear(events).calls) == 2


def test_an_unfinished_call_is_completed_by_the_end() -> None:
    for change in ({}, {"call_id": "x"}, {"call_id": "x", "id": "y"}):
        ledger = CallLedger()
        ledger.announce(item(), 0)
        ledger.add(arguments(item_id="fc_1", delta='{"a"'))
        (found,) = concluded(ledger, [item(arguments=ARGUMENTS, **change)], is_complete=True)
        assert found.parameters == {"a": 1}
        assert ledger.broken == []


def test_an_unnamed_call_is_completed_by_the_end() -> None:
    ledger = CallLedger()
    ledger.add(arguments(delta='{"a"'))
    assert concluded(ledger, [item(arguments=ARGUMENTS)], is_complete=True) == [LOOK]


def test_unfinished_calls_of_the_same_name_are_told_apart_by_their_arguments() -> None:
    ledger = CallLedger()
    for number in (1, 2):
        ledger.announce(item(id=f"fc_{number}", call_id=f"call_{number}"), number)
        ledger.add(arguments(item_id=f"fc_{number}", delta=f'{{"a":{number}}}'))
    final = [
        item(id=f"t{number}", call_id=f"t{number}", arguments=f'{{"a":{number}}}')
        for number in (2, 1)
    ]
    found = concluded(ledger, final, is_complete=True)
    assert sorted(str(one.parameters) for one in found) == ["{'a': 1}", "{'a': 2}"]


def test_unfinished_calls_of_the_same_arguments_are_told_apart_by_their_names() -> None:
    ledger = CallLedger()
    for number, name in enumerate(("look", "go")):
        ledger.announce(item(id=f"fc_{number}", call_id=f"call_{number}", name=name), number)
        ledger.add(arguments(item_id=f"fc_{number}", delta=ARGUMENTS))
    final = [
        item(id=f"t_{name}", call_id=f"t_{name}", name=name, arguments=ARGUMENTS)
        for name in ("go", "look")
    ]
    found = concluded(ledger, final, is_complete=True)
    assert [(one.name, one.call_id) for one in found] == [("look", "t_look"), ("go", "t_go")]


# Rule 7: ids.


def test_one_id_with_the_same_arguments_is_one_call() -> None:
    """Vercel's gateway doubles items under other item ids."""
    events = script(call(), call())
    assert len(hear(events).calls) == 1


def test_one_id_with_other_arguments_or_another_name_is_two() -> None:
    for other in (call(arguments='{"at":2}'), call(name="go")):
        heard = hear(script(call(), other))
        assert len(heard.calls) == 2
        assert heard.call_ids == ["gw-call_1", "gw-call_1~1"]


def test_they_are_told_apart_as_soon_as_they_are_done() -> None:
    ledger = CallLedger()
    ledger.announce(item(), 0)
    assert ledger.finish(item(arguments=ARGUMENTS), 0) == [LOOK]
    ledger.announce(item(id="fc_2"), 1)
    ledger.add(arguments(item_id="fc_2", output_index=1, delta='{"b":2}'))
    (second,) = ledger.finish(item(id="fc_2"), 1)
    assert second.parameters == {"b": 2}
    assert ledger.finish(item(id="fc_3", arguments='{"c":3}'), 2)[0].parameters == {"c": 3}


@pytest.mark.parametrize("call_id", ["", None])
def test_a_call_without_an_id_is_emitted_with_one(call_id: str | None) -> None:
    events = script(call(), call("go"))
    for event in events:
        for one in [event.get("item"), *event.get("response", {}).get("output", ())]:
            if one:
                one["call_id"] = call_id
    heard = hear(events)
    assert [name for name, _ in heard.calls] == ["look", "go"]
    assert len(set(heard.call_ids)) == 2
    assert [one.server_call_id for one in heard.outcome.calls] == ["", ""]


def test_an_id_that_comes_late_is_the_calls() -> None:
    ledger = CallLedger()
    ledger.announce(item(call_id=""), 0)
    ledger.complete(arguments(item_id="fc_1", arguments=ARGUMENTS))
    assert ledger.finish(item(arguments=ARGUMENTS), 0) == [LOOK]


def test_a_call_is_emitted_after_the_text_before_it() -> None:
    heard = hear(script(call(), call("go", "", "call_2")))
    assert [e.name for e in heard.events if isinstance(e, CallTool)] == ["look", "go"]


# Items that are done without having been announced.


def test_an_item_with_other_ids_at_the_same_index_is_the_call_there() -> None:
    ledger = CallLedger()
    ledger.announce(item(), 0)
    ledger.complete(arguments(item_id="fc_1", arguments=ARGUMENTS))
    assert len(ledger.finish(item(id="x", call_id="y", arguments=ARGUMENTS), 0)) == 1
    assert concluded(ledger, [], is_complete=True) == []
    assert ledger.broken == []


@pytest.mark.parametrize("change", [{"arguments": '{"b":2}'}, {"name": "go"}])
def test_unless_it_is_another_call(change: JSON) -> None:
    ledger = CallLedger()
    ledger.announce(item(), 0)
    ledger.complete(arguments(item_id="fc_1", arguments=ARGUMENTS))
    other = item(**{"id": "x", "call_id": "y", "arguments": ARGUMENTS, **change})
    assert len(ledger.finish(other, 0)) == 1
    assert concluded(ledger, [], is_complete=True) == [LOOK]


def test_a_call_without_a_name_can_not_be_made() -> None:
    ledger = CallLedger()
    assert ledger.finish(item(name=None, arguments=ARGUMENTS), 0) == []
    assert concluded(ledger, [], is_complete=True) == []
    assert ledger.broken == [""]


# What is looked through is bounded.


@pytest.mark.limit("agents.open_responses.stream.tool_call_lookup.MOST_TRIED")
def test_what_has_no_key_is_looked_for_among_so_many_calls() -> None:
    for others, is_known in ((MOST_TRIED - 1, True), (MOST_TRIED, False)):
        search = CallSearch()
        for number in range(others):
            search.new().name = f"other{number}"
        search.new().name = "look"
        search.finished(item(id=None, call_id=None, arguments="{}"), None)
        assert len(search.records) == others + 1 + (not is_known)


@pytest.mark.parametrize("word", [None, "", "null", "[]", "{}"])
def test_a_word_for_no_arguments_after_their_pieces_takes_nothing_away(word: Any) -> None:
    ledger = CallLedger()
    ledger.announce(item(arguments=""), 0)
    ledger.add(arguments(item_id="fc_1", delta=ARGUMENTS[:3]))
    ledger.add(arguments(item_id="fc_1", delta=ARGUMENTS[3:]))
    ledger.complete(arguments(item_id="fc_1", arguments=word))
    made = ledger.finish(item(arguments=word), 0)
    made += concluded(ledger, [item(arguments=word)], is_complete=True)
    assert made == [LOOK]


@pytest.mark.parametrize("text", ['""', " ", "null", "[]", '"null"', '"[]"', '" "', '"{}"'])
@pytest.mark.parametrize("sources", [("deltas",), ("whole",), ("item",), ("deltas", "whole")])
def test_words_for_no_arguments_are_none_wherever_they_are(
    text: str, sources: tuple[str, ...]
) -> None:
    begun = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "look"}
    key = {"item_id": "fc_1", "output_index": 0}
    kind = "response.function_call_arguments"
    every: dict[str, JSON] = {
        "deltas": {"type": f"{kind}.delta", **key, "delta": text},
        "whole": {"type": f"{kind}.done", **key, "arguments": text},
        "item": {
            "type": "response.output_item.done",
            "output_index": 0,
            "item": {**begun, "arguments": text, "status": "completed"},
        },
    }
    heard = hear(
        [
            {"type": "response.output_item.added", "output_index": 0, "item": begun},
            *(every[source] for source in sources),
            {"type": "response.completed", "response": {"status": "completed", "output": []}},
        ]
    )
    assert heard.calls == [("look", {})]
    assert heard.outcome.fault is None


def test_an_empty_object_after_deltas_that_say_more_is_a_loss() -> None:
    ledger = CallLedger()
    ledger.announce(item(arguments="", status="in_progress"), 0)
    ledger.add(arguments(item_id="fc_1", output_index=0, delta=ARGUMENTS))
    ledger.complete(arguments(item_id="fc_1", output_index=0, arguments="{}"))
    assert concluded(ledger, [], is_complete=True) == [LOOK]
    ledger = CallLedger()
    ledger.announce(item(arguments="", status="in_progress"), 0)
    ledger.add(arguments(item_id="fc_1", output_index=0, delta=ARGUMENTS))
    assert ledger.finish(item(arguments="{}"), 0) == [LOOK]
    assert concluded(ledger, [item(arguments="{}")], is_complete=True) == []


# Calls that share their ids, as Kimi sends them.


GO_1, PUT_2, GO_3, GO_2 = ("go", {"x": 1}), ("put", {"x": 2}), ("go", {"x": 3}), ("go", {"x": 2})


@pytest.mark.parametrize("is_final", [True, False], ids=["final", "streamed alone"])
@pytest.mark.parametrize("is_announced", [True, False], ids=["announced", "done alone"])
@pytest.mark.parametrize("has_index", [True, False], ids=["index", "no index"])
@pytest.mark.parametrize(
    "ids",
    [{"call_id": "cc"}, {"call_id": "cc", "id": "it"}, {"call_id": "", "id": "it"}],
    ids=["call id", "both", "item id"],
)
@pytest.mark.parametrize(
    "calls", [(GO_1, PUT_2, GO_3), (GO_1, GO_2, PUT_2), (PUT_2, GO_1, GO_3), (GO_1, GO_2)]
)
def test_kimi_calls_that_share_their_ids_are_made_each_once(
    calls: tuple[tuple[str, JSON], ...],
    ids: JSON,
    has_index: bool,
    is_announced: bool,
    is_final: bool,
) -> None:
    events: list[JSON] = []
    items: list[JSON] = []
    for index, (name, parameters) in enumerate(calls):
        place = {"output_index": index} if has_index else {}
        begun = {"type": "function_call", "name": name, "arguments": "", **ids}
        items.append({**begun, "arguments": json.dumps(parameters), "status": "completed"})
        if is_announced:
            events.append({"type": "response.output_item.added", **place, "item": begun})
        events.append({"type": "response.output_item.done", **place, "item": items[-1]})
    output = items if is_final else []
    response = {"status": "completed", "output": output}
    heard = hear([*events, {"type": "response.completed", "response": response}])
    assert sorted(map(str, heard.calls)) == sorted(map(str, calls))
    assert len(set(heard.call_ids)) == len(calls)


def test_an_equal_call_under_the_same_ids_takes_no_other_call() -> None:
    items = [item(id="it", call_id="", arguments=json.dumps({"x": x})) for x in (1, 1, 2)]
    ledger = CallLedger()
    made = [call for one in items for call in ledger.finish(one, 0)]
    made += concluded(ledger, items, is_complete=True)
    assert sorted(call.parameters["x"] for call in made) == [1, 1, 2]


def test_a_call_gets_no_name_of_another_that_has_its_ids() -> None:
    ledger = CallLedger()
    ledger.announce(item(name="put"), 0)
    final = [item(name="go", arguments='{"x":1}'), item(name="put", arguments='{"x":2}')]
    made = concluded(ledger, final, is_complete=True)
    assert sorted((one.name, one.parameters["x"]) for one in made) == [("go", 1), ("put", 2)]
