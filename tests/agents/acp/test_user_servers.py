"""Sessions are given the user's own MCP servers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import trio
from msgspec.structs import replace

from agents.acp.schema.initialize import McpServerStdio
from agents.acp.session_params import SessionParams
from agents.mcp.session_tools import StdioAccess, Toolbox
from agents.mcp.tools import ToolCatalogue
from agents.origin import ForkOf, Resumed
from agents.workspace import Workspace
from bridge.wire import ToolSpec, UserMcpServer
from tests.fakes.acp_agents import agent_in_process

from .talk import answer_to, asking

if TYPE_CHECKING:
    import pytest
    from trio.testing import MockClock

FILES = UserMcpServer("files", command="/bin/files", args=("/one",))
WIKI = UserMcpServer("wiki", "http", url="https://wiki/mcp")
OLD = UserMcpServer("old", "sse", url="https://old/sse")


def able(**capabilities: Any) -> dict[str, Any]:
    sessions: dict[str, Any] = {"close": {}, "resume": {}, "fork": {}}
    found: dict[str, Any] = {"loadSession": True, "sessionCapabilities": sessions, **capabilities}
    return {"agent": {"agentCapabilities": found}}


def names(message: dict[str, Any]) -> list[str]:
    return [server["name"] for server in message["mcpServers"]]


async def test_every_way_to_open_a_session_brings_the_servers(autojump_clock: MockClock) -> None:
    workspace = Workspace(servers=(FILES,))
    with trio.fail_after(60):
        async with agent_in_process(able(), workspace=workspace) as (agent, peers):
            async with agent.session(asking("x")) as session:
                assert await answer_to(session, "x") == "ok"
                assert session.handle is not None
                async with agent.session(asking("x"), ForkOf(session.handle)):
                    pass
                handle = session.handle
            workspace.give_servers((FILES, replace(FILES, name="more")))
            async with agent.session(asking("x"), Resumed(handle)):
                pass
            (forked,) = peers.asked("session/fork")
            (resumed,) = peers.asked("session/resume")
            assert peers.asked("session/new")[0]["mcpServers"] == [
                {"name": "files", "command": "/bin/files", "args": ["/one"], "env": []}
            ]
            assert names(forked) == ["files"]
            assert names(resumed) == ["files", "more"]
            assert peers.faults == []


async def test_a_loaded_session_brings_the_servers(autojump_clock: MockClock) -> None:
    script = able(sessionCapabilities={"close": {}}, mcpCapabilities={"http": True})
    with trio.fail_after(60):
        async with agent_in_process(script, workspace=Workspace(servers=(WIKI,))) as (agent, peers):
            async with agent.session(asking("x")) as session:
                assert await answer_to(session, "x") == "ok"
                handle = session.handle
            assert handle is not None
            async with agent.session(asking("x"), Resumed(handle)):
                pass
            (loaded,) = peers.asked("session/load")
            assert loaded["mcpServers"] == [
                {"type": "http", "name": "wiki", "url": "https://wiki/mcp", "headers": []}
            ]


async def test_a_changed_list_counts_for_new_sessions_and_spares_are_not_stale(
    autojump_clock: MockClock,
) -> None:
    workspace = Workspace(servers=(FILES,))
    with trio.fail_after(60):
        async with agent_in_process(able(), workspace=workspace) as (agent, peers):
            async with agent.session(asking("x")) as session:
                assert await answer_to(session, "x") == "ok"
            workspace.give_servers(())
            async with agent.session(asking("x")) as session:
                assert await answer_to(session, "x") == "ok"
            opened = peers.asked("session/new")
            prompted = peers.asked("session/prompt")
            assert names(opened[0]) == ["files"]
            assert [] in [names(one) for one in opened]
            assert len({one["sessionId"] for one in prompted}) == 2
            assert len(peers.asked("session/close")) >= 2, "the stale spare, too"


async def test_what_an_agent_does_not_take_is_left_out_and_said_once(
    autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    workspace = Workspace(servers=(FILES, WIKI, OLD))
    with trio.fail_after(60):
        async with agent_in_process({}, workspace=workspace) as (agent, peers):
            for _ in range(2):
                async with agent.session(asking("x")):
                    pass
            assert {tuple(names(one)) for one in peers.asked("session/new")} == {("files",)}
    said = [record.getMessage() for record in caplog.records if "isn't given" in record.message]
    assert said == [
        "agent=fake isn't given the MCP server 'wiki': it takes no servers of type http",
        "agent=fake isn't given the MCP server 'old': it takes no servers of type sse",
    ]


async def test_the_editors_server_keeps_its_name_and_is_not_taken_for_the_only_one(
    autojump_clock: MockClock,
) -> None:
    workspace = Workspace(servers=(FILES,))
    prompt = replace(asking("x"), tools=(ToolSpec("read_file"),))
    with trio.fail_after(60):
        async with agent_in_process({}, workspace=workspace) as (agent, peers):
            async with agent.session(prompt) as session:
                tools = session.channel.tools
                assert tools is not None
                assert names(peers.asked("session/new")[0]) == [tools.server, "files"]
                assert tools.owner.has_users_servers
                workspace.give_servers(())
            async with agent.session(prompt) as session:
                tools = session.channel.tools
                assert tools is not None
                assert tools.owner.has_users_servers, (
                    "the process may keep the servers it was given"
                )


async def test_a_session_knows_the_servers_of_the_others_as_its_own_is_called_now(
    autojump_clock: MockClock,
) -> None:
    prompt = replace(asking("x"), tools=(ToolSpec("read_file"),))
    with trio.fail_after(60):
        async with (
            agent_in_process({}) as (agent, _),
            agent.session(prompt) as one,
            agent.session(prompt) as other,
        ):
            mine, theirs = one.channel.tools, other.channel.tools
            assert mine is not None
            assert theirs is not None
            name = mine.server
            assert theirs.server in mine.owner.others(mine.server)
            assert name not in mine.owner.others(mine.server)
            mine.server = theirs.server
            assert theirs.server not in mine.owner.others(mine.server)
            assert name in mine.owner.others(mine.server)
            mine.server = name


def test_the_users_server_gives_way_where_names_are_equal() -> None:
    box = Toolbox("vsc1", ToolCatalogue.of((ToolSpec("t"),), "vsc1"), lambda: "1")
    box.access = StdioAccess("/us", (), ())
    theirs = McpServerStdio("vsc1", "/them", (), ())
    request = SessionParams("/", box, users=(theirs,)).to_open()
    assert request.mcp_servers == (
        McpServerStdio("vsc1", "/us", (), ()),
        McpServerStdio("vsc1_2", "/them", (), ()),
    )
