"""Real processes of an agent that needs one for each session: few are left of a chat's edits."""

from __future__ import annotations

from typing import Any

import pytest
from trio.testing import MockClock

from tests.fakes.acp_agents import ChildAgent, agent_as_child
from tests.fakes.editor import Chat, connected
from tests.fakes.groups import group_members
from tests.fakes.waiting import until

JSON = dict[str, Any]

OPENCODE: JSON = {"agentInfo": {"name": "OpenCode", "version": "1"}}
EDITS = ("a", "b", "c", "d")
TWO_MINUTES = 120.0


@pytest.fixture
def leaping_clock() -> MockClock:
    """Time passes as on the wall, and may be made to leap."""
    return MockClock(rate=1.0)


def alive(child: ChildAgent) -> list[int]:
    """Return the processes of the agent that live, without their children."""
    return [group for group in child.processes if group in group_members(group)]


@pytest.mark.slow
async def test_two_minutes_after_four_edits_two_processes_are_left(
    leaping_clock: MockClock,
) -> None:
    """One has the chat, and one is spare. Who goes back is answered by the session that closed."""
    script: JSON = {"agent": OPENCODE, "words": {"who?": [{"memory": True}]}}
    async with agent_as_child(script) as (agent, child), connected(agent) as editor:
        chat = Chat(editor)
        for word in ("I am Ada", "two"):
            await chat.say(word)
        before = [*chat.history]
        for word in EDITS:
            chat.take_back(2)
            await chat.say(word)
        assert len(alive(child)) == 1 + len(EDITS)
        leaping_clock.jump(TWO_MINUTES)
        await until(lambda: len(alive(child)) <= 2)
        assert (await editor.call("lm/stats"))["sessions"] == 1
        chat.history = before
        assert (await chat.say("who?")).text == "I am Ada / two / who?"
        assert len(child.processes) == 1 + len(EDITS), "the spare was used"
        assert child.faults == []
