"""What an agent says and is told, line by line."""

from __future__ import annotations

import json
from typing import Any

from agents.trace import Direction
from tests.agents.acp.talk import answer_to, asking
from tests.fakes.acp_agents import agent_in_process


async def test_every_line_of_an_agent_is_heard_in_both_directions() -> None:
    heard: list[tuple[str, Direction, Any]] = []

    def tap_for(peer: str) -> Any:
        def tap(direction: Direction, lines: bytes) -> None:
            heard.extend((peer, direction, json.loads(line)) for line in lines.splitlines())

        return tap

    async with (
        agent_in_process({}, tap_for=tap_for, spares=False) as (agent, peers),
        agent.session(asking("")) as session,
    ):
        assert await answer_to(session, "hello") == "ok"
        told = [one for _, direction, one in heard if direction == "out"]
        assert told == peers.peers[0].heard
    assert len({peer for peer, *_ in heard}) == 1
    answered = [one for _, direction, one in heard if direction == "in"]
    assert {one["id"] for one in told if "id" in one} >= {
        one["id"] for one in answered if "result" in one
    }
    assert any(one.get("method") == "session/update" for one in answered)
