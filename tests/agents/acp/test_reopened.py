"""Agents that have a session again without the editor's tools: the chat gets them elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from agents.acp.agent import AcpAgent
from agents.acp.learned import AgentFacts, Fact
from agents.acp.reopened import GOES_ON_WITHOUT, Reopened, lesson
from agents.acp.session import AcpSession
from agents.mcp.toolbox import IGNORED_SECONDS, load_now
from agents.origin import FRESH, ForkOf, Origin, Resumed
from bridge.wire import ToolSpec
from tests.fakes.acp_agents import ChildAgent, agent_as_child

from .test_tools import FORTY, Chat, prompt

JSON = dict[str, Any]
NEW, LOAD, RESUME, FORK = "session/new", "session/load", "session/resume", "session/fork"
ABLE: JSON = {"loadSession": True}
CAN_CLOSE: JSON = {**ABLE, "sessionCapabilities": {"close": {}}}
CAN_ALL: JSON = {**ABLE, "sessionCapabilities": {"resume": {}, "fork": {}}}


@pytest.fixture
def clock() -> MockClock:
    """Return a clock that goes as all do, and can be moved on."""
    return MockClock(rate=1)


@pytest.fixture(autouse=True)
def loaded() -> None:
    """Keep threads away from the mock clock."""
    load_now("server")


def script(able: JSON, **more: Any) -> JSON:
    """Return an agent that asks for its tools before it answers, where it takes them."""
    about = {"agentInfo": {"name": "forgetful", "version": "1"}, "agentCapabilities": able}
    asks = {"hello": [{"tools": True}, {"say": "hello"}]}
    return {"agent": about, "words": asks, **more}


class Visit:
    """What one opening of a chat showed."""

    def __init__(self, session: AcpSession, said: str) -> None:
        self.knows_history = session.knows_history
        self.lost = session.lost
        self.said = said
        self.handle = session.handle or ""


async def visit(
    agent: AcpAgent,
    child: ChildAgent,
    clock: MockClock,
    origin: Origin = FRESH,
    *,
    text: str = "hello",
    tools: Sequence[ToolSpec] = FORTY,
    seconds: float = IGNORED_SECONDS,
) -> Visit:
    """Have a turn in a session, and leave it after some time."""
    with trio.fail_after(60):
        async with agent.session(prompt(tools=tools), origin) as session:
            chat = Chat(agent, child, session)
            await chat.ask(text, tools=tools)
            clock.jump(seconds)
            return Visit(session, chat.said)


def openings(child: ChildAgent) -> list[tuple[str, str]]:
    """Return how each session was asked for with tools, and the name of its server."""
    return [
        (one["method"], one["params"]["mcpServers"][0]["name"])
        for one in child.heard
        if one.get("method") in (NEW, LOAD, RESUME, FORK)
    ]


@pytest.mark.slow
async def test_a_chat_whose_load_loses_its_tools_is_told_anew_and_so_is_each_later_one(
    clock: MockClock,
) -> None:
    async with agent_as_child(script(ABLE, ignores_tools=[LOAD]), spares=False) as (agent, child):
        first = await visit(agent, child, clock)
        assert first.lost is None
        assert "tool_39" in first.said
        loaded = await visit(agent, child, clock, Resumed(first.handle), text="again")
        assert loaded.knows_history
        assert loaded.lost is not None
        assert loaded.lost.message == "fake went on without the editor's tools."
        anew = await visit(agent, child, clock, Resumed(loaded.handle))
        assert not anew.knows_history
        assert anew.lost is None
        assert "tool_39" in anew.said
        ways = [way for way, _ in openings(child)]
        assert ways == [NEW, LOAD, NEW]
        without = await visit(agent, child, clock, Resumed(anew.handle), text="again", tools=())
        assert without.knows_history, "there are no tools to be lost"


@pytest.mark.parametrize("is_resumed", [True, False])
@pytest.mark.slow
async def test_only_the_way_that_loses_the_tools_is_not_gone_again(
    clock: MockClock, is_resumed: bool
) -> None:
    """The next way is tried: it may not lose them."""
    lossy = RESUME if is_resumed else FORK
    async with agent_as_child(script(CAN_ALL, ignores_tools=[lossy]), spares=False) as made:
        agent, child = made
        first = await visit(agent, child, clock)
        origin = Resumed(first.handle) if is_resumed else ForkOf(first.handle)
        again = await visit(agent, child, clock, origin, text="again")
        assert again.knows_history
        assert again.lost is not None
        origin = Resumed(again.handle) if is_resumed else ForkOf(again.handle)
        last = await visit(agent, child, clock, origin)
        assert last.lost is None
        assert "tool_39" in last.said
        assert last.knows_history == is_resumed
        ways = [way for way, _ in openings(child)]
        assert ways == [NEW, lossy, LOAD if is_resumed else NEW]


@pytest.mark.slow
async def test_a_server_whose_name_the_process_keeps_gets_another_name(clock: MockClock) -> None:
    """The session is had again: its tools are lost only under the name that was used before."""
    keeping = script(CAN_CLOSE, keeps_servers=True)
    async with agent_as_child(keeping, spares=False) as (agent, child):
        first = await visit(agent, child, clock)
        again = await visit(agent, child, clock, Resumed(first.handle), text="again")
        assert again.lost is not None
        for handle in (again.handle, first.handle):
            renamed = await visit(agent, child, clock, Resumed(handle))
            assert renamed.knows_history
            assert renamed.lost is None
            assert "tool_39" in renamed.said
        names = [name for _, name in openings(child)]
        assert names[0] == names[1]
        assert len(set(names)) == 3
        assert [way for way, _ in openings(child)] == [NEW, LOAD, LOAD, LOAD]
        assert child.faults == []


@pytest.mark.slow
async def test_a_way_that_fails_after_its_server_has_started_costs_the_next_one_nothing(
    clock: MockClock,
) -> None:
    """The server has another name then: a process may keep the connection of the first."""
    failing: JSON = {RESUME: [{"tools": True}, {"error": {"code": -32603, "message": "No."}}]}
    keeping = script(CAN_ALL, keeps_servers=True, on=failing)
    async with agent_as_child(keeping, spares=False) as (agent, child):
        first = await visit(agent, child, clock)
        loaded = await visit(agent, child, clock, Resumed(first.handle))
        assert loaded.knows_history
        assert loaded.lost is None
        assert "tool_39" in loaded.said
        _, (resume, refused), (load, name) = openings(child)
        assert (resume, load) == (RESUME, LOAD)
        assert loaded.handle.endswith(f"#{name}")
        assert name != refused


@pytest.mark.slow
async def test_a_process_that_can_t_close_sessions_gets_another_name_at_once(
    clock: MockClock,
) -> None:
    async with agent_as_child(script(ABLE, keeps_servers=True), spares=False) as (agent, child):
        first = await visit(agent, child, clock)
        again = await visit(agent, child, clock, Resumed(first.handle))
        assert again.knows_history
        assert again.lost is None
        assert "tool_39" in again.said


@pytest.mark.parametrize(
    ("ignored", "seconds", "text"),
    [
        ([LOAD], 1.0, "again"),  # it may start its servers yet
        ([NEW, LOAD, RESUME, FORK], IGNORED_SECONDS, "again"),  # another session has none either
        ([LOAD], IGNORED_SECONDS, "fail"),  # a login may be missing, say
        ([], IGNORED_SECONDS, "hello"),
    ],
    ids=["too soon", "never asks", "failed", "asks"],
)
@pytest.mark.slow
async def test_a_session_that_may_have_its_tools_is_gone_on_with(
    clock: MockClock, ignored: list[str], seconds: float, text: str
) -> None:
    failing = {"fail": [{"error": {"code": -32603, "message": "No."}}]}
    made = script(ABLE, ignores_tools=ignored)
    made["words"].update(failing)
    begins = "again" if NEW in ignored else "hello"
    async with agent_as_child(made, spares=False) as (agent, child):
        first = await visit(agent, child, clock, text=begins)
        for _ in range(2):
            with trio.fail_after(60):
                async with agent.session(prompt(), Resumed(first.handle)) as session:
                    assert session.knows_history
                    async for _batch in session.run(prompt(text)):
                        pass
                    clock.jump(seconds)
                    assert session.lost is None
        assert [way for way, _ in openings(child)] == [NEW, LOAD, LOAD]


@pytest.mark.slow
async def test_the_user_is_told_when_the_tools_come_back(clock: MockClock) -> None:
    made = script(ABLE, ignores_tools=[LOAD])
    made["words"]["slowly"] = [{"sleep": 0.3}, {"say": "done"}]
    async with agent_as_child(made, spares=False) as (agent, child):
        first = await visit(agent, child, clock)
        with trio.fail_after(60):
            async with agent.session(prompt(), Resumed(first.handle)) as session:
                chat = Chat(agent, child, session)
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(chat.ask, "slowly")
                    await wait_all_tasks_blocked()
                    clock.jump(IGNORED_SECONDS)
                assert chat.said == f"done\n\n{GOES_ON_WITHOUT}\n\n"


def test_another_name_is_tried_before_the_way_is_given_up() -> None:
    facts = AgentFacts()
    used = Reopened(LOAD, is_name_used=True)
    assert lesson(Reopened(LOAD), facts) is Fact.LOAD_WITHOUT_TOOLS
    assert lesson(used, facts) is Fact.KEEPS_SERVERS
    facts.learn(Fact.KEEPS_SERVERS)
    assert lesson(used, facts) is Fact.LOAD_WITHOUT_TOOLS
