"""A server asks before it calls a remote tool: the user's answer is in the next request."""

from __future__ import annotations

import json
from typing import Any

import pytest
import trio

from agents.base import AgentSession, Turn
from agents.events import (
    AskPermission,
    Await,
    Decision,
    Event,
    PermissionAnswer,
    Stop,
    StopReason,
)
from tests.agents.talk import said
from tests.fakes.responses_events import Text
from tests.fakes.responses_server import Plan, responses_server

from .endpoints import agent_at, asking, events_of

ASKED: dict[str, Any] = {
    "type": "mcp_approval_request",
    "id": "mcpr_1",
    "server_label": "github",
    "name": "close_issue",
    "arguments": '{"number":7}',
}


def question(number: int = 1, *, store: bool = False) -> Plan:
    output = [{**ASKED, "id": f"mcpr_{number}"}]
    response = {"id": f"resp_{number}", "status": "completed", "store": store, "output": output}
    event = {"type": "response.completed", "response": response}
    return Plan(body=b"data: %s\n\n" % json.dumps(event).encode())


async def answered(
    session: AgentSession, decision: Decision, reason: str = ""
) -> tuple[list[AskPermission], list[Event]]:
    """Run a turn in which every question gets this answer."""
    turn: Turn = session.run(asking("close it"))
    asked: list[AskPermission] = []
    events: list[Event] = []
    with trio.fail_after(10):
        async for batch in turn:
            events += batch
            new = [event for event in batch if isinstance(event, AskPermission)]
            asked += new
            if isinstance(batch[-1], Await):
                session.answer(PermissionAnswer("gw-unknown", decision))
                session.answer(PermissionAnswer(asked[-1].call_id, decision, reason))
    return asked, events


@pytest.mark.parametrize(
    ("decision", "answer"),
    [
        (Decision.ALLOWED, {"approve": True}),
        (Decision.DENIED, {"approve": False, "reason": "No."}),
        (Decision.ABANDONED, {"approve": False, "reason": "No."}),
    ],
)
async def test_the_answer_is_with_the_question_in_the_next_request(
    decision: Decision, answer: dict[str, Any]
) -> None:
    async with responses_server(stateful=False) as server, agent_at(server) as agent:
        server.plans += [question(), Plan(outputs=[Text("Well.")])]
        async with agent.session(asking("")) as session:
            asked, events = await answered(session, decision, "No.")
        assert [one.title for one in asked] == ["github: close_issue"]
        assert said(events) == "Well."
        assert server.bodies[-1]["input"][1:] == [
            ASKED,
            {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", **answer},
        ]


async def test_the_answer_alone_is_sent_to_a_server_that_keeps_the_question() -> None:
    async with responses_server() as server, agent_at(server) as agent:
        server.plans += [question(store=True), Plan(outputs=[Text("Well.")])]
        async with agent.session(asking("")) as session:
            await answered(session, Decision.ALLOWED)
        body = server.bodies[1]
        assert body["previous_response_id"] == "resp_1"
        assert [item["type"] for item in body["input"]] == ["mcp_approval_response"]


async def test_a_question_that_the_user_left_is_denied_with_the_next_message() -> None:
    async with responses_server(stateful=False) as server, agent_at(server) as agent:
        server.plans += [question(), Plan(outputs=[Text("Well.")])]
        async with agent.session(asking("")) as session:
            turn = session.run(asking("close it"))
            with trio.fail_after(10):
                while not isinstance((await turn.receive())[-1], Await):
                    pass
                await session.cancel()
                async for _ in turn:
                    pass
            assert said(await events_of(session, "never mind")) == "Well."
        items = server.bodies[-1]["input"]
        assert [item["type"] for item in items] == [
            "message",
            "mcp_approval_request",
            "mcp_approval_response",
            "message",
        ]
        assert items[2]["approve"] is False


async def test_a_model_that_asks_again_and_again_is_stopped_unless_it_is_allowed() -> None:
    for decision, most in ((Decision.DENIED, 8), (Decision.ALLOWED, 10)):
        async with responses_server(stateful=False) as server, agent_at(server) as agent:
            server.plans += [question(number) for number in range(10)]
            server.plans.append(Plan(outputs=[Text("Well.")]))
            async with agent.session(asking("")) as session:
                asked, events = await answered(session, decision)
            assert len(asked) == most
            is_stopped = events[-1] == Stop(StopReason.MAX_TURN_REQUESTS)
            assert is_stopped is (decision is Decision.DENIED)
