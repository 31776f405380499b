"""Whole calls on their way to the editor."""

from __future__ import annotations

from typing import Any

import pytest

from agents.events import CallTool
from agents.open_responses.stream.call_ids import CallIds
from agents.open_responses.stream.emitted_calls import Calling, unwrap
from agents.open_responses.stream.outcome import Called
from agents.open_responses.stream.tool_calls import WholeCall


def test_a_call_goes_out_under_the_editor_s_id_and_is_noted() -> None:
    calling = Calling(CallIds().outward, None)
    assert list(calling.make([WholeCall("1", "look", {"a": 1}, '{"a": 1}')])) == [
        CallTool("gw-1", "look", {"a": 1})
    ]
    assert calling.made == [Called("gw-1", "1", "look", '{"a": 1}')]
    assert calling.server_ids == {"1"}


def test_calls_within_a_call_go_out_each_with_an_id() -> None:
    calling = Calling(CallIds().outward, ["look"])
    uses = [{"recipient_name": "functions.look", "parameters": {"a": n}} for n in (1, 2)]
    made = list(calling.make([WholeCall("1", "parallel", {"tool_uses": uses}, "")]))
    assert [(one.call_id, one.parameters) for one in made] == [
        ("gw-1", {"a": 1}),
        ("gw-1~1", {"a": 2}),
    ]
    assert calling.server_ids == {"1"}


LOOK = {"recipient_name": "functions.look", "parameters": {"a": 1}}


def wrapped(parameters: dict[str, Any], name: str = "parallel") -> WholeCall:
    return WholeCall("call_1", name, parameters, "")


@pytest.mark.parametrize("name", ["parallel", "multi_tool_use.parallel"])
def test_the_calls_in_it_are_made(name: str) -> None:
    found = unwrap(wrapped({"tool_uses": [LOOK, LOOK]}, name), ["look"])
    assert found == [WholeCall("call_1", "look", {"a": 1}, '{"a":1}')] * 2


@pytest.mark.parametrize(
    ("parameters", "tools"),
    [
        ({"tool_uses": [LOOK]}, None),
        ({"tool_uses": [LOOK]}, ["look", "parallel"]),
        ({"tool_uses": [LOOK]}, ["go"]),
        ({"tool_uses": [LOOK, {"recipient_name": "look"}]}, ["look"]),
        ({"tool_uses": []}, ["look"]),
        ({"tool_uses": {}}, ["look"]),
        ({}, ["look"]),
    ],
)
def test_it_is_a_call_as_any_where_that_is_not_sure(
    parameters: dict[str, Any], tools: list[str] | None
) -> None:
    assert unwrap(wrapped(parameters), tools) == [wrapped(parameters)]


def test_other_calls_are_left_alone() -> None:
    call = wrapped({"tool_uses": [LOOK]}, "other")
    assert unwrap(call, ["look"]) == [call]
