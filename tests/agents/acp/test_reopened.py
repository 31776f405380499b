"""Agents that have a session again without the editor's tools: the chat gets them elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from agents.acp.agent import AcpAgent
from agents.acp.learned import AgentFacts, Fact, Learned
from agents.acp.reopened import CONNECTING_SECONDS, GOES_ON_WITHOUT, Reopened, ToldAgain, lesson
from agents.acp.schema.content import TextContent
from agents.acp.schema.updates import AgentMessageChunk
from agents.acp.session import AcpSession
from agents.mcp.session_tools import IGNORED_SECONDS, load_now
from agents.origin import FRESH, ForkOf, Origin, Resumed
from bridge.wire import ToolSpec
from tests.fakes.acp_agents import ChildAgent, agent_as_child, child_agent, child_program
from tests.fakes.waiting import until

from .test_tools import FORTY, Chat, prompt

JSON = dict[str, Any]
NEW, LOAD, RESUME, FORK = "session/new", "session/load", "session/resume", "session/fork"
ABLE: JSON = {"loadSession": True}
CAN_CLOSE: JSON = {**ABLE, "sessionCapabilities": {"close": {}}}
CAN_RESUME: JSON = {**ABLE, "sessionCapabilities": {"resume": {}}}
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
    """Return an agent that asks for its tools before it answers, where it takes them.

    A prompt that says "bye" ends its process.
    """
    about = {"agentInfo": {"name": "forgetful", "version": "1"}, "agentCapabilities": able}
    words = {
        "hello": [{"tools": True}, {"say": "hello"}],
        "bye": [{"say": "bye"}, {"stop": "end_turn"}, {"exit": 0}],
    }
    return {"agent": about, "words": words, **more}


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
    ignored: str = "",
) -> Visit:
    """Have a turn in a session, and leave it after some time.

    `ignored` is the method with which the agent is waited for, in vain.
    """

    async def pass_time(asked: int) -> None:
        await until(lambda: len(child.asked(ignored)) > asked)
        await trio.sleep(0.2)
        clock.jump(CONNECTING_SECONDS)

    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            if ignored:
                nursery.start_soon(pass_time, len(child.asked(ignored)))
            async with agent.session(prompt(tools=tools), origin) as session:
                chat = Chat(agent, child, session)
                await chat.ask(text, tools=tools)
                clock.jump(seconds)
                return Visit(session, chat.said)


async def end_process(agent: AcpAgent, child: ChildAgent, clock: MockClock) -> None:
    """Have the agent's process end, so that the next session needs another one."""
    await visit(agent, child, clock, text="bye", tools=())
    await until(lambda: agent.processes == 0)


def openings(child: ChildAgent) -> list[tuple[str, str]]:
    """Return how each session was asked for with tools, and the name of its server."""
    return [
        (one["method"], one["params"]["mcpServers"][0]["name"])
        for one in child.heard
        if one.get("method") in (NEW, LOAD, RESUME, FORK) and one["params"]["mcpServers"]
    ]


def ways(child: ChildAgent) -> list[str]:
    """Return how each session was asked for with tools."""
    return [way for way, _ in openings(child)]


@pytest.mark.limit("agents.acp.reopened.CONNECTING_SECONDS")
@pytest.mark.parametrize("able", [ABLE, CAN_RESUME], ids=["loads", "resumes"])
@pytest.mark.slow
async def test_a_chat_that_gets_tools_later_has_them_with_that_message(
    clock: MockClock, able: JSON
) -> None:
    """The agent ignores the server of a session that its process still has. It is asked once."""
    way = RESUME if able is CAN_RESUME else LOAD
    async with agent_as_child(script(able, opens_once=True), spares=False) as (agent, child):
        for waits_for in (way, ""):
            without = await visit(agent, child, clock, text="again", tools=())
            origin = Resumed(without.handle)
            anew = await visit(agent, child, clock, origin, ignored=waits_for)
            assert not anew.knows_history, "so it is told what was said"
            assert anew.lost is None
            assert "tool_39" in anew.said
        assert ways(child) == [way, NEW, NEW]
        await end_process(agent, child, clock)
        elsewhere = await visit(agent, child, clock, Resumed(anew.handle))
        assert elsewhere.knows_history, "another process takes the server"
        assert "tool_39" in elsewhere.said


@pytest.mark.slow
async def test_a_load_that_ignores_its_server_is_left_before_the_prompt(
    clock: MockClock, tmp_path: Path
) -> None:
    """That is remembered by the agent's name and version, and the chat is told anew at once."""
    connects_first = script(ABLE, ignores_tools=[LOAD], on={NEW: [{"tools": True}]})
    async with child_program(connects_first) as child:
        handle = ""
        for waits_for in ("", LOAD, ""):
            async with trio.open_nursery() as nursery:
                learned = Learned(nursery, lambda: tmp_path / "learned.json")
                agent = child_agent(child, nursery, spares=False, learned=learned)
                origin = Resumed(handle) if handle else FRESH
                one = await visit(agent, child, clock, origin, ignored=waits_for)
                assert not one.knows_history
                assert one.lost is None
                assert "tool_39" in one.said
                handle = one.handle
                await end_process(agent, child, clock)
                nursery.cancel_scope.cancel()
        assert ways(child) == [NEW, LOAD, NEW, NEW]


@pytest.mark.slow
async def test_an_agent_that_takes_no_servers_at_all_is_not_waited_for(clock: MockClock) -> None:
    async with agent_as_child(script(ABLE, ignores_tools=True), spares=False) as (agent, child):
        first = await visit(agent, child, clock, text="again")
        begun = trio.current_time()
        found = await visit(agent, child, clock, Resumed(first.handle), text="again", seconds=0)
        assert found.knows_history
        assert trio.current_time() < begun + CONNECTING_SECONDS
        assert ways(child) == [NEW, LOAD]


@pytest.mark.slow
async def test_an_agent_that_ends_while_it_is_waited_for_costs_no_time_and_no_lesson(
    clock: MockClock,
) -> None:
    ends: JSON = {LOAD: [{"replay": True}, {"result": {}}, {"sleep": 0.3}, {"exit": 1}]}
    runs = [script(ABLE, opens_once=True, on=ends), script(ABLE, opens_once=True)]
    async with agent_as_child({"runs": runs}, spares=False) as (agent, child):
        without = await visit(agent, child, clock, text="again", tools=())
        begun = trio.current_time()
        found = await visit(agent, child, clock, Resumed(without.handle))
        assert trio.current_time() < begun + CONNECTING_SECONDS + IGNORED_SECONDS
        assert "tool_39" in found.said
        without = await visit(agent, child, clock, text="again", tools=())
        await visit(agent, child, clock, Resumed(without.handle), ignored=LOAD)
        assert ways(child) == [LOAD, NEW, LOAD, NEW]


@pytest.mark.slow
async def test_a_chat_whose_load_loses_its_tools_late_is_told_anew_and_so_is_each_later_one(
    clock: MockClock,
) -> None:
    """An agent that connects when it is prompted can't be waited for."""
    lazy = script(ABLE, ignores_tools=[LOAD], lazy_tools=True)
    async with agent_as_child(lazy, spares=False) as (agent, child):
        first = await visit(agent, child, clock)
        assert first.lost is None
        assert "tool_39" in first.said
        await end_process(agent, child, clock)
        loaded = await visit(agent, child, clock, Resumed(first.handle), text="again")
        assert loaded.knows_history
        assert loaded.lost is not None
        assert loaded.lost.message == "fake continued without the offered tools."
        anew = await visit(agent, child, clock, Resumed(loaded.handle))
        assert not anew.knows_history
        assert anew.lost is None
        assert "tool_39" in anew.said
        assert ways(child) == [NEW, LOAD, NEW]
        without = await visit(agent, child, clock, Resumed(anew.handle), text="again", tools=())
        assert without.knows_history, "there are no tools to be lost"


@pytest.mark.parametrize("is_resumed", [True, False])
@pytest.mark.slow
async def test_only_the_way_that_loses_the_tools_is_not_gone_again(
    clock: MockClock, is_resumed: bool
) -> None:
    """The next way is tried: it may not lose them."""
    lossy = RESUME if is_resumed else FORK
    lazy = script(CAN_ALL, ignores_tools=[lossy], lazy_tools=True)
    async with agent_as_child(lazy, spares=False) as (agent, child):
        first = await visit(agent, child, clock)
        await end_process(agent, child, clock)
        origin = Resumed(first.handle) if is_resumed else ForkOf(first.handle)
        again = await visit(agent, child, clock, origin, text="again")
        assert again.knows_history
        assert again.lost is not None
        await end_process(agent, child, clock)
        origin = Resumed(again.handle) if is_resumed else ForkOf(again.handle)
        last = await visit(agent, child, clock, origin)
        assert last.lost is None
        assert "tool_39" in last.said
        assert last.knows_history == is_resumed
        assert ways(child) == [NEW, lossy, LOAD if is_resumed else NEW]


@pytest.mark.slow
async def test_a_server_whose_name_the_process_keeps_gets_another_name(clock: MockClock) -> None:
    """Its tools are lost only under the name that was used before, and only once."""
    keeping = script(CAN_CLOSE, keeps_servers=True, on={NEW: [{"tools": True}]})
    async with agent_as_child(keeping, spares=False) as (agent, child):
        first = await visit(agent, child, clock)
        again = await visit(agent, child, clock, Resumed(first.handle), ignored=LOAD)
        assert not again.knows_history
        assert "tool_39" in again.said
        for handle in (again.handle, first.handle):
            renamed = await visit(agent, child, clock, Resumed(handle))
            assert renamed.knows_history
            assert renamed.lost is None
            assert "tool_39" in renamed.said
        names = [name for _, name in openings(child)]
        assert names[0] == names[1]
        assert len(set(names)) == 4
        assert ways(child) == [NEW, LOAD, NEW, LOAD, LOAD]
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
    made = script(CAN_CLOSE, ignores_tools=ignored, lazy_tools=True)
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
        assert ways(child) == [NEW, LOAD, LOAD]


@pytest.mark.slow
async def test_the_user_is_told_when_the_tools_come_back(clock: MockClock, tmp_path: Path) -> None:
    has_jumped = tmp_path / "jumped"
    made = script(CAN_CLOSE, ignores_tools=[LOAD], lazy_tools=True)
    made["words"]["slowly"] = [{"until": str(has_jumped)}, {"say": "done"}]
    async with agent_as_child(made, spares=False) as (agent, child):
        first = await visit(agent, child, clock)
        with trio.fail_after(60):
            async with agent.session(prompt(), Resumed(first.handle)) as session:
                chat = Chat(agent, child, session)
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(chat.ask, "slowly")
                    await wait_all_tasks_blocked()
                    clock.jump(IGNORED_SECONDS)
                    has_jumped.touch()
                assert chat.said == f"done\n\n{GOES_ON_WITHOUT}\n\n"


def test_another_name_is_tried_before_the_way_is_given_up() -> None:
    facts = AgentFacts()
    used = Reopened(LOAD, is_name_used=True)
    assert lesson(Reopened(LOAD), facts) is Fact.LOAD_WITHOUT_TOOLS
    assert lesson(used, facts) is Fact.KEEPS_SERVERS
    facts.learn(Fact.KEEPS_SERVERS)
    assert lesson(used, facts) is Fact.LOAD_WITHOUT_TOOLS
    assert lesson(Reopened(LOAD, is_open=True), facts) is Fact.OPEN_WITHOUT_TOOLS


@pytest.mark.limit("agents.acp.reopened.MOST_REPLAYED_BYTES")
def test_what_is_kept_of_a_replay_are_its_newest_parts() -> None:
    replay = ToldAgain(most_bytes=10)
    chunks = [AgentMessageChunk(TextContent(text)) for text in "abc"]
    for chunk in chunks[:2]:
        replay.add(chunk, 5)
    assert (replay.updates, replay.is_cut) == (tuple(chunks[:2]), False)
    replay.add(chunks[2], 1)
    assert (replay.updates, replay.is_cut) == (tuple(chunks[1:]), True)
    replay.add(chunks[0], 11)
    assert replay.updates == ()
