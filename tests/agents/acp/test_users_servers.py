"""The user's own MCP servers are given to sessions that are opened from now on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import trio

from agents.mcp.session_tools import load_now
from agents.origin import ForkOf, Resumed
from agents.workspace import Workspace
from bridge.wire import EnvVariable, Header, UserMcpServer
from tests.fakes.acp_agents import agent_in_process

from .talk import answer_to, asking
from .test_tools import prompt, says

if TYPE_CHECKING:
    from trio.testing import MockClock

    from tests.fakes.acp_agents import PeerAgent

JSON = dict[str, Any]
STDIO = UserMcpServer(
    "issues", command="/bin/issues", args=("-y",), env=(EnvVariable("KEY", "s3cret-value"),)
)
HTTP = UserMcpServer(
    "web", "http", url="https://example.org/mcp", headers=(Header("Authorization", "Bearer x"),)
)
SSE = UserMcpServer("old", "sse", url="https://example.org/sse")

STDIO_SENT: JSON = {
    "name": "issues",
    "command": "/bin/issues",
    "args": ["-y"],
    "env": [{"name": "KEY", "value": "s3cret-value"}],
}
HTTP_SENT: JSON = {
    "name": "web",
    "type": "http",
    "url": "https://example.org/mcp",
    "headers": [{"name": "Authorization", "value": "Bearer x"}],
}
SSE_SENT: JSON = {"name": "old", "type": "sse", "url": "https://example.org/sse", "headers": []}


def able(*types: str, **more: Any) -> JSON:
    """Return an agent that can use these types of servers, and open a session in every way."""
    return {
        "ignores_tools": True,
        "agent": {
            "agentCapabilities": {
                "mcpCapabilities": dict.fromkeys(types, True),
                "loadSession": True,
                "sessionCapabilities": {"resume": {}, "fork": {}, "close": {}},
            }
        },
        **more,
    }


def given(peers: PeerAgent, *methods: str) -> list[list[JSON]]:
    """Return the servers that the agent was given, session by session."""
    names = methods or ("session/new", "session/load", "session/resume", "session/fork")
    return [one["params"]["mcpServers"] for one in peers.heard if one.get("method") in names]


def names(servers: list[JSON]) -> list[str]:
    """Return the names of servers, ours as `vsc`."""
    return [one["name"][:3] if one["name"].startswith("vsc") else one["name"] for one in servers]


@pytest.mark.parametrize(
    ("types", "sent"),
    [
        ((), [STDIO_SENT]),
        (("http",), [STDIO_SENT, HTTP_SENT]),
        (("sse",), [STDIO_SENT, SSE_SENT]),
        (("http", "sse"), [STDIO_SENT, HTTP_SENT, SSE_SENT]),
    ],
)
async def test_an_agent_is_given_what_it_can_use_and_the_log_names_the_rest_once(
    types: tuple[str, ...],
    sent: list[JSON],
    caplog: pytest.LogCaptureFixture,
    autojump_clock: MockClock,
) -> None:
    workspace = Workspace(servers=(STDIO, HTTP, SSE))
    async with agent_in_process(able(*types), workspace=workspace) as (agent, peers):
        for _ in range(2):
            async with agent.session(asking("x")):
                pass
        assert given(peers)
        assert all(servers == sent for servers in given(peers))
        assert peers.faults == []
    left_out = {one.name for one in (HTTP, SSE) if one.type not in types}
    told = [line for line in caplog.messages if "isn't given the MCP server" in line]
    assert len(told) == len(left_out)
    assert all(any(f"server {name}:" in line for line in told) for name in left_out)
    assert "s3cret-value" not in caplog.text


async def test_each_way_to_open_a_session_gives_them_beside_the_editor_s_tools() -> None:
    load_now("server")
    lost = {"error": {"code": -32603, "message": "No such session."}}
    workspace = Workspace(servers=(STDIO,))
    script = able(on={"session/resume": [lost]})
    with trio.fail_after(60):
        async with agent_in_process(script, spares=False, workspace=workspace) as (agent, peers):
            async with agent.session(prompt()) as session:
                await says(session)
                tools = session.channel.tools
                assert tools is not None
                assert not tools.is_alone
                handle = session.handle
            assert handle is not None
            async with agent.session(prompt(), ForkOf(handle)):
                pass
            async with agent.session(prompt(), Resumed(handle)):
                pass
            for method in ("session/new", "session/fork", "session/resume", "session/load"):
                (servers, *_) = given(peers, method)
                assert names(servers) == ["vsc", "issues"], method
                assert servers[1] == STDIO_SENT


async def test_a_change_counts_for_new_sessions_and_for_spares(autojump_clock: MockClock) -> None:
    workspace = Workspace()
    async with agent_in_process(able(), workspace=workspace) as (agent, peers):
        async with agent.session(asking("x")) as first:
            assert await answer_to(first, "x") == "ok"
            workspace.servers = (STDIO,)
            async with agent.session(asking("x")) as session:
                assert await answer_to(session, "x") == "ok"
            assert await answer_to(first, "y") == "ok"
        workspace.servers = ()
        async with agent.session(asking("x")) as session:
            assert await answer_to(session, "x") == "ok"
        opened = dict(zip(peers.kept, given(peers, "session/new"), strict=True))
        prompted = dict.fromkeys(one["sessionId"] for one in peers.asked("session/prompt"))
        assert [names(opened[one]) for one in prompted] == [[], ["issues"], []]
        assert peers.faults == []


async def test_an_agent_that_takes_no_programs_gets_none(
    caplog: pytest.LogCaptureFixture, autojump_clock: MockClock
) -> None:
    script = able("http")
    script["agent"]["agentInfo"] = {"name": "Copilot", "version": "1"}
    workspace = Workspace(servers=(STDIO, HTTP))
    async with agent_in_process(script, workspace=workspace) as (agent, peers):
        async with agent.session(asking("x")):
            pass
        assert {one["name"] for servers in given(peers) for one in servers} == {"web"}
    assert "isn't given the MCP server issues: it can't use the type stdio" in caplog.text
