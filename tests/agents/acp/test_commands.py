"""Slash commands of agents: named in a chat's first answer, and passed on as they are typed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import trio
from msgspec.structs import replace

from agents.events import Prompt, Say
from agents.origin import Resumed
from bridge.wire import ChatMessage, TextPart
from tests.fakes.acp_agents import agent_in_process

from .talk import answer_to, asking, rest_of, said

if TYPE_CHECKING:
    from trio.testing import MockClock

JSON = dict[str, Any]
COMMANDS: JSON = {
    "update": {
        "sessionUpdate": "available_commands_update",
        "availableCommands": [
            {"name": "init", "description": "Begin"},
            {"name": "mcp:x/y", "description": "", "input": {"hint": "what"}},
        ],
    }
}
LATE: JSON = {"on": {"session/new": [{"finish": True}, {"sleep": 0}, COMMANDS]}}
LINE = "⌨️ Commands of this agent: `/init`, `/mcp:x/y`. A message can begin with one."


def chatting(text: str = "x") -> Prompt:
    return replace(asking(text), is_chat=True)


async def test_the_first_answer_of_a_chat_names_the_commands_once(
    autojump_clock: MockClock,
) -> None:
    async with agent_in_process(LATE) as (agent, _), agent.session(chatting()) as session:
        first = await rest_of(session.run(chatting()))
        assert said(first) == f"ok\n\n{LINE}"
        ours = [event.text for event in first if isinstance(event, Say) and event.by_us]
        assert "".join(ours).strip() == LINE, "it is left out of replays"
        assert said(await rest_of(session.run(chatting()))) == "ok"
    async with agent_in_process({}) as (agent, _), agent.session(chatting()) as session:
        assert said(await rest_of(session.run(chatting()))) == "ok"


async def test_an_answer_that_was_cancelled_names_none_and_the_next_one_does(
    autojump_clock: MockClock,
) -> None:
    script = {**LATE, "turns": [[{"say": "a"}, {"hang": True}]]}
    async with agent_in_process(script) as (agent, _), agent.session(chatting()) as session:
        turn = session.run(chatting())
        events = list(await turn.receive())
        await session.cancel()
        events += await rest_of(turn)
        assert said(events) == "a"
        assert said(await rest_of(session.run(chatting()))) == f"ok\n\n{LINE}"


@pytest.mark.parametrize(
    "prompt",
    [
        asking("a title, please"),
        replace(chatting(), transcript=(ChatMessage("user", (TextPart("earlier"),)),)),
    ],
)
async def test_no_other_answer_names_them(prompt: Prompt, autojump_clock: MockClock) -> None:
    """An answer that a program reads, and one that isn't the first of its chat."""
    async with agent_in_process(LATE) as (agent, _), agent.session(prompt) as session:
        assert said(await rest_of(session.run(prompt))) == "ok"


async def test_a_session_that_goes_on_names_none(autojump_clock: MockClock) -> None:
    async with agent_in_process(LATE) as (agent, _):
        async with agent.session(asking("x")) as session:
            await answer_to(session, "one")
            handle = session.handle
        assert handle is not None
        async with agent.session(chatting(), Resumed(handle)) as session:
            await trio.sleep(1)
            assert said(await rest_of(session.run(chatting()))) == "ok"


async def test_a_command_reaches_the_agent_as_it_was_typed(autojump_clock: MockClock) -> None:
    async with agent_in_process(LATE) as (agent, peers), agent.session(chatting()) as session:
        for typed in ("/init", "/mcp:x/y  two  words", "/unknown *x*"):
            await rest_of(session.run(chatting(typed)))
        told = [one["prompt"][0]["text"] for one in peers.asked("session/prompt")]
    assert told == ["/init", "/mcp:x/y  two  words", "/unknown *x*"]
