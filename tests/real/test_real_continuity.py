"""Real agents know what the user sees: after an edit and its undo, a stop, a restart, a crash."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest
import trio

from tests.fakes.editor import ASKING, Chat, Request, message

from .agents import AGENTS
from .bench import Bench
from .continuity import CONTINUITY
from .lifetimes import World, world_of
from .model_server import ModelTurn
from .real_agent import RealAgent
from .recipes.claude import CLAUDE
from .recipes.opencode import OPENCODE

pytestmark = pytest.mark.agents

JSON = dict[str, Any]
NAMES = ("Ada", "Zoltan", "Quentin", "Dora")
"""What is said in these tests, of which every request to the model holds some."""
RECORD = "conversation_record"
BUILT_IN: JSON = {"_conversationId": "c", "_telemetryTurn": 1, "_otelTraceContext": {}}

each_agent = pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)


@pytest.fixture(autouse=True)
def _is_installed(agent: RealAgent) -> None:
    reason = agent.why_missing()
    if reason is not None:
        pytest.skip(f"{agent.name}: {reason}")


def say(name: str) -> str:
    return f"my name is {name}"


def newest(world: World, scenario: str) -> ModelTurn:
    return world.server.turns(scenario)[-1]


def names_in(turn: ModelTurn) -> list[str]:
    """Return what the model was told, in order; the test fails if it was told anything twice."""
    body = str(turn.body)
    told = {name: body.count(say(name)) for name in NAMES}
    assert set(told.values()) <= {0, 1}, told
    return [name for name in turn.given.names if told[name]]


async def ask_without_end(chat: Chat) -> Request:
    """Say two things, and get an answer to the second one that doesn't end."""
    await chat.say(say("Ada"))
    request = chat.ask(f"{say('Zoltan')}. ENDLESS")
    return await request.shows("And on.")


async def recall(world: World, chat: Chat) -> tuple[list[str], bool]:
    """Ask what the model knows; return it, and whether it was told so as a record."""
    shown = (await chat.say("RECALL")).text
    turn = newest(world, "RECALL")
    names = names_in(turn)
    assert f"You told me: {' '.join(names)}." in shown
    assert shown.count("You told me") == 1
    assert "I hear you." not in shown, "an earlier answer was shown again"
    return names, RECORD in str(turn.body)


@each_agent
async def test_an_edit_and_its_undo(agent: RealAgent, tmp_path: Path) -> None:
    """The second of three turns is edited; then the edit is undone, and then done again."""
    async with world_of(agent, tmp_path) as world, world.lifetime() as lifetime:
        chat = lifetime.bench.chat()
        for name in ("Ada", "Zoltan", "Quentin"):
            await chat.say(say(name))
        before = [*chat.history]
        chat.take_back(4)
        await chat.say(say("Dora"))
        assert names_in(newest(world, "echo")) == ["Ada", "Dora"]
        assert await recall(world, chat) == (["Ada", "Dora"], True)
        edited, chat.history = chat.history, before
        assert await recall(world, chat) == (["Ada", "Zoltan", "Quentin"], False)
        assert newest(world, "RECALL").given.texts("assistant").count("I hear you.") == 3
        chat.history = edited
        assert (await recall(world, chat))[0] == ["Ada", "Dora"]
        assert await lifetime.began(2) == ["fresh", "replayed told=2 why=new"]


@each_agent
async def test_a_turn_that_was_stopped_in_mid_answer(agent: RealAgent, tmp_path: Path) -> None:
    """What was asked is said all the same."""
    async with world_of(agent, tmp_path) as world, world.lifetime() as lifetime:
        chat = lifetime.bench.chat()
        request = await ask_without_end(chat)
        lifetime.bench.editor.cancel(request)
        chat.keep(await request.settled())
        assert await recall(world, chat) == (["Ada", "Zoltan"], False)
        assert await lifetime.began(1) == ["fresh"]


@each_agent
async def test_a_kill_between_turns(agent: RealAgent, tmp_path: Path) -> None:
    async with world_of(agent, tmp_path) as world:
        async with world.lifetime(is_killed=True) as lifetime:
            chat = lifetime.bench.chat()
            await chat.say(say("Ada"))
            await chat.say(say("Zoltan"))
            await world.remembers(1)
            await lifetime.kill()
        async with world.lifetime() as lifetime:
            chat.editor = lifetime.bench.editor
            assert await recall(world, chat) == (["Ada", "Zoltan"], False)
            assert await lifetime.began(1) == ["stored told=0"]
            assert lifetime.ways == [CONTINUITY[agent.name].after_a_restart]
            await chat.say(say("Dora"))
            assert await recall(world, chat) == (["Ada", "Zoltan", "Dora"], False)
        world.end_orphans()


@each_agent
async def test_a_kill_in_mid_turn(agent: RealAgent, tmp_path: Path) -> None:
    """Nobody can tell what the agent's session knows then, so the chat is told again."""
    async with world_of(agent, tmp_path) as world:
        async with world.lifetime(is_killed=True) as lifetime:
            chat = lifetime.bench.chat()
            await ask_without_end(chat)
            await lifetime.kill()
        async with world.lifetime() as lifetime:
            chat.editor = lifetime.bench.editor
            assert await recall(world, chat) == (["Ada", "Zoltan"], True)
            assert await lifetime.began(1) == ["replayed told=2 why=new"]
            assert await recall(world, chat) == (["Ada", "Zoltan"], True)
        world.end_orphans()


@pytest.mark.parametrize("agent", [OPENCODE, CLAUDE], ids=["opencode", "claude"])
async def test_few_processes_are_left_of_many_edits(agent: RealAgent, tmp_path: Path) -> None:
    """Two minutes after four edits of one chat; who goes back is told nothing again."""
    async with world_of(agent, tmp_path) as world, world.lifetime() as lifetime:
        chat = lifetime.bench.chat()
        for name in ("Ada", "Zoltan"):
            await chat.say(say(name))
        before = [*chat.history]
        for edit in ("one", "two", "three", "four"):
            chat.take_back(2)
            await chat.say(f"edit {edit}")
        assert len(await lifetime.began(5)) == 5
        print("after four edits:", await held(lifetime.bench))  # noqa: T201  for who runs it
        with trio.fail_after(120):
            while (found := await held(lifetime.bench)).for_sessions(agent) > 2:  # noqa: ASYNC110  they are other processes
                await trio.sleep(1)
        print("later:", found)  # noqa: T201
        chat.history = before
        assert await recall(world, chat) == (["Ada", "Zoltan"], False)
        assert (await lifetime.began(6))[-1] == "resumed told=0"


class Held(NamedTuple):
    """What an agent's processes hold, with their children."""

    processes: int
    megabytes: list[int]
    """Of each group of processes."""

    def for_sessions(self, agent: RealAgent) -> int:
        """Return how many there are of what an agent has for each session."""
        return self.processes - 1 if agent is CLAUDE else len(self.megabytes)


async def held(bench: Bench) -> Held:
    """Return what the agent's processes hold; the test fails if it isn't known.

    A process may end or start while it is counted, and for a moment one that ends is still there,
    though it isn't counted any more.
    """
    with trio.fail_after(10):
        while True:
            before = {*bench.groups()}
            found = (await bench.editor.call("lm/stats"))["agentProcesses"]
            after = {*bench.groups()}
            if before & after <= {one["pid"] for one in found} <= before | after:
                break
            await trio.sleep(0.2)
    # It isn't known of a process that ends at this moment.
    sizes = [round(one.get("memoryBytes", 0) / 1e6) for one in found]
    return Held(sum(one["processes"] for one in found), sizes)


def copy_of(bench: Bench, log: str, origin: Chat | None = None) -> Chat:
    """Open a chat as the built-in agent does: each names its own log, copies share the rest."""
    chat = bench.chat()
    chat.options = ASKING | {"modelOptions": BUILT_IN}
    system = message("system", f"Be kind.\nVSCODE_TARGET_SESSION_LOG: {log}\n")
    chat.history = [system, *(origin.history[1:] if origin is not None else ())]
    return chat


@each_agent
async def test_a_copy_of_a_whole_chat(agent: RealAgent, tmp_path: Path) -> None:
    """Both go on, each with what was said in it."""
    async with world_of(agent, tmp_path) as world, world.lifetime() as lifetime:
        origin = copy_of(lifetime.bench, "one")
        await origin.say(say("Ada"))
        await origin.say(say("Zoltan"))
        copy = copy_of(lifetime.bench, "two", origin)
        await copy.say(say("Dora"))
        await origin.say(say("Quentin"))
        copies = CONTINUITY[agent.name].copies
        assert await recall(world, copy) == (["Ada", "Zoltan", "Dora"], not copies)
        assert await recall(world, origin) == (["Ada", "Zoltan", "Quentin"], False)
        second = "forked told=0" if copies else "replayed told=5 why=new"
        assert await lifetime.began(2) == ["fresh", second]
        assert ("session/fork" in lifetime.ways) is copies
