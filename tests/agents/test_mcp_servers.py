"""Which of the user's own MCP servers agents are given."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.mcp_servers import ServerTypes, read_servers
from bridge.wire import EnvVariable, UserMcpServer

STDIO: dict[str, Any] = {"name": "one", "command": "/bin/one"}
HTTP: dict[str, Any] = {"name": "two", "type": "http", "url": "https://example.org/mcp"}


def raw(*entries: Any) -> list[msgspec.Raw]:
    return [msgspec.Raw(msgspec.json.encode(entry)) for entry in entries]


def complaints_of(*entries: Any) -> tuple[str, ...]:
    return read_servers(raw(*entries)).complaints


def test_servers_are_read_in_their_order() -> None:
    env = [{"name": "KEY", "value": "v"}]
    read = read_servers(raw({**STDIO, "args": ["-y"], "env": env}, HTTP))
    assert read.complaints == ()
    one, two = read.servers
    assert one == UserMcpServer("one", "stdio", "/bin/one", ("-y",), (EnvVariable("KEY", "v"),))
    assert (two.type, two.url) == ("http", "https://example.org/mcp")


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"command": "/bin/x"}, "Object missing required field `name` - at `$.mcpServers[1]`"),
        ({**STDIO, "name": ""}, "a server: it has no name - at `$.mcpServers[1]`"),
        ({**STDIO, "args": "s3cret"}, "Expected `array`, got `str` (`args`) - at"),
        ({**STDIO, "env": {"A": "s3cret"}}, "Expected `array`, got `object` (`env`) - at"),
        ({**STDIO, "env": [{"name": "A", "value": 1}]}, "(`env[0].value`)"),
        ({**STDIO, "type": "s3cret"}, "it is malformed (`type`) - at"),
        ({**STDIO, "name": "x", "command": "npx"}, "x: its command is no absolute path - at"),
        ({**HTTP, "url": "s3cret://x"}, "two: its url doesn't begin with http:// or https:// - at"),
        ({"name": "x", "type": "sse"}, "x: its url doesn't begin with"),
        (STDIO, "one: another has the same name - at `$.mcpServers[1]`"),
        ("s3cret", "Expected `object`, got `str` - at `$.mcpServers[1]`"),
    ],
)
def test_an_entry_that_is_malformed_costs_no_other(entry: Any, words: str) -> None:
    last = {**HTTP, "name": "last"}
    read = read_servers(raw(STDIO, entry, last))
    assert [one.name for one in read.servers] == ["one", "last"]
    (complaint,) = read.complaints
    assert words in complaint
    assert "s3cret" not in complaint


def test_a_program_may_be_one_of_windows() -> None:
    assert complaints_of({**STDIO, "command": r"C:\node\npx.cmd"}) == ()


def test_bytes_that_are_no_text_are_told_as_such() -> None:
    (complaint,) = read_servers([msgspec.Raw(b'{"name": "\xff"}')]).complaints
    assert complaint.endswith("at `$.mcpServers[0]`")


@pytest.mark.parametrize("name", ["vsc0a1b2c", "vscffffff"])
def test_no_server_of_the_user_s_has_a_name_that_ours_can_have(name: str) -> None:
    read = read_servers(raw({**STDIO, "name": name}, {**STDIO, "name": f"{name}-2"}))
    assert [one.name for one in read.servers] == [f"{name}-2"]
    assert read.complaints == (f"{name}-2: another has the same name - at `$.mcpServers[1]`",)


@pytest.mark.parametrize("name", ["vscode", "vscodelm", "github"])
def test_other_names_stay(name: str) -> None:
    (server,) = read_servers(raw({**STDIO, "name": name})).servers
    assert server.name == name


@given(st.booleans(), st.booleans(), st.booleans())
def test_an_agent_gets_the_types_that_it_can_use(stdio: bool, http: bool, sse: bool) -> None:
    servers = [UserMcpServer("a"), UserMcpServer("b", "http"), UserMcpServer("c", "sse")]
    given_, others = ServerTypes(stdio, http, sse).split(servers)
    kinds = [("stdio", stdio), ("http", http), ("sse", sse)]
    assert [one.type for one in given_] == [kind for kind, can in kinds if can]
    assert {*given_, *others} == set(servers)
