"""A client over HTTP gets no words that are for a chat: no modes, commands, settings or lines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agents.events import AskPermission, Await, Elicit, PermissionAnswer, Say
from bridge.wire import PERMISSION_TOOL
from tests.fakes.acp_agents import OfChats, agent_in_process
from tests.fakes.http_face import open_face, text_of
from tests.fakes.scripted_agent import ScriptedAgent

ASKS = [AskPermission("p1", "Delete everything", "delete"), Await(), Say("done")]
OFFERED: dict[str, Any] = {"type": "function", "name": PERMISSION_TOOL}
OTHER: dict[str, Any] = {"type": "function", "name": "get_weather"}


def reason_of(agent: ScriptedAgent) -> str:
    (answer,) = agent.answers
    assert isinstance(answer, PermissionAnswer)
    return answer.reason


@pytest.mark.parametrize(
    ("permissions", "tools", "reason"),
    [
        ("ask", [], f"doesn't offer the function {PERMISSION_TOOL}"),
        ("ask", [OTHER], f"doesn't offer the function {PERMISSION_TOOL}"),
        ("read_only", [], "The permissions are read_only, for the server or this model"),
        ("deny", [], "The permissions are deny, for the server or this model"),
    ],
)
async def test_a_denial_names_what_a_client_or_the_server_can_change(
    tmp_path: Path, permissions: Any, tools: list[Any], reason: str
) -> None:
    agent = ScriptedAgent([ASKS])
    async with open_face(tmp_path, agent, permissions=permissions) as face:
        await face.respond("Go", tools=tools)
    assert reason in reason_of(agent)


async def test_an_answer_that_is_no_approval_is_the_clients(tmp_path: Path) -> None:
    agent = ScriptedAgent([ASKS])
    async with open_face(tmp_path, agent, permissions="ask") as face:
        first = await face.respond("Go", tools=[OFFERED])
        (call,) = [one for one in first["output"] if one["type"] == "function_call"]
        result = {"type": "function_call_output", "call_id": call["call_id"], "output": "No"}
        await face.respond([result], tools=[OFFERED], previous_response_id=first["id"])
    assert reason_of(agent) == "The client answered: No"


async def test_a_question_for_input_is_declined_for_the_client(tmp_path: Path) -> None:
    agent = ScriptedAgent([[Elicit("f1", "Your name?"), Say("done")]])
    async with open_face(tmp_path, agent) as face:
        response = await face.respond("Go")
    assert "but this client can't show a form" in text_of(response)


async def test_the_command_of_a_chat_is_text_like_any_other(tmp_path: Path) -> None:
    able: dict[str, Any] = {"loadSession": True, "sessionCapabilities": {"list": {}}}
    script = {"agent": {"agentCapabilities": able}, "otherwise": [{"memory": True}]}
    async with agent_in_process(script) as (agent, peers):
        peers.kept = {"s1": ["I am Ada"]}
        async with open_face(tmp_path, OfChats(agent)) as face:
            text = text_of(await face.respond("/continue s1"))
    assert "/continue s1" in text
    assert "Ada" not in text
    assert "---" not in text
