"""The tools that the terminal offers."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec
import pytest

from actors.permissions import is_approval
from bridge.wire import PERMISSION_TOOL, ToolCallPart, ToolResultPart
from vscodelm.chat.tools import TOOLS, Permission, decided, run_tool, text_of

ASKED = ToolCallPart("1", PERMISSION_TOOL, {"title": "Delete it", "kind": "delete"})


def test_the_permission_tool_and_the_clock_are_offered() -> None:
    assert [tool.name for tool in TOOLS] == [PERMISSION_TOOL, "current_time"]


def test_the_bridge_takes_the_users_yes_for_an_approval_and_the_no_for_none() -> None:
    def on_the_wire(result: ToolResultPart) -> ToolResultPart:
        return msgspec.json.decode(msgspec.json.encode(result), type=ToolResultPart)

    assert is_approval(on_the_wire(decided(ASKED, allowed=True)))
    assert not is_approval(on_the_wire(decided(ASKED, allowed=False)))
    assert text_of(decided(ASKED, allowed=False)) == "Denied by the user."


def test_the_clock_tells_the_time_with_its_offset() -> None:
    result = run_tool(ToolCallPart("1", "current_time", {}))
    assert not result.is_error
    assert datetime.fromisoformat(text_of(result)).tzinfo is not None


def test_a_tool_that_is_not_there_answers_with_an_error() -> None:
    result = run_tool(ToolCallPart("1", "format_disk", {}))
    assert result.is_error
    assert text_of(result) == "There is no tool format_disk here."


@pytest.mark.parametrize(
    ("parameters", "title", "kind", "details"),
    [
        ({"title": "Run it", "kind": "execute"}, "Run it", "execute", ""),
        (
            {"title": "Run it", "kind": "execute", "command": "ls"},
            "Run it",
            "execute",
            '{\n  "command": "ls"\n}',
        ),
        ({"path": "a"}, "The agent wants to do something.", "other", '{\n  "path": "a"\n}'),
        (
            {"title": "Run it", "kind": "execute", "message": "X asks:", "rawInput": {}},
            "Run it",
            "execute",
            "X asks:",
        ),
        ("anything", "The agent wants to do something.", "other", '"anything"'),
        (None, "The agent wants to do something.", "other", ""),
    ],
)
def test_a_permission_shows_all_that_the_agent_gave(
    parameters: Any, title: str, kind: str, details: str
) -> None:
    assert Permission.of(parameters) == Permission(title, kind, details)
