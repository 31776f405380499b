"""A todo list is told from other calls by its input, and becomes a plan."""

from __future__ import annotations

from typing import Any

import pytest

from agents.acp.content import ToolCall
from agents.acp.page import Page
from agents.acp.todos import todo_entries
from agents.acp.told import Told
from agents.acp.tool_call import CallRecord
from agents.acp.tool_calls import ToolCalls
from agents.acp.updates import PlanEntry

ITEM = {"content": "Do it", "status": "completed"}


@pytest.mark.parametrize(
    "given",
    [
        {"todos": [ITEM]},
        {"todos": [ITEM], "merge": True},
        {"todos": [{"description": "Do it", "status": "completed", "id": 1}]},
        {"server": "x", "tool": "y", "arguments": {"todos": [ITEM]}},
    ],
)
def test_the_ways_in_which_agents_write_a_list(given: Any) -> None:
    assert todo_entries(CallRecord("c", raw_input=given)) == (
        PlanEntry("Do it", status="completed"),
    )


@pytest.mark.parametrize(
    "given",
    [
        None,
        "todos",
        {"todos": "Do it"},
        {"todos": []},
        {"todos": ["Do it"]},
        {"todos": [ITEM, {"content": ""}]},
        {"todos": [{"content": "a", "status": 3}]},
        {"todos": [ITEM], "path": "/etc/passwd"},
    ],
)
def test_what_is_no_list_is_an_ordinary_call(given: Any) -> None:
    assert todo_entries(CallRecord("c", raw_input=given)) is None


def test_a_list_that_could_not_be_written_is_a_call_that_failed() -> None:
    calls = ToolCalls(Page(), Told(), "", None)
    (say,) = calls.update(ToolCall("1", "todowrite", status="failed", raw_input={"todos": [ITEM]}))
    assert say.text.startswith("✘ todowrite ")
    assert say.text.endswith(" *failed*")
