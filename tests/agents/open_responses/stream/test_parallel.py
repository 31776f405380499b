from __future__ import annotations

from typing import Any

import pytest

from agents.open_responses.stream.parallel import unwrap
from agents.open_responses.stream.tool_calls import WholeCall

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
