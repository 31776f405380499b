"""An ACP agent has tools of its own; the model of an endpoint has none."""

from __future__ import annotations

from typing import Any

import pytest

from agents.duplicates import AGENT_HOST, DUPLICATES, LOCAL_HARNESS, has_own_tools
from bridge.models import AgentChoice
from bridge.wire import PROGRESS_TOOL


@pytest.mark.parametrize(
    ("definition", "has"),
    [
        ({"acp": {"name": "a", "command": "a"}}, True),
        ({"mcp_server": {"name": "a", "command": "a"}}, True),
        ({"open_responses": {"baseUrl": "http://127.0.0.1:1/v1", "model": "m"}}, False),
        ({"eliza": {}}, False),
    ],
)
def test_only_an_acp_agent_has_tools_of_its_own(definition: dict[str, Any], has: bool) -> None:
    assert has_own_tools(AgentChoice.of(definition)) is has


def test_each_tool_is_named_once_and_what_only_the_editor_knows_is_offered() -> None:
    names = [n for kinds in (LOCAL_HARNESS, AGENT_HOST) for some in kinds.values() for n in some]
    assert len(names) == len(DUPLICATES)
    only_the_editor_s = {"get_errors", "problems", "vscode_listCodeUsages", "usages", "runTests"}
    assert DUPLICATES.isdisjoint({*only_the_editor_s, PROGRESS_TOOL})
