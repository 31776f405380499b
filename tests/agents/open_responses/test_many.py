"""An answer of thousands of items takes a time that grows as they do, whatever their ids are."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agents.events import CallTool, Say
from tests.growth import assert_linear

from .hearing import JSON, hear

BEGIN: JSON = {"type": "response.created", "response": {"id": "resp_1", "output": []}}


def message(number: int, name: str) -> JSON:
    content = [{"type": "output_text", "text": f"text {number}"}]
    return {"type": "message", "id": f"{name}{number}", "content": content}


def call(number: int, name: str, arguments: Any = None) -> JSON:
    ids = {"id": f"fc_{name}{number}", "call_id": f"call_{name}{number}"}
    text = json.dumps({"a": number}) if arguments is None else arguments
    return {
        "type": "function_call",
        **ids,
        "name": "look",
        "arguments": text,
        "status": "completed",
    }


def end(output: list[JSON]) -> JSON:
    return {"type": "response.completed", "response": {"status": "completed", "output": output}}


def messages_with_other_ids(count: int) -> list[JSON]:
    deltas = [
        {
            "type": "response.output_text.delta",
            "item_id": f"a{number}",
            "output_index": number + 7,
            "delta": f"text {number}"[:4],
        }
        for number in range(count)
    ]
    return [BEGIN, *deltas, end([message(number, "b") for number in range(count)])]


def messages_done_with_other_ids(count: int) -> list[JSON]:
    done = [
        {"type": "response.output_item.done", "item": message(number, name)}
        for name in ("a", "b")
        for number in range(count)
    ]
    return [BEGIN, *done, end([message(number, "c") for number in range(count)])]


def calls_with_other_ids(count: int) -> list[JSON]:
    done = [
        {"type": "response.output_item.done", "item": call(number, "a")} for number in range(count)
    ]
    return [BEGIN, *done, end([call(number, "b") for number in range(count)])]


def calls_without_arguments(count: int) -> list[JSON]:
    added = [
        {"type": "response.output_item.added", "item": call(number, "a", "")}
        for number in range(count)
    ]
    pieces = [
        {"type": "response.function_call_arguments.delta", "item_id": f"x{number}", "delta": "{}"}
        for number in range(count)
    ]
    done = [
        {"type": "response.output_item.done", "item": call(number, "b", "")}
        for number in range(count)
    ]
    return [BEGIN, *added, *pieces, *done, end([])]


def calls_in_the_end_alone(count: int) -> list[JSON]:
    return [BEGIN, end([call(number, "a") for number in range(count)])]


def stray_arguments(count: int) -> list[JSON]:
    added = [
        {"type": "response.output_item.added", "item": call(number, "a", "")} for number in (1, 2)
    ]
    pieces = [
        {"type": "response.function_call_arguments.delta", "item_id": "x", "delta": '{"a": 1} '}
        for _ in range(count)
    ]
    return [BEGIN, *added, *pieces, end([call(number, "b", "") for number in range(count)])]


@pytest.mark.parametrize(
    "make",
    [
        messages_with_other_ids,
        messages_done_with_other_ids,
        calls_with_other_ids,
        calls_without_arguments,
        calls_in_the_end_alone,
        stray_arguments,
    ],
)
def test_many_items_take_linear_time(make: Any) -> None:
    assert_linear(make, hear, 100)


def test_many_messages_with_other_ids_in_the_end_are_said_once() -> None:
    said = [event for event in hear(messages_with_other_ids(300)).events if isinstance(event, Say)]
    assert "".join(event.text for event in said).count("text") == 300


def test_many_calls_with_other_ids_in_the_end_are_made_once() -> None:
    calls = hear(calls_with_other_ids(300)).events
    assert [one.parameters["a"] for one in calls if isinstance(one, CallTool)] == [*range(300)]
