"""The editor's tools in the hands of real agents: forty of them, called by a model of our own."""

from __future__ import annotations

import faulthandler
import re
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast, get_args

import pytest
import trio

from agents.mcp.names import aliases, server_name
from bridge.methods import MCP_SERVERS_CHANGED
from bridge.wire import PERMISSION_TOOL
from tests.fakes.editor import tool_result

from . import shell_server
from .agents import AGENTS
from .bench import at_work
from .forty_tools import forty
from .real_agent import RealAgent
from .remote_server import Transport, remote_server
from .window import LIST, READ, Window, called, results, use

pytestmark = pytest.mark.agents

JSON = dict[str, Any]
MORE_ATTEMPTS = 2
HUMAN_SECONDS = 125.0
"""How long somebody thinks about a call, in earnest: agents have clocks of their own."""

each_agent = pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)


@asynccontextmanager
async def window(agent: RealAgent, folder: Path) -> AsyncGenerator[Window]:
    """Open a chat window with an agent, if it is installed."""
    reason = agent.why_missing()
    if reason is not None:
        pytest.skip(f"{agent.name}: {reason}")
    async with at_work(agent, folder) as bench:
        yield Window(bench)


def without(keywords: frozenset[str], schema: Any) -> Any:
    """Return a schema without these keywords; an object with any key needs no list of keys."""
    match schema:
        case {"properties": dict(), **rest}:
            named = cast("JSON", schema)["properties"]
            keys = {key: without(keywords, one) for key, one in named.items()}
            return without(keywords, rest) | ({"properties": keys} if keys else {})
        case dict():
            found = cast("JSON", schema)
            return {key: without(keywords, found[key]) for key in found.keys() - keywords}
        case list():
            return [without(keywords, one) for one in cast("list[Any]", schema)]
        case _:
            return schema


async def test_a_call_that_takes_two_minutes_is_waited_for(tmp_path: Path) -> None:
    """By every agent at the same time, so that it takes two minutes once; and first, beside others.

    Some give up after a minute unless they hear of progress.
    """
    faulthandler.cancel_dump_traceback_later()  # it isn't stuck
    told: dict[str, list[str]] = {}

    async def wait_for(agent: RealAgent, folder: Path) -> None:
        async with window(agent, folder) as one:
            request = await one.chat.say(READ)
            assert called(request) == ["read_file"], f"{agent.name} says: {request.text}"
            await trio.sleep(HUMAN_SECONDS)
            answer = await one.runs(request)
            assert "The tool said:" in answer.text
            told[agent.name] = one.told

    with trio.fail_after(HUMAN_SECONDS + 300):
        async with trio.open_nursery() as nursery:
            for agent in AGENTS:
                if agent.why_missing() is None:
                    folder = tmp_path / agent.name
                    folder.mkdir()
                    nursery.start_soon(wait_for, agent, folder)
    for agent in AGENTS:
        if agent.name in told:
            (result,) = told[agent.name]
            assert "result of read_file" in result, f"{agent.name}: {result}"


@each_agent
async def test_the_model_is_offered_all_forty_tools_with_their_schemas(
    agent: RealAgent, tmp_path: Path
) -> None:
    async with window(agent, tmp_path) as one:
        await one.chat.say("Hello")
        offered = one.bench.server.turns("echo")[-1].given.tools
        names = aliases((tool["name"] for tool in forty()), server_name("123456"))
        for tool in forty():
            whole = re.compile(rf"(mcp__)?vsc[0-9a-f]{{6}}_+{re.escape(names[tool['name']])}")
            (found,) = (given for given in offered if whole.fullmatch(given.whole_name))
            assert tool["description"] in found.description
            wanted = tool.get("inputSchema", {"type": "object"}) | agent.adds_to_schemas
            dropped = agent.drops_of_schemas
            assert without(dropped, found.parameters) == without(dropped, wanted), tool["name"]


@each_agent
async def test_calls_come_one_after_the_other_in_three_rounds(
    agent: RealAgent, tmp_path: Path
) -> None:
    async with window(agent, tmp_path) as one:
        request = await one.chat.say(f"{READ}\nTHEN\n{LIST}\nTHEN\n{READ}")
        seen: list[list[str]] = []
        while request.calls:
            seen.append(called(request))
            request = await one.runs(request, f"result {len(seen)}")
        assert seen == [["read_file"], ["list_dir"], ["read_file"]]
        assert len(one.told) == 3
        assert all(f"result {number}" in text for number, text in enumerate(one.told, 1))


@each_agent
async def test_what_the_user_says_along_with_results_is_the_next_prompt(
    agent: RealAgent, tmp_path: Path
) -> None:
    async with window(agent, tmp_path) as one:
        request = await one.chat.say(f"My son, my name is Ada.\n{READ}")
        answer = await one.chat.say(*results(request), "RECALL")
        assert answer.calls == []
        done, said, recalled = answer.text.partition("You told me: Ada.")
        assert "The tool said:" in done, "the turn that got the results ended first"
        assert said
        assert recalled == ""
        given = one.bench.server.turns("RECALL")[-1].given
        assert "result of read_file" in given.texts("tool")


@each_agent
async def test_calls_that_were_taken_back_leave_nothing_and_the_next_turn_works(
    agent: RealAgent, tmp_path: Path
) -> None:
    async with window(agent, tmp_path) as one:
        await one.chat.say("Hello, my name is Ada")
        out = await one.chat.say(f"No, my name is Zoltan.\n{READ}\n{LIST}")
        assert out.calls, "one, or both where the second comes in time"
        one.chat.take_back(2)
        request = await one.chat.say(LIST)
        assert called(request) == ["list_dir"]
        assert {call["toolCallId"] for call in request.calls}.isdisjoint(
            call["toolCallId"] for call in out.calls
        )
        answer = await one.chat.say(*results(request), "RECALL")
        assert "You told me: Ada." in answer.text
        body = str(one.bench.server.turns("RECALL")[-1].body)
        assert "result of list_dir" in body
        assert "Zoltan" not in body
        assert "result of read_file" not in body


INDENT: JSON = {
    "question": "How shall I indent?",
    "header": "Indent",
    "options": [
        {"label": "Tabs", "description": "Wide"},
        {"label": "Spaces", "description": "Two"},
    ],
}
ASKS: dict[str, tuple[str, JSON]] = {
    "claude": (use("=AskUserQuestion", questions=[INDENT | {"multiSelect": False}]), {}),
    "codex": (
        use("=request_user_input", questions=[INDENT | {"id": "indent"}]),
        {"collaboration_mode": "plan"},  # it asks in no other
    ),
}
"""By the agent, the words upon which its model asks the user, and what the user chooses before."""


@pytest.mark.parametrize(
    "agent", [one for one in AGENTS if one.name in ASKS], ids=lambda agent: agent.name
)
async def test_an_agent_asks_its_user_by_a_form_and_its_model_is_told_the_answer(
    agent: RealAgent, tmp_path: Path
) -> None:
    words, chosen = ASKS[agent.name]
    async with window(agent, tmp_path) as one:
        editor = one.bench.process.editor
        await editor.initialize("thinking", "usage", "elicit").settled()
        one.chat.options = (one.chat.options or {}) | {"modelConfiguration": chosen}
        request = one.chat.ask(words)
        form = await editor.asked()
        fields = form.params["requestedSchema"]["properties"]
        (name,) = (key for key, field in fields.items() if "Spaces" in str(field))
        assert form.params["requestId"] == request.id
        editor.answer(form, "accept", **{name: "Spaces"})
        await request.settled()
        told = one.bench.server.turns("results")[-1].given.said
        assert any("Spaces" in said.text for said in told if said.speaker == "tool"), request.text


async def test_claude_calls_a_tool_of_the_users_own_mcp_server_and_its_model_gets_the_result(
    tmp_path: Path,
) -> None:
    (claude,) = (agent for agent in AGENTS if agent.name == "claude")
    server: JSON = {
        "name": "notes",
        "command": sys.executable,
        "args": [str(Path(shell_server.__file__))],
        "env": [{"name": "OF_THE_USER", "value": "seventeen"}],
    }
    async with window(claude, tmp_path) as one:
        editor = one.bench.process.editor
        words = use("=mcp__notes__shell", command="echo $OF_THE_USER apples")
        await one.chat.say("Hello")
        assert "mcp__notes__shell" not in offered_last(one)
        editor.notify(MCP_SERVERS_CHANGED, {"mcpServers": [server]})
        one.renew()  # a session that is open keeps its servers
        question = await one.chat.say(words)
        assert "mcp__notes__shell" in offered_last(one)
        assert called(question) == [PERMISSION_TOOL], "the agent asks before it uses the tool"
        answer = await one.chat.say(tool_result(question.calls[0], "Approved"))
        (told,) = one.told
        assert "seventeen apples" in told
        assert "The tool said:" in answer.text


@pytest.mark.parametrize("transport", get_args(Transport))
async def test_claude_calls_a_tool_of_the_users_own_server_on_the_network(
    transport: Transport, tmp_path: Path
) -> None:
    """The server wants the header of its entry, which the agent alone sends."""
    (claude,) = (agent for agent in AGENTS if agent.name == "claude")
    headers = [{"name": "Authorization", "value": "Bearer swordfish"}]
    async with remote_server(transport, "swordfish") as url, window(claude, tmp_path) as one:
        server: JSON = {"name": "notes", "type": transport, "url": url, "headers": headers}
        one.bench.process.editor.notify(MCP_SERVERS_CHANGED, {"mcpServers": [server]})
        question = await one.chat.say(use("=mcp__notes__count", things="apples"))
        assert "mcp__notes__count" in offered_last(one)
        assert called(question) == [PERMISSION_TOOL], "the agent asks before it uses the tool"
        answer = await one.chat.say(tool_result(question.calls[0], "Approved"))
        (told,) = one.told
        assert "seventeen apples" in told
        assert "The tool said:" in answer.text
        errors = one.bench.process.stderr.decode(errors="replace")
        assert "swordfish" not in errors
        assert url not in errors


def offered_last(window: Window) -> list[str]:
    """Return the names of the tools that the model was offered last."""
    turns = [turn for turn in window.bench.server.asked if turn.given.tools]
    return [tool.whole_name for tool in turns[-1].given.tools]
