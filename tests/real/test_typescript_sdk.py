"""A client of another make at our MCP server: the official TypeScript SDK, by relay and by HTTP."""

from __future__ import annotations

import json
import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any, Literal, assert_never

import attrs
import msgspec
import pytest
import trio

from agents.events import CallTool, ToolAnswer
from agents.mcp import session_tools as toolbox_module
from agents.mcp.names import aliases
from agents.mcp.session_tools import HttpAccess, StdioAccess, Toolbox
from agents.mcp.tool_servers import Toolboxes
from bridge.wire import ToolSpec
from tests.fakes.waiting import until
from tooling.real_agents import node

from .forty_tools import forty
from .real_agent import MODULES

pytestmark = pytest.mark.agents

JSON = dict[str, Any]
SDK = MODULES / "@modelcontextprotocol" / "sdk"
CLIENT = Path(__file__).parent / "mcp_client.mjs"
FORTY = tuple(msgspec.json.decode(json.dumps(forty()), type=list[ToolSpec]))
PATIENCE = 2.0
"""Seconds that the client waits for a call of which it hears nothing."""

Way = Literal["relay", "http"]
each_way = pytest.mark.parametrize("way", ["relay", "http"])


@attrs.define(eq=False)
class Client:
    """The client's process."""

    box: Toolbox
    process: trio.Process
    _rest: bytes = b""

    async def says(self) -> JSON:
        """Return the next thing that it has got."""
        assert self.process.stdout is not None
        while b"\n" not in self._rest:
            chunk = await self.process.stdout.receive_some()
            assert chunk, "the client has ended"
            self._rest += bytes(chunk)
        line, _, self._rest = self._rest.partition(b"\n")
        said: JSON = json.loads(line)
        return said

    async def calls(self, number: int) -> list[CallTool]:
        """Return that many calls."""
        found: list[CallTool] = []
        while len(found) < number:
            await until(lambda: trio.current_time() >= self.box.calls.due)
            found += self.box.calls.emit(trio.current_time())
        return found


def entry(box: Toolbox) -> JSON:
    """Return how the client gets at the tools, as an agent is told."""
    match box.access:
        case StdioAccess(program=program, arguments=arguments, environment=environment):
            own = {variable.name: variable.value for variable in environment}
            return {"stdio": {"command": program, "args": [*arguments], "env": own}}
        case HttpAccess(url=url, authorization=words):
            return {"http": {"url": url, "headers": {"Authorization": words}}}
        case None:
            pytest.fail("nobody gets at these tools")
        case _:
            assert_never(box.access)


@asynccontextmanager
async def client(way: Way, *calls: tuple[str, JSON]) -> AsyncGenerator[Client]:
    """Start a client that makes these calls."""
    numbers = count()
    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            boxes = Toolboxes(nursery, lambda: f"call-{next(numbers)}")
            await boxes.prepare()
            box = boxes.make(FORTY) if way == "relay" else await boxes.make_web(FORTY)
            box.calls.begin(trio.current_time())
            names = aliases((tool.name for tool in FORTY), box.server)
            task = entry(box) | {
                "sdk": str(SDK),
                "calls": [{"name": names[name], "arguments": given} for name, given in calls],
                "patience": PATIENCE * 1000,
            }
            process = await trio.lowlevel.open_process(
                [str(node()), str(CLIENT), json.dumps(task)], stdout=subprocess.PIPE
            )
            try:
                yield Client(box, process)
            finally:
                process.kill()  # has no effect on one that has ended
                with trio.CancelScope(shield=True):
                    await process.wait()
            nursery.cancel_scope.cancel()


READ = ("read_file", {"filePath": "/a", "startLine": 1, "endLine": 2})
LOOK_UP = ("company.tool/look up", {"key": "größe"})


@each_way
async def test_it_lists_forty_tools_with_their_schemas_unchanged(way: Way) -> None:
    async with client(way) as one:
        said = await one.says()
        assert said["server"]["name"] == one.box.server
        names = aliases((tool.name for tool in FORTY), one.box.server)
        assert {tool["name"]: tool["inputSchema"] for tool in said["tools"]} == {
            names[tool["name"]]: tool.get("inputSchema", {"type": "object", "properties": {}})
            for tool in forty()
        }
        hints = {tool["name"]: tool.get("annotations", {}) for tool in said["tools"]}
        assert hints["read_file"]["readOnlyHint"]
        assert "readOnlyHint" not in hints["create_file"]


@each_way
async def test_its_calls_get_their_own_results_and_it_leaves_by_itself(way: Way) -> None:
    async with client(way, READ, LOOK_UP) as one:
        await one.says()
        calls = {call.name: call for call in await one.calls(2)}
        assert {name: call.parameters for name, call in calls.items()} == dict([READ, LOOK_UP])
        one.box.answer(ToolAnswer(calls[LOOK_UP[0]].call_id, "no such key", is_error=True))
        one.box.answer(ToolAnswer(calls["read_file"].call_id, [{"type": "text", "value": "line"}]))
        read, looked_up = (await one.says())["results"]
        assert read == {"content": [{"type": "text", "text": "line"}], "isError": False}
        assert looked_up["content"] == [{"type": "text", "text": "no such key"}]
        assert looked_up["isError"]
        await one.box.offer(FORTY[:2])
        names = [tool["name"] for tool in (await one.says())["tools"]]
        assert names == [tool.name for tool in FORTY[:2]]
        assert await one.process.wait() == 0


@each_way
async def test_it_waits_for_a_call_of_which_it_hears_progress(
    way: Way, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Longer than it waits for a call of which it hears nothing; its clock is a real one."""
    monkeypatch.setattr(toolbox_module, "PROGRESS_SECONDS", PATIENCE / 8)
    async with client(way, READ) as one:
        await one.says()
        (call,) = await one.calls(1)
        await trio.sleep(PATIENCE * 2)
        one.box.answer(ToolAnswer(call.call_id, "at last"))
        said = await one.says()
        assert said["progress"] >= 2
        assert said["results"] == [
            {"content": [{"type": "text", "text": "at last"}], "isError": False}
        ]


@each_way
async def test_a_call_that_it_gives_up_is_taken_back(
    way: Way, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(toolbox_module, "PROGRESS_SECONDS", PATIENCE * 10)
    async with client(way, READ) as one:
        await one.says()
        await one.calls(1)
        assert "timed out" in (await one.says())["results"][0]["error"]
        await until(lambda: one.box.calls.out == 0)
