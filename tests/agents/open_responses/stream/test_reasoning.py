"""Encrypted reasoning goes to the editor with a response, and comes back to the same place."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from agents.events import Think
from agents.open_responses.items import CallItem, Item, MessageItem, ReasoningItem
from agents.open_responses.request.messages import ConversionOptions, convert_messages
from agents.open_responses.stream.outcome import Called
from agents.open_responses.stream.reasoning import (
    KeptReasoning,
    kept_in,
    reasoning_item,
    record_of,
)
from bridge.wire import ThinkingPart
from tests.agents.open_responses.hearing import hear
from tests.agents.open_responses.script import Call, Piece, Thought, call, say, script
from tests.agents.open_responses.words import assistant, result, user
from tests.agents.open_responses.words import call as called

LOOK = Called("gw-call_1", "call_1", "look", "{}")


def thought(encrypted: str | None = "ENC", *texts: str) -> dict[str, Any]:
    summary = [{"type": "summary_text", "text": text} for text in texts]
    return {"type": "reasoning", "id": "rs", "summary": summary, "encrypted_content": encrypted}


def record(*items: dict[str, Any], origin: str = "") -> Any:
    raw = [msgspec.Raw(json.dumps(item).encode()) for item in items]
    steps = record_of(raw, [LOOK], origin)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def asked(call_id: str) -> dict[str, Any]:
    return {"type": "function_call", "call_id": call_id, "name": "look", "arguments": "{}"}


def test_what_is_kept_comes_back() -> None:
    kept = record(thought("1", "hm", "so"), asked("call_1"), thought("2"), {"type": "message"})
    shown = ({"type": "summary_text", "text": "hm"}, {"type": "summary_text", "text": "so"})
    assert kept_in(json.loads(json.dumps(kept)), "") == [
        KeptReasoning(ReasoningItem(shown, None, "1"), "gw-call_1"),
        KeptReasoning(ReasoningItem((), None, "2")),
    ]


def test_what_can_be_read_without_the_server_is_not_kept() -> None:
    assert record(thought(None, "hm"), thought(""), {"type": "message"}) is None
    assert record() is None


def test_reasoning_that_led_to_an_unknown_call_led_to_the_answer() -> None:
    (one,) = kept_in(record(thought(), asked("call_9")), "")
    assert one.call_id == ""


def test_only_who_wrote_it_can_read_it() -> None:
    kept = record(thought(), origin="a")
    assert len(kept_in(kept, "a")) == 1
    assert kept_in(kept, "b") == []


@pytest.mark.parametrize(
    "metadata",
    [
        None,
        7,
        {},
        {"signature": "x"},
        {"openResponses": 7},
        {"openResponses": {"origin": "", "reasoning": {}}},
        {"openResponses": {"origin": "", "reasoning": [7, {}, {"encrypted": 7}]}},
        {"openResponses": {"origin": 7, "reasoning": [{"encrypted": "x"}]}},
    ],
    ids=str,
)
def test_what_is_no_record_of_ours_says_nothing(metadata: Any) -> None:
    assert kept_in(metadata, "") == []


def test_a_record_that_was_changed_does_no_harm() -> None:
    one = {"encrypted": "x", "summary": [7, "hm"], "call": 7}
    other = {"encrypted": "y", "summary": "hm"}
    kept = {"openResponses": {"origin": "", "reasoning": [one, other]}}
    assert kept_in(kept, "") == [
        KeptReasoning(ReasoningItem(({"type": "summary_text", "text": "hm"},), None, "x")),
        KeptReasoning(ReasoningItem((), None, "y")),
    ]


def test_reasoning_in_the_server_s_own_words_is_an_item_too() -> None:
    content = [{"type": "reasoning_text", "text": "hm"}]
    assert reasoning_item({"summary": [], "content": content}) == ReasoningItem((), content)
    assert reasoning_item({**thought(), "content": content}) == ReasoningItem((), None, "ENC")
    assert reasoning_item({"summary": []}) is None


# The whole way: from a stream to the editor, and back into a request.


def items_after(*pieces: Piece, origin: str = "", asked_by: str = "") -> list[Item]:
    """Return the request after a response, as made of nothing but what the editor repeats."""
    heard = hear(script(*pieces), origin=origin)
    *_, last = [event for event in heard.events if isinstance(event, Think)]
    parts = [ThinkingPart(heard.thought, last.id, last.metadata)]  # hosts join them so
    calls = zip(heard.call_ids, heard.calls, strict=True)
    made = [called(call_id, name, **parameters) for call_id, (name, parameters) in calls]
    said = [heard.text] if heard.text else []
    results = [result(call_id) for call_id in heard.call_ids]
    chat = [user("a"), assistant(*parts, *said, *made), user(*results)]
    return [*convert_messages(chat, ConversionOptions(origin=asked_by)).items][1:]


def kinds(items: list[Item]) -> list[str]:
    return [type(item).__name__.removesuffix("Item").lower() for item in items]


def test_within_a_tool_loop_the_server_gets_its_reasoning_back() -> None:
    items = items_after(Thought([["h", "m"]], is_summary=True), call())
    summary = ({"type": "summary_text", "text": "hm"},)
    assert items[0] == ReasoningItem(summary, None, "secret 0")
    assert kinds(items) == ["reasoning", "call", "result"]


def test_each_piece_of_it_stands_before_what_it_led_to() -> None:
    both = [Thought([["1"]]), say("b"), Thought([["2"]]), call(), Call("go", ["{}"], "call_2")]
    items = items_after(*both)
    assert kinds(items) == ["reasoning", "message", "reasoning", "call", "call", "result", "result"]
    assert isinstance(items[1], MessageItem)
    assert isinstance(items[3], CallItem)
    secrets = [item.encrypted_content for item in items if isinstance(item, ReasoningItem)]
    assert secrets == ["secret 0", "secret 2"]


def test_another_endpoint_is_not_told_it() -> None:
    pieces = Thought([["hm"]]), call()
    assert kinds(items_after(*pieces, origin="a", asked_by="b")) == ["call", "result"]
    assert "reasoning" in kinds(items_after(*pieces, origin="a", asked_by="a"))


def test_reasoning_without_what_it_led_to_is_left_out() -> None:
    """A server refuses it."""
    kept = record(thought(), asked("call_1"))
    chat = [user("a"), assistant(ThinkingPart("hm", None, kept), " "), user("b")]
    assert kinds([*convert_messages(chat).items]) == ["message", "message"]


def test_reasoning_whose_call_is_gone_stands_in_front() -> None:
    kept = record(thought(), asked("call_1"))
    chat = [user("a"), assistant(ThinkingPart("hm", None, kept), "b"), user("c")]
    assert kinds([*convert_messages(chat).items]) == ["message", "reasoning", "message", "message"]


def test_nothing_is_kept_of_a_response_without_encrypted_reasoning() -> None:
    assert not [event for event in hear(script(say("a"))).events if isinstance(event, Think)]
