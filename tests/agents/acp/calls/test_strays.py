"""Agents whose sessions share all MCP servers: each call is carried out in its chat, or refused."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio

from agents.acp.agent import AcpAgent
from agents.acp.learned import Fact
from agents.acp.processes.process import AcpProcess
from agents.events import AskPermission, Stop
from agents.mcp.session_tools import load_now
from agents.origin import Resumed
from tests.agents.acp.test_tools import Chat, calls, prompt
from tests.fakes.acp_agents import ChildAgent, agent_as_child, agent_in_process

pytestmark = pytest.mark.slow

JSON = dict[str, Any]
ABLE: JSON = {"loadSession": True, "sessionCapabilities": {"close": {}}}
ABOUT: JSON = {"agentInfo": {"name": "mixer", "version": "1"}, "agentCapabilities": ABLE}
GATHER: list[JSON] = [{"gather": True}, {"results": "own"}]


@pytest.fixture(autouse=True)
def loaded() -> None:
    """Keep threads away from the mock clock."""
    load_now("server")


def call(key: str, at: int, **more: Any) -> JSON:
    """Call the server of the session that was opened as the `at`-th."""
    return {"call": f"tool_{key}", "with": {"key": key}, "as": key, "at": at, **more}


def announce(key: str, at: int, call_id: str = "1") -> JSON:
    title, given = f"$server_tool_{key}", {"key": key}
    update = {"sessionUpdate": "tool_call", "toolCallId": call_id, "title": title}
    return {"update": {**update, "rawInput": given, "status": "in_progress"}, "at": at}


@asynccontextmanager
async def two_chats(words: JSON) -> AsyncGenerator[tuple[AcpAgent, ChildAgent, Chat, Chat]]:
    script = {"agent": ABOUT, "words": words}
    async with agent_as_child(script, spares=False) as (agent, child):
        with trio.fail_after(60):
            async with (
                agent.session(prompt()) as one,
                agent.session(prompt()) as other,
            ):
                yield agent, child, Chat(agent, child, one), Chat(agent, child, other)
            assert child.faults == []


@pytest.mark.parametrize("is_told", [True, False])
async def test_a_call_at_an_idle_chats_server_is_refused_at_once(is_told: bool) -> None:
    steps = [{"tools": True}, *([announce("01", 0)] if is_told else []), call("01", 0), *GATHER]
    async with two_chats({"first": [{"say": "hello"}], "second": steps}) as (_, child, one, other):
        await one.ask("first")
        assert isinstance((await other.ask("second"))[-1], Stop)
        assert "01!This tool belongs to another chat" in other.said
        (_, own) = [asked["mcpServers"][0]["name"] for asked in child.asked("session/new")]
        assert f"of the MCP server {own} instead" in other.said
        assert one.said == "hello"


@pytest.mark.parametrize("is_first", [True, False])
async def test_a_call_that_another_chat_announced_is_not_carried_out_where_it_came(
    is_first: bool, tmp_path: Path
) -> None:
    """Whether the agent announces it before it calls, or 80 ms after."""
    mixed = [announce("01", 0), call("01", 0)]
    second = mixed if is_first else [mixed[1], {"sleep": 0.08}, mixed[0]]
    is_refused = tmp_path / "refused"
    words = {
        "first": [{"say": "x"}, {"until": str(is_refused)}, call("02", 0), *GATHER],
        "second": [*second, *GATHER],
    }
    async with two_chats(words) as (_, _, one, other):
        firsts: list[str] = []

        async def ask_first() -> None:
            ids = calls(await one.ask("first"))
            firsts.extend(ids)
            one.answer(ids["tool_02"], "mine")
            await one.response()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask_first)
            await one.child.hears("session/prompt")
            assert isinstance((await other.ask("second"))[-1], Stop)
            is_refused.touch()
        assert "01!This tool belongs to another chat" in other.said
        assert firsts == ["tool_02"], "only its own call came out in the first chat"
        assert one.said == "x02=mine"


async def test_a_question_about_another_chats_tool_is_not_the_users() -> None:
    """Some agents ask about a call before they announce it."""
    given: JSON = {"mcpInput": {}}
    about: JSON = {"toolCallId": "1", "title": "$server_tool_01", "rawInput": given}
    asks: list[JSON] = [{"ask": about, "at": 0}, {"await": True}, {"outcomes": True}]
    words = {"first": [{"say": "hello"}], "second": [*asks, call("01", 0), *GATHER]}
    async with two_chats(words) as (_, _, one, other):
        await one.ask("first")
        events = await other.ask("second")
        assert not any(isinstance(event, AskPermission) for event in events)
        assert isinstance(events[-1], Stop)
        assert other.said.startswith("allowed")
        assert "01!This tool belongs to another chat" in other.said
        assert one.said == "hello", "nothing was done there"
        assert other.session.peer.facts.has(Fact.SESSIONS_SHARE_TOOLS)
        assert other.session.lost is not None, "its next turn is one of another process"


async def test_a_question_about_a_server_of_nobodys_is_the_users() -> None:
    asks: JSON = {"ask": {"toolCallId": "1", "title": "vsc000000_tool_01"}}
    async with two_chats({"second": [asks, {"await": True}]}) as (_, _, one, other):
        await one.ask("first")
        assert isinstance((await other.ask("second"))[0], AskPermission)
        assert not other.session.peer.mixes_tools


async def test_from_then_on_each_chat_has_a_process_of_its_own() -> None:
    """Also those that were there: they go on with all they know, each elsewhere."""
    words = {"first": [{"say": "hello"}], "second": [call("01", 0), *GATHER]}
    async with two_chats(words) as (agent, child, one, other):
        await one.ask("first")
        assert one.session.lost is None
        await other.ask("second")
        handle = one.session.handle
        assert handle is not None
        assert one.session.lost is not None, "its next turn is one of another process"
        assert other.session.lost is not None
        assert one.session.peer.facts.has(Fact.SESSIONS_SHARE_TOOLS)
        async with agent.session(prompt()) as third, agent.session(prompt()) as fourth:
            assert agent.processes == 3
            assert len(child.processes) == 3
            for session in (third, fourth):
                assert session.lost is None
                assert session.has_own_process
                await Chat(agent, child, session).ask("again")
            async with agent.session(prompt(), Resumed(handle)) as moved:
                assert moved.knows_history
                assert moved.lost is None
                assert agent.processes == 4


async def test_what_was_learned_holds_in_the_next_process() -> None:
    async with two_chats({"second": [call("01", 0), *GATHER]}) as (_, _, _, other):
        await other.ask("second")
        process = other.session.peer.process
        assert isinstance(process, AcpProcess)
        async with (
            agent_in_process({"agent": ABOUT}, learned=process.learned) as (next_agent, _),
            next_agent.session(prompt(tools=())),
            next_agent.session(prompt(tools=())),
        ):
            assert next_agent.processes == 2


async def test_an_agent_that_calls_late_after_a_cancel_proves_nothing() -> None:
    words = {"first": [{"hang": True}], "second": [{"sleep": 0.3}, call("01", 0), *GATHER]}
    async with two_chats(words) as (_, _, one, other):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(one.ask, "first")
            await one.child.hears("session/prompt")
            await one.session.cancel()
        await other.ask("second")
        assert "01!" in other.said
        assert not other.session.peer.mixes_tools


async def test_two_chats_that_call_their_own_at_once_are_served() -> None:
    """Announced, or not at all: then a moment later."""
    words: JSON = {
        "first": [announce("01", 0), call("01", 0), *GATHER],
        "second": [call("02", 1), *GATHER],
    }
    async with two_chats(words) as (_, _, one, other):
        out: set[str] = set()
        both_are_out = trio.Event()

        async def serve(chat: Chat, text: str, tool: str) -> None:
            ids = calls(await chat.ask(text))
            out.add(tool)
            if len(out) == 2:
                both_are_out.set()
            await both_are_out.wait()
            chat.answer(ids[tool], text)
            await chat.response()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(serve, one, "first", "tool_01")
            nursery.start_soon(serve, other, "second", "tool_02")
        assert "01=first" in one.said
        assert other.said == "02=second"
        assert not one.session.peer.mixes_tools
