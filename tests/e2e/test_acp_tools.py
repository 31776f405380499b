"""A whole `vscodelm`, an agent as its child, its relay, and an editor that runs the tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.fakes.acp_agents import ChildAgent, child_program
from tests.fakes.editor import Chat, Request, tool_result, tools

from .process import PATIENCE, started

if TYPE_CHECKING:
    from tests.fakes.editor import FakeEditor

pytestmark = pytest.mark.slow

JSON = dict[str, Any]
NAMES = [f"tool_{number:02}" for number in range(40)]
TOLD: list[JSON] = [{"gather": True}, {"results": True}]


def chat_with(editor: FakeEditor, child: ChildAgent, *names: str) -> Chat:
    spec = child.spec()
    agent = {"acp": {"name": spec.name, "command": spec.command, "args": [*spec.args]}}
    return Chat(editor, agent=agent, options=tools(*(names or NAMES)))


def call(number: int) -> JSON:
    return {"call": NAMES[number], "with": {"n": number}, "as": str(number)}


async def said(chat: Chat, *new: str | JSON) -> Request:
    request = await chat.ask(*new).settled(PATIENCE)
    chat.keep(request)
    return request


async def test_two_of_forty_tools_are_called_in_one_response() -> None:
    turn = [{"say": "Let me see. "}, call(3), call(30), *TOLD]
    async with child_program({"turns": [turn]}) as child, started() as process:
        chat = chat_with(process.editor, child)
        request = await said(chat, "go")
        assert request.text == "Let me see. "
        assert [(one["toolName"], one["parameters"]) for one in request.calls] == [
            ("tool_03", {"n": 3}),
            ("tool_30", {"n": 30}),
        ]
        first, second = request.calls
        done = await said(chat, tool_result(second, "b"), tool_result(first, "a"))
        assert done.text == "3=a 30=b"
        assert child.faults == []


async def test_a_cancel_while_calls_are_out_and_then_a_new_turn() -> None:
    turns = [[call(1), {"hang": True}], [call(2), *TOLD]]
    async with child_program({"turns": turns}) as child, started() as process:
        chat = chat_with(process.editor, child)
        request = await said(chat, "go")
        assert len(request.calls) == 1
        chat.take_back(2)  # the user goes another way
        other = await said(chat, "something else")
        assert [one["toolName"] for one in other.calls] == ["tool_02"]
        done = await said(chat, tool_result(other.calls[0], "x"))
        assert done.text == "2=x"
        assert child.faults == []


async def test_an_agent_in_the_middle_of_a_call_is_cancelled() -> None:
    hung: list[JSON] = [{"say": "Well"}, {"hang": True}]
    script = {"turns": [hung, [call(1), *TOLD]]}
    async with child_program(script) as child, started() as process:
        chat = chat_with(process.editor, child)
        request = chat.ask("go")
        await request.shows("Well")
        process.editor.cancel(request)
        await request.settled(PATIENCE)
        chat.keep(request)
        again = await said(chat, "again")
        done = await said(chat, tool_result(again.calls[0], "x"))
        assert done.text == "1=x"


async def test_tools_that_come_later_in_a_chat_reach_the_agent() -> None:
    script = {"otherwise": [{"tools": True}]}
    async with child_program(script) as child, started() as process:
        chat = chat_with(process.editor, child)
        chat.options = {}
        assert (await said(chat, "one")).text == "no tools"
        chat.options = tools("read_file")
        assert (await said(chat, "two")).text == "read_file"
        assert (await said(chat, "three")).text == "read_file"
        assert child.faults == []


async def test_tools_that_come_with_results_reach_the_turn_that_goes_on() -> None:
    turn: list[JSON] = [{"tools": True}, call(1), {"gather": True}]
    turn += [{"tools": True, "times_listed": 2}]
    async with child_program({"turns": [turn]}) as child, started() as process:
        chat = chat_with(process.editor, child, NAMES[1])
        request = await said(chat, "go")
        chat.options = tools(NAMES[1], "write_file")
        done = await said(chat, tool_result(request.calls[0], "x"))
        assert done.text.split() == [NAMES[1], "write_file"]
        assert child.faults == []


async def test_settings_filter_what_the_agent_is_offered() -> None:
    async with child_program({"turns": [[{"tools": True}]]}) as child, started() as process:
        chat = chat_with(process.editor, child, "read_file", "run", "symposium-agent-action")
        chat.settings = {"tools": {"exclude": ["run*"]}}
        assert (await said(chat, "go")).text == "read_file"


async def test_odd_names_find_their_way_back() -> None:
    async with child_program({"turns": [[{"tools": True}]]}) as child, started() as process:
        chat = chat_with(process.editor, child, "github.search issues", "x" * 64)
        aliases = (await said(chat, "go")).text.split()
        assert len(aliases) == 2
    turn: list[JSON] = [{"call": alias, "as": alias[0]} for alias in aliases]
    async with child_program({"turns": [[*turn, *TOLD]]}) as child, started() as process:
        chat = chat_with(process.editor, child, "github.search issues", "x" * 64)
        request = await said(chat, "go")
        assert {one["toolName"] for one in request.calls} == {"github.search issues", "x" * 64}


async def test_a_tool_that_is_demanded_is_asked_for_in_words() -> None:
    async with child_program({"turns": [[{"memory": True}]]}) as child, started() as process:
        chat = chat_with(process.editor, child)
        assert chat.options is not None
        chat.options["toolMode"] = "required"
        text = (await said(chat, "go")).text
        assert "go / " in text
        assert "Use at least one of the tools of the MCP server vsc" in text


async def test_the_agents_question_about_a_tool_of_its_own_is_still_asked() -> None:
    spoof = {
        "toolCallId": "c1",
        "title": "mcp__$server__tool_01",
        "kind": "execute",
        "rawInput": {"command": "rm -rf /"},
    }
    turn = [{"ask": spoof}, {"await": True}, {"outcomes": True}]
    async with child_program({"turns": [turn]}) as child, started() as process:
        chat = chat_with(process.editor, child, *NAMES, "symposium-agent-action")
        request = await said(chat, "go")
        (asked,) = request.calls
        assert asked["toolName"] == "symposium-agent-action"
        assert "rm -rf /" in str(asked["parameters"]), "the user sees what they allow"
        done = await said(chat, tool_result(asked, "No"))
        assert "✘ **Not allowed:** mcp" in done.text, "it isn't hidden as if it were the editor's"
        assert "The editor answered: No" in done.text
        assert "\n\ndenied" in done.text
