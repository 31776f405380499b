from __future__ import annotations

from typing import Any

import pytest

from agents.acp.calls.state import CallRecord, command_in
from agents.acp.schema.content import (
    Content,
    TextContent,
    ToolCall,
    ToolCallLocation,
    ToolCallUpdate,
)


def record(*news: ToolCall | ToolCallUpdate) -> CallRecord:
    call = CallRecord("1")
    for item in news:
        call.learn(item)
    return call


def test_none_changes_nothing_and_lists_replace() -> None:
    content = (Content(TextContent("a")), Content(TextContent("b")))
    call = record(
        ToolCall(
            "1", "Read", "read_file", "read", "in_progress", content, (ToolCallLocation("a"),)
        ),
        ToolCallUpdate("1", raw_input={"path": "a"}, raw_output="x"),
        ToolCallUpdate("1"),
        ToolCallUpdate("1", content=content[:1], locations=()),
    )
    assert (call.title, call.name, call.kind, call.status) == (
        "Read", "read_file", "read", "in_progress",
    )  # fmt: skip
    assert call.content == content[:1]
    assert call.locations == ()
    assert call.raw_input == {"path": "a"}
    assert call.raw_output == "x"


def test_a_second_announcement_does_not_take_back_what_is_known() -> None:
    call = record(
        ToolCall("1", "Read a", kind="read", raw_input={"path": "a"}),
        ToolCall("1", "", raw_input={}),
    )
    assert (call.title, call.kind, call.raw_input) == ("Read a", "read", {"path": "a"})


@pytest.mark.parametrize("status", ["completed", "failed", "cancelled"])
def test_a_call_is_over_by_its_status(status: str) -> None:
    assert record(ToolCallUpdate("1", status=status)).is_over
    assert not record(ToolCallUpdate("1", status="paused")).is_over


def test_a_waiting_call_of_which_only_a_title_is_known_is_bare() -> None:
    assert record(ToolCall("1", "Terminal", raw_input={})).is_bare
    assert not record(ToolCall("1", "Terminal", raw_input={"command": "ls"})).is_bare
    assert not record(ToolCall("1", "Terminal", status="in_progress")).is_bare


def test_a_call_of_which_there_is_only_an_id_is_not_known() -> None:
    assert not record(ToolCallUpdate("1", meta={"a": 1})).is_known
    assert record(ToolCallUpdate("1", title="x")).is_known
    assert record(ToolCallUpdate("1", status="failed")).is_known


@pytest.mark.parametrize(
    ("given", "arguments"),
    [
        (None, {}),
        ("text", {}),
        ({"a": 1}, {"a": 1}),
        ({"server": "s", "tool": "t", "arguments": {"a": 1}}, {"a": 1}),
        ({"arguments": {"a": 1}, "path": "x"}, {"arguments": {"a": 1}, "path": "x"}),
        ({"server": "s", "tool": "t", "arguments": {}}, {}),
        ({"arguments": "text"}, {"arguments": "text"}),
        ({"mcpInput": {"a": 1}}, {"a": 1}),
        ({"mcpInput": {"a": 1}, "path": "x"}, {"mcpInput": {"a": 1}, "path": "x"}),
        ({"mcpInput": "text"}, {"mcpInput": "text"}),
    ],
)
def test_arguments_are_the_input_without_a_wrapper(given: Any, arguments: dict[str, Any]) -> None:
    assert record(ToolCallUpdate("1", raw_input=given)).arguments == arguments


def test_what_is_put_around_the_input_is_known_whatever_comes_instead() -> None:
    wrapped = {"server": "vs", "tool": "run", "arguments": {"path": "a"}}
    call = record(ToolCallUpdate("1", raw_input=wrapped), ToolCallUpdate("1", raw_input={"x": 1}))
    assert call.wrapper == ("vs", "run")
    assert call.raw_input == {"x": 1}
    assert record(ToolCallUpdate("1", raw_input={**wrapped, "x": 1})).wrapper == ("", "")
    assert record(ToolCallUpdate("1", raw_input="vs")).wrapper == ("", "")


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({}, (None, "")),
        ({"command": ""}, (None, "")),
        ({"command": []}, (None, "")),
        ({"command": {"argv": ["ls"]}}, (None, "")),
        ({"command": "ls -l"}, ("command", "ls -l")),
        ({"cmd": ["cat", "a b", 1]}, ("cmd", "cat 'a b' 1")),
        ({"command": "", "cmd": "ls"}, ("cmd", "ls")),
        ({"cmd": "ls", "command": "pwd"}, ("command", "pwd")),
    ],
)
def test_a_command_is_a_line_or_a_list_of_words(
    arguments: dict[str, Any], found: tuple[str | None, str]
) -> None:
    assert command_in(arguments) == found
