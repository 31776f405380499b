"""Real agents list their sessions, and a chat goes on in one, also in one of their terminals."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.fakes.editor import Chat, FakeEditor

from .agents import AGENTS
from .bench import PATIENCE
from .continuity import TERMINALS
from .lifetimes import Lifetime, World, world_of
from .real_agent import RealAgent, bare_environment

pytestmark = pytest.mark.agents

JSON = dict[str, Any]
RECORD = "conversation_record"


@pytest.fixture(autouse=True)
def _is_installed(agent: RealAgent) -> None:
    reason = agent.why_missing()
    if reason is not None:
        pytest.skip(f"{agent.name}: {reason}")


async def sessions_of(editor: FakeEditor, world: World) -> Any:
    """Return the sessions that the agent lists of the folder, or why it doesn't."""
    editor.notify("lm/didChangeWorkspaceFolders", {"workspaceFolders": [str(world.work)]})
    request = editor.request("lm/agentSessions", {"modelId": "m", "agent": world.definition})
    reply = (await request.settled(PATIENCE)).reply
    assert reply is not None
    return reply["result"]["sessions"] if "result" in reply else reply["error"]["message"]


@asynccontextmanager
async def world_with_a_session(agent: RealAgent, folder: Path) -> AsyncGenerator[World]:
    """Make a world in which a chat has told the agent of Ada, in a lifetime that is over."""
    async with world_of(agent, folder) as world:
        async with world.lifetime() as lifetime:
            await sessions_of(lifetime.bench.editor, world)
            await lifetime.bench.chat().say("my name is Ada")
        yield world


async def shown(world: World, lifetime: Lifetime) -> Chat:
    """Return a chat that has been shown the newest session."""
    found = await sessions_of(lifetime.bench.editor, world)
    assert not isinstance(found, str), found
    session: JSON = found[0]
    assert Path(session["cwd"]) == world.work
    chat = lifetime.bench.chat()
    text = (await chat.say(f"/continue {session['sessionId']}")).text
    assert "> **You**" in text, text
    assert "my name is Ada" in text
    assert "I hear you." in text
    return chat


async def goes_on(world: World, chat: Chat) -> None:
    """Say something; the session's model must know of Ada, and must not be told anew."""
    assert "You told me: Ada." in (await chat.say("RECALL")).text
    turn = world.server.turns("RECALL")[-1]
    assert RECORD not in str(turn.body)
    assert "/continue" not in str(turn.body)


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
async def test_a_session_of_another_time_is_listed_and_continued(
    agent: RealAgent, tmp_path: Path
) -> None:
    async with world_with_a_session(agent, tmp_path) as world, world.lifetime() as lifetime:
        await goes_on(world, await shown(world, lifetime))


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
async def test_a_restart_after_the_command_costs_no_replay(
    agent: RealAgent, tmp_path: Path
) -> None:
    async with world_with_a_session(agent, tmp_path) as world:
        async with world.lifetime() as lifetime:
            chat = await shown(world, lifetime)
        for _ in range(2):
            async with world.lifetime() as lifetime:
                await sessions_of(lifetime.bench.editor, world)
                again = lifetime.bench.chat()
                again.history = chat.history
                await goes_on(world, again)


@pytest.mark.parametrize(
    "agent", [one for one in AGENTS if one.name in TERMINALS], ids=lambda agent: agent.name
)
async def test_a_session_of_the_agents_own_terminal_is_listed_and_continued(
    agent: RealAgent, tmp_path: Path
) -> None:
    async with world_of(agent, tmp_path) as world:
        environment: Mapping[str, str] = {
            **bare_environment(world.home),
            **agent.environment(world.home, world.server.url),
        }
        with trio.fail_after(PATIENCE):
            done = await trio.run_process(
                [*TERMINALS[agent.name], "my name is Ada"],
                cwd=world.work,
                env=environment,
                capture_stdout=True,
                stderr=subprocess.STDOUT,
                check=False,
            )
        assert done.returncode == 0, done.stdout.decode(errors="replace")
        async with world.lifetime() as lifetime:
            await goes_on(world, await shown(world, lifetime))
