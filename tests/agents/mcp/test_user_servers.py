from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from agents.mcp.user_servers import read_servers, values_of
from bridge.wire import EnvVariable, McpHeader, UserMcpServer


def raw(value: Any) -> msgspec.Raw:
    return msgspec.Raw(json.dumps(value).encode())


def test_servers_are_read_and_one_that_is_wrong_costs_only_itself() -> None:
    env = [{"name": "KEY", "value": "v"}]
    given = [
        {"name": "a", "command": "/bin/a", "args": ["x"], "env": env},
        {"name": "b", "type": "stdio", "command": 5},
        {"name": "c", "type": "http", "url": "https://c/mcp", "headers": env},
        {"name": "d", "type": "sse", "url": "http://d", "secrets": ["s"]},
    ]
    servers, faults = read_servers(map(raw, given))
    assert servers == (
        UserMcpServer("a", command="/bin/a", args=("x",), env=(EnvVariable("KEY", "v"),)),
        UserMcpServer("c", "http", url="https://c/mcp", headers=(McpHeader("KEY", "v"),)),
        UserMcpServer("d", "sse", url="http://d", secrets=("s",)),
    )
    (fault,) = faults
    assert fault == ("MCP server 'b' is left out: Expected `str`, got `int` - at `$.command`")


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"name": "", "command": "x"}, "MCP server 0 is left out: `name` is empty"),
        ({"name": "a"}, "'a' is left out: a server of the type `stdio` needs a `command`"),
        (
            {"name": "a", "type": "ws", "url": "ws://x"},
            "the value isn't one of those allowed - at `$.type`",
        ),
        ({"name": "a", "type": "http"}, "`http` needs an http(s) address as `url`"),
        ({"name": "a", "type": "sse", "url": "file:///x"}, "`sse` needs an http(s) address"),
        (5, "MCP server 0 is left out: Expected `object`, got `int`"),
        ({"command": "x"}, "missing required field `name`"),
    ],
)
def test_what_is_wrong_is_said(entry: Any, words: str) -> None:
    servers, (fault,) = read_servers([raw(entry)])
    assert servers == ()
    assert words in fault


@pytest.mark.parametrize(
    "entry",
    [
        {"name": "a", "type": "hunter2"},
        {"name": "a", "type": "http", "url": "hunter2"},
        {"name": "a", "command": ["hunter2"]},
        {"name": "a", "command": "x", "args": "hunter2"},
        {"name": "a", "command": "x", "env": [{"name": "K", "value": {"hunter2": "hunter2"}}]},
        {"name": "a", "type": "sse", "url": "http://x", "headers": [["hunter2"]]},
        {"name": "a", "command": "x", "secrets": [None, "hunter2"]},
    ],
)
def test_what_is_wrong_is_said_without_any_value(entry: Any) -> None:
    servers, (fault,) = read_servers([raw(entry)])
    assert servers == ()
    assert "hunter2" not in fault


def test_what_is_no_text_is_left_out() -> None:
    odd = [msgspec.Raw(b'"\xff"'), raw(5)]
    servers, faults = read_servers(odd)
    assert servers == ()
    assert faults[0] == "MCP server 0 is left out: it can't be read"
    assert len(faults) == 2
    assert values_of(odd) == [5]
