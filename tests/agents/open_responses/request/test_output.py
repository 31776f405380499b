from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import Raw

from agents.loading import load
from agents.open_responses.items import (
    ApprovalRequestItem,
    CallItem,
    CompactionItem,
    MessageItem,
    OutputText,
    ReasoningItem,
    Refusal,
)
from agents.open_responses.request import output as request_output
from agents.open_responses.request.messages import OpenCall
from agents.open_responses.request.output import Heard, heard
from agents.open_responses.stream.approvals import Approval
from agents.open_responses.stream.outcome import Called, ResponseOutcome
from bridge.work import done
from tests.growth import assert_linear

ONE = Called("gw-1", "1", "read_file", '{"a": 1}')
TWO = Called("gw-2", "2", "read_file", '{"a": 2}')


def message(*content: Any, **fields: Any) -> dict[str, Any]:
    return {"type": "message", "id": "msg_1", "role": "assistant", "content": [*content], **fields}


def text(value: str) -> dict[str, Any]:
    return {"type": "output_text", "text": value, "annotations": []}


def function(call_id: Any, arguments: str, name: str = "read_file") -> dict[str, Any]:
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments}


def after(*output: Any, said: str = "", calls: tuple[Called, ...] = (), **fields: Any) -> Heard:
    raws = tuple(Raw(json.dumps(item).encode()) for item in output)
    known: dict[str, Any] = {
        "status": "completed",
        "response_id": "resp_1",
        "store": True,
        **fields,
    }
    return done(heard(ResponseOutcome(output=raws, calls=calls, **known), said))


def test_a_message_is_kept_with_its_phase_and_without_its_id() -> None:
    got = after(message(text("Hell"), text("o"), phase="commentary"), said="Hello [1](x)")
    assert got.items == (MessageItem("assistant", "Hello", "commentary"),)
    assert got.is_chainable
    assert after(message(text("x"), phase="odd")).items == (MessageItem("assistant", "x"),)


def test_a_refusal_stays_one() -> None:
    got = after(message(text("Well."), {"type": "refusal", "refusal": "No."}))
    assert got.items == (MessageItem("assistant", (OutputText("Well."), Refusal("No."))),)


def test_what_says_nothing_is_no_item() -> None:
    assert after(message(text(" "), text(""), {"type": "odd"}, 7), message()).items == ()
    assert after({"type": "message"}, {"type": "web_search_call", "id": "ws"}, 7, None).items == ()
    broken = ResponseOutcome(status="completed", output=(Raw(b"{"),))
    assert done(heard(broken, "Hello")).items == (MessageItem("assistant", "Hello"),)


def test_what_the_output_leaves_out_and_the_editor_was_shown_is_kept() -> None:
    got = after(function("1", '{"a": 1}'), said="Hello", calls=(ONE, TWO))
    assert got.items == (
        MessageItem("assistant", "Hello"),
        CallItem("1", "read_file", '{"a": 1}'),
        CallItem("2", "read_file", '{"a": 2}'),
    )
    assert got.calls == {"gw-1": OpenCall("1", "read_file"), "gw-2": OpenCall("2", "read_file")}


def test_a_call_that_was_not_shown_is_no_item() -> None:
    assert after(function("9", "{}")).items == ()


def test_a_call_is_known_by_the_id_that_the_server_gave_it_last() -> None:
    got = after(function("x", '{"a":2}'), function("y", '{"a":1}'), calls=(ONE, TWO))
    assert got.items == (
        CallItem("x", "read_file", '{"a": 2}'),
        CallItem("y", "read_file", '{"a": 1}'),
    )
    assert got.calls["gw-1"].server_id == "y"
    other = after(function("x", "{", "other"), calls=(ONE,))
    assert other.items == (CallItem("1", "read_file", '{"a": 1}'),)


def test_a_call_without_an_id_gets_one_and_is_nothing_to_go_on_from() -> None:
    got = after(function("", "{}"), calls=(Called("gw-~1", "", "read_file", " "),))
    assert got.items == (CallItem("~1", "read_file", "{}"),)
    assert not got.is_chainable


def test_several_calls_in_one_of_the_server_s_have_ids_of_their_own() -> None:
    calls = (Called("gw-1", "1", "a", "{}"), Called("gw-1~1", "1", "b", "{}"))
    got = after(function("1", "{}", "parallel"), calls=calls)
    assert got.items == (CallItem("1", "a", "{}"), CallItem("gw-1~1", "b", "{}"))


def test_reasoning_goes_back_with_what_came_of_it() -> None:
    encrypted = {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "hm", "x": 1}, {"type": "odd"}],
        "encrypted_content": "ENC",
        "content": [{"type": "reasoning_text", "text": "raw"}],
    }
    shown = ({"type": "summary_text", "text": "hm"},)
    got = after(encrypted, function("1", '{"a": 1}'), calls=(ONE,))
    assert got.items[0] == ReasoningItem(shown, None, "ENC")
    raw = {"type": "reasoning", "content": [{"type": "reasoning_text", "text": "raw"}]}
    assert after(raw, message(text("a"))).items[0] == ReasoningItem((), raw["content"])
    assert len(after({"type": "reasoning", "summary": []}, message(text("a"))).items) == 1
    assert after(message(text("a")), encrypted).items == (MessageItem("assistant", "a"),)


def test_a_compaction_stands_for_all_before_it() -> None:
    compaction = {"type": "compaction", "id": "cmp_1", "encrypted_content": "ENC"}
    got = after(message(text("old")), compaction, message(text("new")))
    assert got.items == (CompactionItem("ENC"), MessageItem("assistant", "new"))


def test_of_a_response_that_did_not_complete_only_counts_what_was_shown() -> None:
    for status in ("open", "incomplete", "failed"):
        got = after(message(text("Hello and more")), said="Hello", calls=(ONE,), status=status)
        assert got.items == (
            MessageItem("assistant", "Hello"),
            CallItem("1", "read_file", '{"a": 1}'),
        )
        assert not got.is_chainable


def test_only_what_the_server_keeps_can_be_gone_on_from() -> None:
    assert not after(message(text("a")), store=None).is_chainable
    assert not after(message(text("a")), store=False).is_chainable
    assert not after(message(text("a")), response_id=None).is_chainable


@pytest.mark.parametrize("has_other_ids", [False, True])
def test_many_calls_in_another_order_are_found_in_linear_time(has_other_ids: bool) -> None:
    def make(number: int) -> ResponseOutcome:
        calls = [Called(f"gw-{n}", f"{n}", "look", f'{{"a":{n}}}') for n in range(number)]
        prefix = "other" if has_other_ids else ""
        written = [function(f"{prefix}{n}", f'{{"a": {n}}}', "look") for n in range(number)]
        raws = tuple(Raw(json.dumps(item).encode()) for item in reversed(written))
        return ResponseOutcome(status="completed", output=raws, calls=tuple(calls))

    assert_linear(make, lambda outcome: done(heard(outcome, "")), 250)


@pytest.mark.parametrize("prefix", ["", "other", None])
def test_no_step_reads_more_than_a_call_or_two(
    prefix: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether the output has the calls by their ids, by other ids, or not at all."""
    read: list[object] = []

    def counted(text: Any) -> Any:
        read.append(text)
        return load(text)

    monkeypatch.setattr(request_output, "load", counted)
    calls = tuple(Called(f"gw-{n}", f"{n}", "look", f'{{"a":{n}}}') for n in range(20))
    written = (
        []
        if prefix is None
        else [function(f"{prefix}{n}", f'{{"a":{n}}}', "look") for n in range(20)]
    )
    raws = tuple(Raw(json.dumps(item).encode()) for item in written)
    most, steps = 0, 0
    for _ in heard(ResponseOutcome(status="completed", output=raws, calls=calls), ""):
        most, steps = max(most, len(read)), steps + 1
        read.clear()
    assert most <= 2
    assert steps >= 20


def test_a_call_is_found_by_what_it_asks_however_that_is_written() -> None:
    odd = Called("gw-3", "3", "read_file", "no JSON")
    large = Called("gw-4", "4", "read_file", '{"a": %s}' % ("1" * 5000))
    got = after(
        function("x", "no JSON"),
        function("y", '{ "a":2 }'),
        function("z", '{"a":  1.0}'),
        function("w", large.arguments),
        calls=(ONE, TWO, odd, large),
    )
    assert {call_id: call.server_id for call_id, call in got.calls.items()} == {
        "gw-3": "x",
        "gw-2": "y",
        "gw-1": "z",
        "gw-4": "w",
    }


def test_a_call_that_was_found_by_its_words_is_not_found_again_by_its_id() -> None:
    got = after(function("x", '{"a":1}'), function("1", '{"a":3}'), calls=(ONE, TWO))
    assert {call_id: call.server_id for call_id, call in got.calls.items()} == {
        "gw-1": "x",
        "gw-2": "2",
    }


@pytest.mark.parametrize("kind", ["mcp_approval_request", "openai:mcp_approval_request"])
@pytest.mark.parametrize(
    ("arguments", "kept"), [('{"a": 1}', '{"a": 1}'), ({"a": 1}, '{"a":1}'), (None, "{}")]
)
def test_a_question_that_was_asked_is_repeated_with_its_arguments(
    kind: str, arguments: Any, kept: str
) -> None:
    question = {
        "type": kind,
        "id": "mcpr_1",
        "server_label": "docs",
        "name": "ask",
        "arguments": arguments,
    }
    got = after(question, approvals=(Approval("gw-1", "mcpr_1"),))
    assert got.items == (ApprovalRequestItem("mcpr_1", "docs", "ask", kept),)
    assert got.approvals == {"gw-1": "mcpr_1"}
    assert after(question).items == ()
