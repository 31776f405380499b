"""The open sessions of agents, as `lm/stats` has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agents.ledger import Ledger, SessionRecord
from bridge.wire import AgentCommand, Cost
from tests.fakes.acp_agents import agent_in_process
from tests.fakes.editor import Chat, connected_to

if TYPE_CHECKING:
    from trio.testing import MockClock

JSON = dict[str, Any]


def test_a_session_has_only_the_fields_that_its_agent_told() -> None:
    record = SessionRecord("Claude")
    assert msgspec.to_builtins(record.as_wire()) == {"agent": "Claude", "turns": 0}
    record.title, record.used, record.window = "Mend", 64_000, 200_000
    record.cost, record.commands = Cost(0.5, "USD"), (AgentCommand("review", "Look"),)
    record.add_turn(100, 10)
    assert msgspec.to_builtins(record.as_wire()) == {
        "agent": "Claude",
        "turns": 0,
        "title": "Mend",
        "usedTokens": 64_000,
        "contextWindow": 200_000,
        "promptTokens": 100,
        "completionTokens": 10,
        "cost": {"amount": 0.5, "currency": "USD"},
        "commands": [{"name": "review", "description": "Look", "hint": ""}],
    }


def test_the_most_recently_used_session_is_last_until_it_is_closed() -> None:
    ledger, (one, two) = Ledger(), (SessionRecord("one"), SessionRecord("two"))
    for record in (one, two, one):
        ledger.begin_turn(record)
    assert [(session.agent, session.turns) for session in ledger.sessions] == [
        ("two", 1),
        ("one", 2),
    ]
    ledger.close(one)
    ledger.close(one)
    assert [session.agent for session in ledger.sessions] == ["two"]


def told(kind: str, **fields: Any) -> JSON:
    return {"update": {"sessionUpdate": kind, **fields}}


USAGE = {"totalTokens": 110, "inputTokens": 100, "outputTokens": 10}
TURN: list[JSON] = [
    told("session_info_update", title="Mend"),
    told("usage_update", used=64, size=200, cost={"amount": 0.5, "currency": "USD"}),
    {"result": {"stopReason": "end_turn", "usage": USAGE}},
]
COMMANDS = told("available_commands_update", availableCommands=[{"name": "go", "description": ""}])


async def test_the_editor_is_told_of_open_sessions_and_no_longer_of_closed_ones(
    autojump_clock: MockClock,
) -> None:
    ledger = Ledger()
    script = {"on": {"session/new": [COMMANDS]}, "otherwise": TURN}
    async with (
        agent_in_process(script, ledger=ledger) as (agent, _),
        connected_to(lambda _: agent, ledger=ledger) as editor,
    ):
        assert "agentSessions" not in await editor.call("lm/stats")
        chat = Chat(editor)
        await chat.say("one")
        await chat.say("two")
        stats = await editor.call("lm/stats")
        assert stats["agentSessions"] == [
            {
                "agent": "fake",
                "turns": 2,
                "title": "Mend",
                "usedTokens": 64,
                "contextWindow": 200,
                "promptTokens": 200,
                "completionTokens": 20,
                "cost": {"amount": 0.5, "currency": "USD"},
                "commands": [{"name": "go", "description": "", "hint": ""}],
            }
        ]
    assert ledger.sessions == []
