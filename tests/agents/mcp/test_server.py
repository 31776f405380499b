from __future__ import annotations

import json
import re
from typing import Any

import attrs
import pytest
import trio
from msgspec import Raw
from trio.testing import wait_all_tasks_blocked

from agents.events import ToolAnswer
from agents.mcp.server import EditorServer, ReportProgress
from agents.mcp.tools import JSON, ToolCatalogue
from bridge.wire import ToolSpec

from .client import HANDSHAKE, STATELESS, connected

ERAS = (*HANDSHAKE, STATELESS)
LEGAL = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")
SERVER = "vscx"


def offered(*names: str) -> ToolCatalogue:
    return ToolCatalogue.of([ToolSpec(name, f"Does {name}.") for name in names], SERVER)


@attrs.define(eq=False)
class Desk:
    """Takes calls, and answers when it is told to."""

    calls: list[tuple[str, JSON]] = attrs.field(factory=list[tuple[str, JSON]])
    withdrawn: int = 0
    result: Any = None
    is_error: bool = False
    reports: int = 0
    """How often a call reports that it is being seen to."""
    opens: trio.Event = attrs.field(factory=trio.Event)

    async def call(self, name: str, arguments: JSON, report: ReportProgress) -> ToolAnswer:
        self.calls.append((name, arguments))
        try:
            for number in range(1, self.reports + 1):
                await report(number)
            await self.opens.wait()
        except trio.Cancelled:
            self.withdrawn += 1
            raise
        return ToolAnswer("", self.result, self.is_error)

    def open(self, result: Any = "done") -> None:
        self.result = result
        self.opens.set()


def serving(catalogue: ToolCatalogue | None = None) -> tuple[Desk, EditorServer]:
    desk = Desk()
    return desk, EditorServer(SERVER, "1.0", catalogue or offered("read_file"), desk.call)


@pytest.mark.parametrize("era", ERAS)
async def test_tools_are_listed_and_called_in_every_era(era: str, autojump_clock: object) -> None:
    desk, server = serving()
    desk.open("the text")
    async with connected(server, era) as client:
        about = await client.introduce()
        assert about.get("protocolVersion", era) == era
        assert about["capabilities"]["tools"] == {"listChanged": True}
        assert not server.was_asked
        (tool,) = (await client.ask("tools/list"))["tools"]
        assert server.was_asked
        assert (tool["name"], tool["description"]) == ("read_file", "Does read_file.")
        assert tool["inputSchema"] == {"type": "object", "properties": {}}
        result = await client.call("read_file", path="a", empty=None)
        assert result["content"] == [{"type": "text", "text": "the text"}]
        assert result["isError"] is False
    assert desk.calls == [("read_file", {"path": "a", "empty": None})]
    assert not client.unexpected


@pytest.mark.parametrize("era", ERAS)
async def test_what_is_not_served_is_not_found(era: str, autojump_clock: object) -> None:
    _, server = serving()
    async with connected(server, era) as client:
        await client.introduce()
        for method in ("resources/list", "prompts/list", "logging/setLevel", "no/such"):
            answer = await client.answer(await client.begin(method, {"level": "debug"}))
            assert answer["error"]["code"] == -32601


async def test_a_probe_for_the_newest_era_does_not_keep_a_client_from_an_older_one(
    autojump_clock: object,
) -> None:
    _, server = serving()
    async with connected(server, None) as client:
        answer = await client.answer(await client.begin("server/discover"))
        assert "error" in answer
        client.era = "2025-06-18"
        assert (await client.introduce())["protocolVersion"] == "2025-06-18"


async def test_a_version_that_nobody_knows_becomes_the_newest_of_its_kind(
    autojump_clock: object,
) -> None:
    _, server = serving()
    async with connected(server, "1999-01-01") as client:
        assert (await client.introduce())["protocolVersion"] == "2025-11-25"
        assert await client.ask("ping") == {}


@pytest.mark.parametrize("era", ERAS)
async def test_a_call_that_is_taken_back_is_not_answered(era: str, autojump_clock: object) -> None:
    desk, server = serving()
    async with connected(server, era) as client:
        await client.introduce()
        one = await client.begin("tools/call", {"name": "read_file"})
        two = await client.begin("tools/call", {"name": "read_file"})
        await wait_all_tasks_blocked()
        await client.notify("notifications/cancelled", {"requestId": one, "reason": "stop"})
        await wait_all_tasks_blocked()
        assert desk.withdrawn == 1
        desk.open()
        assert (await client.answer(two))["result"]["content"][0]["text"] == "done"
        await wait_all_tasks_blocked()
    assert not client.unexpected
    assert len(desk.calls) == 2


async def test_whoever_is_gone_has_taken_back_all_calls(autojump_clock: object) -> None:
    desk, server = serving()
    async with connected(server) as client:
        await client.introduce()
        for _ in range(3):
            await client.begin("tools/call", {"name": "read_file"})
        await wait_all_tasks_blocked()
    assert desk.withdrawn == 3


@pytest.mark.parametrize("era", ERAS)
async def test_progress_is_told_to_whoever_wants_it(era: str, autojump_clock: object) -> None:
    desk, server = serving()
    desk.reports = 2
    async with connected(server, era) as client:
        await client.introduce()
        params = {"name": "read_file", "_meta": {"progressToken": "p1"}}
        id_ = await client.begin("tools/call", params)
        for number in (1, 2):
            progress = (await client.hear("notifications/progress"))["params"]
            assert progress["progressToken"] == "p1"
            assert progress["progress"] == number
        desk.open()
        await client.answer(id_)
    assert not client.unexpected


async def test_whoever_does_not_want_progress_hears_none(autojump_clock: object) -> None:
    desk, server = serving()
    desk.reports = 2
    async with connected(server) as client:
        await client.introduce()
        id_ = await client.begin("tools/call", {"name": "read_file"})
        await wait_all_tasks_blocked()
        desk.open()
        await client.answer(id_)
    assert not client.unexpected


async def test_other_tools_are_announced_and_offered(autojump_clock: object) -> None:
    desk, server = serving()
    desk.open()
    async with connected(server) as client:
        await client.introduce()
        await wait_all_tasks_blocked()
        await server.change(offered("list_dir"))
        await client.hear("notifications/tools/list_changed")
        (tool,) = (await client.ask("tools/list"))["tools"]
        assert tool["name"] == "list_dir"
        result = await client.call("read_file")
        assert result["isError"] is True
        assert "no tool named read_file" in result["content"][0]["text"]
    assert desk.calls == []


async def test_in_the_newest_era_changes_are_told_to_subscribers(autojump_clock: object) -> None:
    _, server = serving()
    async with connected(server, STATELESS) as client:
        await client.introduce()
        await client.begin("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
        await client.hear("notifications/subscriptions/acknowledged")
        await server.change(offered("list_dir"))
        await client.hear("notifications/tools/list_changed")


async def test_a_change_does_not_wait_for_a_client_that_is_gone_or_deaf(
    autojump_clock: object,
) -> None:
    _, server = serving()
    async with connected(server) as client:
        await client.introduce()
        await wait_all_tasks_blocked()
    await server.change(offered("a"))
    async with connected(server) as client:
        await client.introduce()
        await wait_all_tasks_blocked()
        with trio.fail_after(30):
            for number in range(3):
                await server.change(offered(f"tool{number}"))


async def test_results_keep_their_images_and_their_faults(autojump_clock: object) -> None:
    desk, server = serving()
    desk.is_error = True
    desk.open([{"type": "text", "value": "seen"}, {"mimeType": "image/png", "data": "iVBORw=="}])
    async with connected(server) as client:
        await client.introduce()
        result = await client.call("read_file")
    assert result["isError"] is True
    assert result["content"] == [
        {"type": "text", "text": "seen"},
        {"type": "image", "mimeType": "image/png", "data": "iVBORw=="},
    ]


async def test_a_large_result_arrives_whole(autojump_clock: object) -> None:
    desk, server = serving()
    desk.open("x" * 3_000_000)
    async with connected(server) as client:
        await client.introduce()
        (block,) = (await client.call("read_file", text="y" * 1_000_000))["content"]
    assert len(block["text"]) == 3_000_000
    assert len(desk.calls[0][1]["text"]) == 1_000_000


SCHEMA: JSON = {
    "type": "object",
    "$schema": "http://json-schema.org/draft-07/schema#",
    "properties": {
        "kind": {"enum": ["a", None, 1], "default": None, "x-more": {"deep": [None]}},
        "any": True,
        "of": {"oneOf": [{"type": "string"}, {"$ref": "#/definitions/n"}]},
    },
    "required": ["kind"],
    "additionalProperties": False,
    "definitions": {"n": {"type": ["number", "null"], "const": None}},
}


@pytest.mark.parametrize("era", ERAS)
async def test_forty_schemas_arrive_unchanged(era: str, autojump_clock: object) -> None:
    schemas = {f"tool_{number}": {**SCHEMA, "title": f"T{number}"} for number in range(40)}
    specs = [ToolSpec(n, "", Raw(json.dumps(schema).encode())) for n, schema in schemas.items()]
    _, server = serving(ToolCatalogue.of(specs, SERVER))
    async with connected(server, era) as client:
        await client.introduce()
        tools = (await client.ask("tools/list"))["tools"]
    assert {tool["name"]: tool["inputSchema"] for tool in tools} == schemas


async def test_two_hundred_tools_of_any_kind_are_listed_and_called_by_their_own_names(
    autojump_clock: object,
) -> None:
    """Names that would be the same, of any alphabet; endless descriptions; odd schemas."""
    names = [
        "a.b",
        "a b",
        "a_b",
        "a/b",
        "\u5de5\u5177",
        "\u5de5\u5171",
        "\U0001f527",
        "x" * 300,
        "",
    ]
    names += [f"{'y' * 60}{number}" for number in range(191)]
    schemas: list[Any] = [{"type": "string"}, [], None, True, {"type": ["object"]}, SCHEMA]
    specs = [
        ToolSpec(name, "d" * (500 * number), Raw(json.dumps(schemas[number % 6]).encode()))
        for number, name in enumerate(names)
    ]
    desk, server = serving(ToolCatalogue.of(specs, SERVER))
    desk.open()
    async with connected(server) as client:
        await client.introduce()
        listed = (await client.ask("tools/list"))["tools"]
        assert len(listed) == len({tool["name"] for tool in listed}) == len(names) == 200
        assert all(LEGAL.match(f"mcp__{SERVER}__{tool['name']}") for tool in listed)
        assert all(tool["inputSchema"]["type"] == "object" for tool in listed)
        assert sorted(len(tool["description"]) for tool in listed) == [500 * n for n in range(200)]
        for tool in listed:
            await client.call(tool["name"])
    assert sorted(name for name, _ in desk.calls) == sorted(names)
