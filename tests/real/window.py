"""A chat window of an editor that offers tools, and what our model says to call them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import attrs

from bridge.wire import PERMISSION_TOOL
from tests.fakes.editor import Chat, Request, tool_result, tools

from .bench import Bench
from .forty_tools import forty
from .real_agent import RealAgent

JSON = dict[str, Any]


@attrs.define
class Window:
    """A chat window with tools, of an editor that can ask for permission, too."""

    bench: Bench
    offered: Sequence[JSON] = attrs.field(factory=forty)
    chat: Chat = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        """Begin another chat."""
        self.chat = self.bench.chat()
        self.chat.options = {"tools": [*self.offered, *tools(PERMISSION_TOOL)["tools"]]}

    async def calls(self, words: str) -> Request:
        """Say something upon which the model calls tools; approve what the agent asks first."""
        return await allowed_first(self.bench.agent, self.chat, await self.chat.say(words))

    async def runs(self, request: Request, result: str = "result of {}") -> Request:
        """Run what is called, and bring the results, in the other order."""
        return await self.chat.say(*results(request, result))

    @property
    def told(self) -> list[str]:
        """The results that the model was given last, in the order of the calls."""
        given = self.bench.server.turns("results")[-1].given
        found = [one for one in given.said if one.speaker == "tool"]
        found.sort(key=lambda one: [int(number) for number in re.findall(r"\d+", one.call_id)])
        return [one.text for one in found]


async def allowed_first(agent: RealAgent, chat: Chat, request: Request) -> Request:
    """Approve the question of an agent that asks before an editor's tool; return what follows."""
    if agent.asks_for_editor_tools and called(request) == [PERMISSION_TOOL]:
        return await chat.say(tool_result(request.calls[0], "Approved"))
    return request


def use(tool: str, **arguments: Any) -> str:
    """Return the words upon which our model calls a tool."""
    return f"USE {tool} {json.dumps(arguments)}"


READ = use("read_file", filePath="/a", startLine=1, endLine=2)
LIST = use("list_dir", path="/b")
RUN = use("run_in_terminal", command="ls", explanation="Look", mode="sync")


def called(request: Request) -> list[str]:
    """Return the names of the tools that a response calls, sorted."""
    return sorted(call["toolName"] for call in request.calls)


def results(request: Request, result: str = "result of {}") -> list[JSON]:
    """Return a result for each call, the last one first."""
    return [tool_result(call, result.format(call["toolName"])) for call in reversed(request.calls)]


def some_tools() -> list[JSON]:
    """Return a few of the forty tools, with those that the words above call."""
    wanted = {"read_file", "list_dir", "run_in_terminal", "create_file"}
    return [tool for tool in forty() if tool["name"] in wanted]
