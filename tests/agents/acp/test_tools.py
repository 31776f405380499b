"""The editor's tools in an agent's hands: a real process, a real relay, the whole way and back."""

from __future__ import annotations

import json
import math
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import attrs
import httpx
import pytest
import trio
from msgspec import Raw
from trio.testing import wait_all_tasks_blocked

from agents.acp.agent import AcpAgent
from agents.acp.session import IGNORED, AcpSession
from agents.base import Turn
from agents.events import (
    AskPermission,
    Await,
    CallTool,
    Decision,
    Event,
    PermissionAnswer,
    Prompt,
    Say,
    Stop,
    ToolAnswer,
)
from agents.mcp.session_tools import LEARNING_SECONDS, LISTING_SECONDS, Toolbox, load_now
from agents.origin import ForkOf, Resumed
from bridge.wire import ChatMessage, TextPart, ToolSpec
from tests.fakes.acp_agents import ChildAgent, agent_as_child, agent_in_process
from tests.fakes.acp_peer import PeerAgent
from tests.fakes.waiting import until

pytestmark = pytest.mark.slow

JSON = dict[str, Any]


@pytest.fixture(autouse=True)
def loaded() -> None:
    """Keep threads away from the mock clock."""
    load_now("server")
    load_now("http")


FORTY = tuple(ToolSpec(f"tool_{number:02}", f"Number {number}.") for number in range(40))


def prompt(text: str = "go", tools: Sequence[ToolSpec] = FORTY, **more: Any) -> Prompt:
    return Prompt((ChatMessage("user", (TextPart(text),)),), tools=tuple(tools), **more)


@attrs.define(eq=False)
class Chat:
    """One session, and what was heard in it."""

    agent: AcpAgent
    child: ChildAgent
    session: AcpSession
    turn: Turn | None = None
    said: str = ""

    @property
    def tools(self) -> Toolbox:
        tools = self.session.channel.tools
        assert tools is not None
        return tools

    async def ask(self, text: str = "go", **more: Any) -> list[Event]:
        """Begin a turn; return the events of its first response."""
        self.turn = self.session.run(prompt(text, **more))
        return await self.response()

    async def response(self) -> list[Event]:
        """Return the events up to where the response ends."""
        assert self.turn is not None
        heard: list[Event] = []
        with trio.fail_after(30):
            while True:
                for event in await self.turn.receive():
                    heard.append(event)
                    if isinstance(event, Say):
                        self.said += event.text
                    if isinstance(event, Await | Stop):
                        return heard

    def answer(self, call_id: str, result: Any, *, is_error: bool = False) -> None:
        self.session.answer(ToolAnswer(call_id, result, is_error))


def calls(events: Sequence[Event]) -> dict[str, str]:
    return {event.name: event.call_id for event in events if isinstance(event, CallTool)}


@asynccontextmanager
async def chat(script: JSON, first: Prompt | None = None) -> AsyncGenerator[Chat]:
    async with agent_as_child(script) as (agent, child):
        with trio.fail_after(60):
            async with agent.session(first or prompt()) as session:
                yield Chat(agent, child, session)
            assert child.faults == []


def call(number: int, **arguments: Any) -> JSON:
    name = f"tool_{number:02}"
    return {"call": name, "with": arguments, "as": str(number)}


TOLD = [{"gather": True}, {"results": True}]


async def test_an_agent_has_all_tools_before_it_is_asked_anything() -> None:
    async with chat({"turns": [[{"tools": True}]]}) as one:
        await one.ask()
        assert one.said.split() == [spec.name for spec in FORTY]
        (request,) = one.child.asked("session/new")[:1]
        (server,) = request["mcpServers"]
        assert server["name"].startswith("vsc")


async def test_a_part_of_the_results_keeps_the_turn_waiting() -> None:
    async with chat({"turns": [[call(1), call(2), *TOLD]]}) as one:
        ids = calls(await one.ask())
        one.answer(ids["tool_02"], "second")
        heard: list[Event] = []

        async def hear() -> None:
            heard.extend(await one.response())

        async with trio.open_nursery() as nursery:
            nursery.start_soon(hear)
            await wait_all_tasks_blocked()
            assert heard == []
            assert one.tools.calls.out == 1
            one.answer(ids["tool_01"], [{"type": "text", "value": "first"}])
        assert one.said == "1=first 2=second"


async def test_forty_calls_at_once() -> None:
    async with chat({"turns": [[*(call(number) for number in range(40)), *TOLD]]}) as one:
        events, responses, called = await one.ask(), 1, 0
        while ids := calls(events):  # a busy machine may take a pause between them
            called += len(ids)
            for name, call_id in sorted(ids.items(), reverse=True):
                one.answer(call_id, name)
            events, responses = await one.response(), responses + 1
        assert called == len(one.said.split()) == 40
        assert responses < 10
        assert all(told.split("=")[0] == str(int(told[-2:])) for told in one.said.split())


async def test_calls_one_after_the_other_take_a_response_each() -> None:
    rounds = [step for number in (1, 2, 3) for step in (call(number), {"gather": True})]
    async with chat({"turns": [[*rounds, {"results": True}]]}) as one:
        events = await one.ask()
        for number in (1, 2, 3):
            ((name, call_id),) = calls(events).items()
            assert name == f"tool_{number:02}"
            one.answer(call_id, "ok")
            events = await one.response()
        assert isinstance(events[-1], Stop)
        assert one.said == "1=ok 2=ok 3=ok"


async def test_errors_and_emptiness_arrive() -> None:
    async with chat({"turns": [[call(1), call(2), *TOLD]]}) as one:
        ids = calls(await one.ask())
        one.answer(ids["tool_01"], "broken", is_error=True)
        one.answer(ids["tool_02"], [])
        await one.response()
        assert one.said == "1!broken 2=(empty)"


async def test_a_large_result_arrives_whole() -> None:
    async with chat({"turns": [[call(1), *TOLD]]}) as one:
        ids = calls(await one.ask())
        large = "x" * 10_000_000
        one.answer(ids["tool_01"], [{"type": "text", "value": large}])
        await one.response()
        assert one.said == f"1={large}"


async def test_a_late_call_waits_for_the_next_response(tmp_path: Path) -> None:
    is_out = tmp_path / "out"
    turn = [call(1), {"until": str(is_out)}, call(2), *TOLD]
    async with chat({"turns": [turn]}) as one:
        first = calls(await one.ask())
        assert list(first) == ["tool_01"]
        is_out.touch()
        await until(lambda: one.tools.calls.due < math.inf)
        one.answer(first["tool_01"], "x")
        second = calls(await one.response())
        assert list(second) == ["tool_02"]
        one.answer(second["tool_02"], "y")
        await one.response()
        assert one.said == "1=x 2=y"


async def test_a_call_that_is_taken_back_in_time_is_never_sent_out() -> None:
    async with chat({"turns": [[call(1), call(2), {"take_back": "1"}, *TOLD]]}) as one:
        ids = calls(await one.ask())
        assert list(ids) == ["tool_02"]
        one.answer(ids["tool_02"], "x")
        await one.response()
        assert one.said == "2=x"


async def test_a_result_of_a_call_that_was_taken_back_is_dropped(tmp_path: Path) -> None:
    is_out = tmp_path / "out"
    turn = [call(1), call(2), {"until": str(is_out)}, {"take_back": "1"}, *TOLD]
    async with chat({"turns": [turn]}) as one:
        ids = calls(await one.ask())
        assert list(ids) == ["tool_01", "tool_02"]
        is_out.touch()
        await until(lambda: one.tools.calls.out == 1)
        one.answer(ids["tool_01"], "nobody wants it")
        one.answer(ids["tool_02"], "x")
        await one.response()
        assert one.said == "2=x"


async def test_a_cancel_answers_the_calls_and_the_next_turn_works() -> None:
    hung = [call(1), call(2), {"hang": True}]
    after = [{"stop": "cancelled"}]
    turns = [hung, [call(3), *TOLD]]
    async with chat({"turns": turns, "when_cancelled": after}) as one:
        ids = calls(await one.ask())
        assert len(ids) == 2
        await one.session.cancel()
        events = await one.response()
        assert isinstance(events[-1], Stop)
        one.answer(ids["tool_01"], "too late")
        second = calls(await one.ask("again"))
        assert list(second) == ["tool_03"]
        one.answer(second["tool_03"], "ok")
        await one.response()
        assert one.said == "1!The turn was cancelled. 2!The turn was cancelled. 3=ok"


N = Raw(b'{"type": "object", "properties": {"n": {}}}')
WITH_N = tuple(ToolSpec(spec.name, spec.description, N) for spec in FORTY)


def announcement(number: int, **more: Any) -> JSON:
    title = f"$server_tool_{number:02}"
    about: JSON = {"toolCallId": f"t{number}", "title": title, "status": "pending", "rawInput": {}}
    return {"update": {"sessionUpdate": "tool_call", **about, **more}}


def overtaking(number: int, seconds: float = 0.12) -> list[JSON]:
    """Return steps in which a call comes so long before its announcement, with text before that."""
    late = [{"sleep": seconds}, {"say": f"text {number} "}, announcement(number)]
    over = {"sessionUpdate": "tool_call_update", "toolCallId": f"t{number}", "status": "completed"}
    return [call(number), *late, {"gather": True}, {"update": over}]


async def test_a_call_comes_after_the_text_that_precedes_it() -> None:
    """An agent that has announced a call before announces this one, too, and says what for."""
    turns = [overtaking(1), [*overtaking(2), *overtaking(3)]]
    async with chat({"turns": turns}) as one:
        events = await one.ask()
        assert [type(event) for event in events] == [CallTool, Await], "nobody knows it yet"
        one.answer(calls(events)["tool_01"], "x")
        await one.response()
        events = await one.ask("again")
        for name in ("tool_02", "tool_03"):
            assert [type(event) for event in events] == [Say, CallTool, Await]
            one.answer(calls(events)[name], "x")
            events = await one.response()
        assert isinstance(events[-1], Stop)


async def test_an_agent_that_announced_calls_in_another_session_is_waited_for() -> None:
    turns = [[announcement(9, title="Look", status="completed")], overtaking(1)]
    async with agent_as_child({"turns": turns}) as (agent, child):
        with trio.fail_after(60):
            async with agent.session(prompt()) as session:
                await Chat(agent, child, session).ask()
            async with agent.session(prompt()) as session:
                one = Chat(agent, child, session)
                events = await one.ask()
                assert [type(event) for event in events] == [Say, CallTool, Await]
                one.answer(calls(events)["tool_01"], "x")
                await one.response()


async def is_allowed_unasked(*steps: JSON, tools: Sequence[ToolSpec] = FORTY) -> bool:
    """Return whether what an agent asks in these steps of a turn is allowed, and nobody asked.

    Then nothing else is shown, either.
    """
    script = {"turns": [[*steps, {"await": True}, {"outcomes": True}]]}
    async with chat(script, prompt(tools=tools)) as one:
        events = await one.ask(tools=tools)
        return isinstance(events[-1], Stop) and one.said == "allowed"


async def test_the_agents_own_question_about_a_tool_is_not_asked_again() -> None:
    about = {"toolCallId": "t1", "title": "x", "name": "mcp__$server__tool_01"}
    assert await is_allowed_unasked({"ask": about})


async def test_a_question_that_names_the_tool_in_its_announcement_alone_is_not_asked_again() -> (
    None
):
    """Codex asks with a form, once the call has begun."""
    begun = {"server": "$server", "tool": "tool_01", "arguments": {"n": 1}}
    form = {
        "server_name": "$server",
        "id": "mcp_tool_call_approval_t1",
        "request": {"mode": "form", "_meta": {"codex_approval_kind": "mcp_tool_call"}},
    }
    announced = {
        "sessionUpdate": "tool_call",
        "toolCallId": "t1",
        "title": "Tool: $server/tool_01",
        "status": "in_progress",
        "rawInput": begun,
    }
    about = {"toolCallId": "t1", "title": "Approve MCP tool call", "rawInput": form}
    assert await is_allowed_unasked({"update": announced}, {"ask": about})


@pytest.mark.parametrize(("name", "said"), [("fast-agent-acp", "allowed"), ("somebody", "")])
async def test_a_kind_that_is_guessed_by_the_tools_name_asks_nobody_again(
    name: str, said: str
) -> None:
    """Where no model can choose the title; of anybody else it is asked."""
    about: JSON = {"title": "$server/tool_01", "kind": "execute", "rawInput": {}}
    turn = [{"ask": {"toolCallId": "t1", **about}}, {"await": True}, {"outcomes": True}]
    script = {"agent": {"agentInfo": {"name": name, "version": "1"}}, "turns": [turn]}
    async with chat(script) as one:
        events = await one.ask()
        assert isinstance(events[-1], Stop if said else Await)
        assert one.said == said


@pytest.mark.parametrize(("name", "said"), [("gemini-cli", "allowed"), ("somebody", "")])
async def test_a_tool_whose_name_is_in_the_id_is_not_asked_about_again(
    name: str, said: str
) -> None:
    """The title is the command that it is given. Elsewhere a model may choose an id."""
    about: JSON = {"toolCallId": "mcp_$server_tool_01__1", "title": "ls", "kind": "other"}
    turn = [{"ask": about}, {"await": True}, {"outcomes": True}]
    script = {"agent": {"agentInfo": {"name": name, "version": "1"}}, "turns": [turn]}
    async with chat(script) as one:
        events = await one.ask()
        assert isinstance(events[-1], Stop if said else Await)
        assert one.said == said


def announced(**news: Any) -> JSON:
    return {"update": {"sessionUpdate": "tool_call", "toolCallId": "t1", **news}}


async def test_a_tool_that_is_asked_about_by_its_bare_name_is_not_asked_about_again() -> None:
    """Copilot announces the whole name, and a kind that it guesses. It shows nothing of it."""
    begun = announced(title="$server-tool_01", kind="execute", status="pending", rawInput={"n": 1})
    about = {"toolCallId": "t1", "title": "tool_01", "kind": "other", "rawInput": {"n": 1}}
    assert await is_allowed_unasked(begun, {"ask": about}, tools=WITH_N)


async def test_a_command_that_is_announced_as_a_tool_is_asked_about() -> None:
    """A model may choose the title of a command, and no agent gives its question another kind."""
    begun = announced(title="$server-tool_01", kind="execute", status="pending", rawInput={"n": 1})
    about = {"toolCallId": "t1", "title": "tool_01", "kind": "execute", "rawInput": {"n": 1}}
    assert not await is_allowed_unasked(begun, {"ask": about}, tools=WITH_N)


async def test_a_tool_that_the_agent_names_beside_the_call_is_not_asked_about_again() -> None:
    """Qwen does; its title is the input."""
    about: JSON = {"toolCallId": "t1", "title": '{"n":1}', "kind": "other", "rawInput": {"n": 1}}
    about["_meta"] = {"toolName": "mcp__$server__tool_01"}
    assert await is_allowed_unasked({"ask": about})


async def test_a_tool_that_is_asked_about_in_a_sentence_is_not_asked_about_again() -> None:
    """Kimi never says of which server it is, and writes the input as text."""

    def text(said: str) -> list[JSON]:
        return [{"type": "content", "content": {"type": "text", "text": said}}]

    title = 'tool_01: {"n": 1}'
    begun = announced(title="tool_01", status="in_progress", content=text(""))
    written = announced(title=title, status="in_progress", content=text('{"n": 1}'))
    sentence = "Requesting approval to perform: Call MCP tool `tool_01`."
    about = {"toolCallId": "t1", "title": title, "content": text(sentence)}
    counts = ToolSpec("tool_01", "", Raw(b'{"type": "object", "properties": {"n": {}}}'))
    assert await is_allowed_unasked(begun, written, {"ask": about}, tools=[counts])
    shell = "Requesting approval to perform: Run command `tool_01`."
    assert not await is_allowed_unasked(begun, {"ask": {**about, "content": text(shell)}})


async def test_an_id_that_is_used_again_says_nothing_of_the_new_call() -> None:
    begun = announced(title="$server-tool_01", kind="other", status="completed")
    about = {"toolCallId": "t1", "title": "tool_01", "kind": "other"}
    assert not await is_allowed_unasked(begun, {"ask": about})


async def test_other_tools_in_the_next_turn_are_announced() -> None:
    turns = [[{"tools": True}], [{"tools": True, "times_listed": 2}]]
    async with chat({"turns": turns}, prompt(tools=FORTY[:2])) as one:
        await one.ask(tools=FORTY[:2])
        assert one.said == "tool_00 tool_01"
        await one.ask(tools=FORTY[:3])
        assert one.said.endswith("tool_00 tool_01 tool_02")


async def test_other_tools_in_mid_turn_are_announced_before_the_result() -> None:
    """Also where only a description is another: the agent's list is old then, too."""
    again = {"tools": True, "times_listed": 2}
    async with chat({"turns": [[{"tools": True}, call(1), {"gather": True}, again]]}) as one:
        ids = calls(await one.ask())
        await one.session.renew(prompt(tools=FORTY))
        other = ToolSpec("tool_01", "Said otherwise.")
        await one.session.renew(prompt(tools=(*FORTY[:1], other)))
        one.answer(ids["tool_01"], "x")
        assert isinstance((await one.response())[-1], Stop)
        assert one.said.endswith("tool_39tool_00 tool_01")


async def test_a_server_that_is_started_again_serves_again() -> None:
    turn = [{"tools": True}, {"restart": True}, {"tools": True}, call(1), *TOLD]
    async with chat({"turns": [turn]}) as one:
        ids = calls(await one.ask())
        one.answer(ids["tool_01"], "x")
        await one.response()
        assert one.said.endswith("1=x")


async def test_a_load_that_fails_after_its_server_has_started_leaves_the_tools_to_the_next() -> (
    None
):
    """Its server goes on running in the agent, with the token that it was given."""
    about: JSON = {
        "agentInfo": {"name": "starts-first", "version": "1"},
        "agentCapabilities": {"loadSession": True, "sessionCapabilities": {"close": {}}},
    }
    refusal = {"error": {"code": -32603, "message": "No previous sessions found."}}
    script = {
        "agent": about,
        "on": {"session/load": [{"tools": True}, refusal]},
        "turns": [[{"say": "hello"}], [{"tools": True}, call(1), *TOLD]],
    }
    async with agent_as_child(script) as (agent, child):
        with trio.fail_after(60):
            async with agent.session(prompt()) as session:
                await Chat(agent, child, session).ask()
                handle = session.handle
            assert handle is not None
            async with agent.session(prompt(), Resumed(handle)) as session:
                assert not session.knows_history
                one = Chat(agent, child, session)
                ids = calls(await one.ask())
                assert list(ids) == ["tool_01"]
                one.answer(ids["tool_01"], "x")
                await one.response()
                assert one.said.endswith("tool_391=x")
        assert child.faults == []


async def test_each_opening_has_a_token_of_its_own() -> None:
    """Those of the ones that failed let nobody in any more."""
    refusal = {"error": {"code": -32603, "message": "Not now."}}
    failing = {"session/resume": [refusal], "session/load": [refusal]}
    login: JSON = {"login_needed": ["session/new"], "ignores_tools": True, "on": failing}
    about = {"authMethods": [{"id": "browser", "name": "Log in"}]}
    async with agent_in_process({**login, "agent": about}, spares=False) as (agent, peers):
        with trio.fail_after(60):
            async with agent.session(prompt()) as session:
                handle = session.handle
            assert handle is not None
            async with agent.session(prompt(), Resumed(handle)):
                methods = ("session/new", "session/resume", "session/load")
                asked = [one for one in peers.heard if one.get("method") in methods]
                tokens = [one["params"]["mcpServers"][0]["env"][0]["value"] for one in asked]
                assert len(set(tokens)) == len(tokens) == 5
                listener = agent.toolboxes._listener  # pyright: ignore[reportPrivateUsage]  # who has a key
                assert listener is not None
                passes = listener._passes  # pyright: ignore[reportPrivateUsage]
                assert [one.token for one in passes] == tokens[-1:]
            assert passes == []


def servers(peers: PeerAgent) -> list[tuple[str, str]]:
    """Return how each session was asked for, and the name of its server."""
    methods = ("session/new", "session/resume", "session/load", "session/fork")
    return [
        (one["method"].removeprefix("session/"), one["params"]["mcpServers"][0]["name"])
        for one in peers.heard
        if one.get("method") in methods
    ]


async def handle_of_a_turn(agent: AcpAgent) -> str:
    """Have a turn in a new session, close it, and return its handle."""
    async with agent.session(prompt()) as session:
        await says(session)
        assert session.handle is not None
        return session.handle


async def test_a_session_that_goes_on_keeps_the_name_of_its_server() -> None:
    """In the same process, and in another one of another time."""
    script: JSON = {"ignores_tools": True}
    with trio.fail_after(60):
        async with agent_in_process(script, spares=False) as (agent, peers):
            handle = await handle_of_a_turn(agent)
            async with agent.session(prompt(), Resumed(handle)) as session:
                assert session.knows_history
                assert session.handle == handle
                async with agent.session(prompt(), ForkOf(handle)) as fork:
                    assert fork.knows_history
            ((_, name), again, (way, other)) = servers(peers)
            assert again == ("resume", name)
            assert way == "fork"
            assert other != name
            kept = peers.kept
        async with agent_in_process(script, spares=False) as (agent, peers):
            peers.kept.update(kept)
            async with agent.session(prompt(), Resumed(handle)) as session:
                assert session.handle == handle
            assert servers(peers) == [("resume", name)]


async def test_a_handle_without_a_name_is_one_of_an_older_time() -> None:
    with trio.fail_after(60):
        async with agent_in_process({"ignores_tools": True}, spares=False) as (agent, peers):
            handle = (await handle_of_a_turn(agent)).partition("#")[0]
            async with agent.session(prompt(), Resumed(handle)) as session:
                assert session.knows_history
            assert len({name for _, name in servers(peers)}) == 2


async def test_a_process_that_may_have_a_session_open_gets_its_server_under_another_name() -> None:
    """One agent registers servers by the process, and refuses a name with another token."""
    able: JSON = {"agentCapabilities": {"loadSession": True}}
    script: JSON = {"ignores_tools": True, "agent": able}
    with trio.fail_after(60):
        async with agent_in_process(script, spares=False) as (agent, peers):
            handle = await handle_of_a_turn(agent)
            async with agent.session(prompt(), Resumed(handle)):
                pass
            assert len({name for _, name in servers(peers)}) == 2


async def test_a_new_session_after_a_failed_load_has_a_server_of_its_own() -> None:
    lost = {"error": {"code": -32603, "message": "No previous sessions found."}}
    script: JSON = {"ignores_tools": True, "on": {"session/resume": [lost], "session/load": [lost]}}
    with trio.fail_after(60):
        async with agent_in_process(script, spares=False) as (agent, peers):
            handle = await handle_of_a_turn(agent)
            async with agent.session(prompt(), Resumed(handle)) as session:
                assert not session.knows_history
            first, *again, new = (name for _, name in servers(peers))
            assert again == [first, first]
            assert new != first


async def test_sessions_have_servers_of_their_own_spares_too() -> None:
    script = {"otherwise": [call(1), *TOLD]}
    async with agent_as_child(script) as (agent, child):
        with trio.fail_after(60):
            said: list[str] = []
            for number in range(3):
                async with agent.session(prompt()) as session:
                    one = Chat(agent, child, session)
                    ids = calls(await one.ask())
                    one.answer(ids["tool_01"], str(number))
                    await one.response()
                    said.append(one.said)
            assert said == ["1=0", "1=1", "1=2"]
            servers = [request["mcpServers"][0] for request in child.asked("session/new")]
            assert len({server["name"] for server in servers}) == len(servers) >= 3
            tokens = {server["env"][0]["value"] for server in servers}
            assert len(tokens) == len(servers)
            assert child.processes == child.processes[:1]


async def test_an_agent_that_takes_only_http_gets_its_server_there() -> None:
    copilot = {"agentInfo": {"name": "Copilot", "version": "1"}}
    script = {"agent": copilot, "ignores_tools": True, "turns": [[{"hang": True}]]}
    async with chat(script) as one:
        (request,) = one.child.asked("session/new")
        (server,) = request["mcpServers"]
        assert server["type"] == "http"
        headers = {header["name"]: header["value"] for header in server["headers"]}
        headers["accept"] = "application/json, text/event-stream"
        one.turn = one.session.run(prompt())

        async def ask(id_: int, method: str, params: JSON) -> JSON:
            body = {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}
            response = await http.post(server["url"], json=body, headers=headers)
            headers.update({k: v for k, v in response.headers.items() if k == "mcp-session-id"})
            (line,) = [line for line in response.text.splitlines() if line.startswith("data: {")]
            return json.loads(line.removeprefix("data: "))["result"]

        async def be_the_agent() -> None:
            about: JSON = {"protocolVersion": "2025-06-18", "capabilities": {}}
            client = {"clientInfo": {"name": "c", "version": "1"}}
            await ask(1, "initialize", about | client)
            assert len((await ask(2, "tools/list", {}))["tools"]) == 40
            called = await ask(3, "tools/call", {"name": "tool_01", "arguments": {"n": 1}})
            assert called["content"] == [{"type": "text", "text": "done"}]

        async with httpx.AsyncClient(trust_env=False, timeout=20) as http:
            async with trio.open_nursery() as nursery:
                begun = trio.Event()

                async def receive() -> None:
                    ids = calls(await one.response())
                    one.answer(ids["tool_01"], "done")
                    begun.set()

                nursery.start_soon(receive)
                await one.child.hears("session/prompt")
                nursery.start_soon(be_the_agent)
            assert begun.is_set()
    async with httpx.AsyncClient(trust_env=False) as http:
        with pytest.raises(httpx.ConnectError):
            await http.get(server["url"])


async def test_an_agent_that_ignores_its_server_is_told_of_once(autojump_clock: object) -> None:
    late = [{"sleep": 30}, {"say": "done"}]
    turns = [late, late]
    async with agent_in_process({"turns": turns, "ignores_tools": True}) as (agent, _):
        with trio.fail_after(300):
            async with agent.session(prompt()) as session:
                said = ["".join(say.text for say in await says(session)) for _ in range(2)]
    assert said[0] == f"done\n\n{IGNORED}\n\n"
    assert said[1] == "done"


async def says(session: AcpSession) -> list[Say]:
    turn = session.run(prompt())
    return [event async for batch in turn for event in batch if isinstance(event, Say)]


async def no_report(_number: int) -> None: ...


async def test_a_turn_pauses_once_for_questions_and_calls(autojump_clock: object) -> None:
    """What is asked and what is called within a moment goes out in one response."""
    turn = [{"ask": {"toolCallId": "c", "title": "May I?"}}, {"await": True}, {"outcomes": True}]
    async with agent_in_process({"turns": [turn], "ignores_tools": True}) as (agent, _):
        with trio.fail_after(300):
            async with agent.session(prompt()) as session, trio.open_nursery() as nursery:
                box = session.channel.tools
                assert box is not None
                run = session.run(prompt())
                (asked,) = await run.receive()
                assert isinstance(asked, AskPermission)
                nursery.start_soon(box.call, "tool_01", {"n": 1}, no_report)
                sent, waits = await run.receive()
                assert isinstance(sent, CallTool)
                assert isinstance(waits, Await)
                session.answer(ToolAnswer(sent.call_id, "x"))
                with trio.move_on_after(5) as waiting:
                    await run.receive()
                assert waiting.cancelled_caught, "the question is still open"
                session.answer(PermissionAnswer(asked.call_id, Decision.ALLOWED))
                (say,) = await run.receive()
                assert say == Say("allowed")


CLAUDE: JSON = {"agentInfo": {"name": "@agentclientprotocol/claude-agent-acp", "version": "1"}}


async def test_an_agent_that_would_begin_without_its_tools_is_prompted_when_it_has_them(
    autojump_clock: object,
) -> None:
    async with agent_in_process({"agent": CLAUDE, "ignores_tools": True}) as (agent, peer):
        with trio.fail_after(300):
            async with agent.session(prompt()) as session, trio.open_nursery() as nursery:
                box = session.channel.tools
                assert box is not None
                nursery.start_soon(says, session)
                await trio.sleep(LISTING_SECONDS - 1)
                assert peer.asked("session/prompt") == []
                (await box.mcp()).asked.set()
                await trio.sleep(LEARNING_SECONDS + 0.1)
                assert len(peer.asked("session/prompt")) == 1


async def test_an_agent_that_never_asks_for_its_tools_is_waited_for_once(
    autojump_clock: object,
) -> None:
    async with agent_in_process({"agent": CLAUDE, "ignores_tools": True}) as (agent, _):
        with trio.fail_after(300):
            async with agent.session(prompt()) as session:
                begun = trio.current_time()
                assert await says(session) == [Say("ok")]
                first = trio.current_time() - begun
                await says(session)
                second = trio.current_time() - begun - first
    assert first >= LISTING_SECONDS > second


async def test_other_agents_are_prompted_at_once(autojump_clock: object) -> None:
    async with agent_in_process({"ignores_tools": True}) as (agent, _):
        with trio.fail_after(300):
            async with agent.session(prompt()) as session:
                begun = trio.current_time()
                await says(session)
                assert trio.current_time() - begun < LISTING_SECONDS / 2


async def test_an_agent_without_tools_gets_no_server() -> None:
    async with chat({"turns": [[{"tools": True}]]}, prompt(tools=())) as one:
        await one.ask(tools=())
        assert one.said == "no tools"
