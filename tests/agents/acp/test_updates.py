"""Newer updates in whole turns: they are shown as what they are, and unknown ones harm no turn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from agents.events import Stop, Think
from tests.fakes.acp_agents import agent_in_process

from .talk import asking, rest_of, said

if TYPE_CHECKING:
    from trio.testing import MockClock

JSON = dict[str, Any]


def update(kind: str, /, **fields: Any) -> JSON:
    return {"update": {"sessionUpdate": kind, **fields}}


TEXT = {"type": "text", "text": "S"}
SUMMARY = update("compaction_summary_chunk", compactionId="c", content=TEXT)
STEPS = {"type": "items", "planId": "p", "entries": [{"content": "A"}]}
MEMORY = "🗜️ The agent condenses its memory of this chat"
CASES: list[tuple[list[JSON], str]] = [
    ([update("notice", severity="error", title="No quota")], "> ❌ **No quota**"),
    ([update("compaction_update", compactionId="c", status="in_progress"), SUMMARY], f"{MEMORY} …"),
    (
        [update("subagent_update", sessionId="child", title="Review", state={"state": "running"})],
        "🤖 **Review** …",
    ),
    (
        [update("plan_update", plan=STEPS)],
        "**Plan**\n\n- [ ] A",
    ),
    (
        [
            update("tool_call", toolCallId="t", title="Ponder", kind="think"),
            {"sleep": 2},
            update("tool_call_update", toolCallId="t", status="completed"),
        ],
        "💭 Ponder ✔",
    ),
]
ODD: list[JSON] = [
    update("session_message", messageId="m"),
    update("dance", steps=[1, {"of": None}]),
    update("plan_update"),
    update("plan_update", plan={"type": "graph", "planId": "p"}),
    update("plan_update", plan="p"),
    update("subagent_update"),
    update("subagent_update", sessionId=7, state=[]),
    update("notice", severity="error"),
    {"update": {"sessionUpdate": 3}},
    {"update": {}},
]


@pytest.mark.parametrize(("steps", "shown"), CASES)
async def test_a_newer_update_is_shown_as_what_it_is(
    steps: list[JSON], shown: str, autojump_clock: MockClock
) -> None:
    script = {"turns": [[*steps, {"say": "Done."}]]}
    async with agent_in_process(script) as (agent, _), agent.session(asking("x")) as session:
        events = await rest_of(session.run(asking("x")))
    assert said(events) == f"{shown}\n\nDone."
    thoughts = [event.text for event in events if isinstance(event, Think)]
    assert thoughts == (["S"] if SUMMARY in steps else [])


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
async def test_an_unknown_or_malformed_update_breaks_no_turn(
    odd: JSON, autojump_clock: MockClock
) -> None:
    script = {"turns": [[{"say": "Before, "}, odd, {"say": "after."}]]}
    async with agent_in_process(script) as (agent, _), agent.session(asking("x")) as session:
        events = await rest_of(session.run(asking("x")))
    assert said(events) == "Before, after."
    assert events[-1] == Stop()


async def test_a_sub_agents_own_updates_are_no_part_of_the_chat(autojump_clock: MockClock) -> None:
    child = {
        "session": "child",
        **update("agent_message_chunk", content={"type": "text", "text": "X"}),
    }
    steps = [update("subagent_update", sessionId="child", title="Review"), child, {"say": "Done."}]
    async with (
        agent_in_process({"turns": [steps]}) as (agent, _),
        agent.session(asking("x")) as session,
    ):
        events = await rest_of(session.run(asking("x")))
    assert said(events) == "🤖 **Review**\n\nDone."
