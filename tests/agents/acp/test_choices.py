"""Choices of the host's picker reach the agent before the next prompt, once each."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
import trio
from msgspec.structs import replace

from agents.acp.session import CHANGE_SECONDS
from agents.base import AgentSession
from agents.events import Prompt, Stop
from bridge.models import AgentChoice
from bridge.wire import Settings
from tests.agents.talk import rest_of, said
from tests.fakes.acp_agents import agent_in_process
from tests.fakes.acp_peer import PeerAgent

from .talk import asking

if TYPE_CHECKING:
    from trio.testing import MockClock

JSON = dict[str, Any]
SET = ("session/set_config_option", "session/set_mode", "session/set_model")
MODEL: JSON = {
    "id": "llm",
    "name": "Model",
    "category": "model",
    "type": "select",
    "currentValue": "small",
    "options": [{"value": "small", "name": "Small"}, {"value": "big", "name": "Big"}],
}
EFFORT: JSON = {
    "id": "thinking",
    "name": "Effort",
    "category": "thought_level",
    "type": "select",
    "currentValue": "low",
    "options": [{"value": "low", "name": "Low"}, {"value": "high", "name": "High"}],
}
SEARCH: JSON = {"id": "web", "name": "Web search", "type": "boolean", "currentValue": False}
MODES: JSON = {
    "currentModeId": "auto",
    "availableModes": [{"id": one, "name": one.title()} for one in ("auto", "default", "plan")],
}
SESSION: JSON = {"configOptions": [MODEL, EFFORT, SEARCH], "modes": MODES}
CHOICE = AgentChoice.of({"acp": {"name": "one", "command": "one"}})


def picking(settings: Settings | None = None, **configuration: str) -> Prompt:
    return replace(asking("x", settings=settings), configuration=configuration)


async def answer(session: AgentSession, prompt: Prompt) -> str:
    with trio.fail_after(10 * CHANGE_SECONDS):
        events = [event async for batch in session.run(prompt) for event in batch]
    assert events[-1] == Stop()
    return said(events)


def changes(peers: PeerAgent) -> list[JSON]:
    """Return what was changed, in order, without the session's id."""
    return [
        {key: value for key, value in message["params"].items() if key != "sessionId"}
        for message in peers.heard
        if message.get("method") in SET
    ]


@asynccontextmanager
async def session_with(script: JSON) -> AsyncGenerator[tuple[AgentSession, PeerAgent], None]:
    async with agent_in_process(script) as (agent, peers), agent.session(picking()) as session:
        yield session, peers


async def test_choices_are_made_before_the_prompt_and_the_model_first(
    autojump_clock: MockClock,
) -> None:
    async with session_with({"session": SESSION}) as (session, peers):
        prompt = picking(web="true", reasoningEffort="high", mode="plan", model="big")
        assert await answer(session, prompt) == "ok"
        assert changes(peers) == [
            {"configId": "llm", "value": "big"},
            {"modeId": "plan"},
            {"configId": "thinking", "value": "high"},
            {"configId": "web", "value": True, "type": "boolean"},
        ]
        methods = [message.get("method") for message in peers.heard]
        assert methods.index("session/set_mode") < methods.index("session/prompt")
        assert peers.faults == []


async def test_each_change_is_sent_once_and_going_back_keeps_the_session(
    autojump_clock: MockClock,
) -> None:
    async with session_with({"session": SESSION}) as (session, peers):
        for model in ("big", "big", "small", "big"):
            await answer(session, picking(model=model))
        await answer(session, picking())
        values = [change["value"] for change in changes(peers)]
        assert values == ["big", "small", "big", "small"]
        assert len({prompt["sessionId"] for prompt in peers.asked("session/prompt")}) == 1


async def test_a_choice_of_the_picker_comes_before_the_settings(autojump_clock: MockClock) -> None:
    settings = Settings(model="small", mode="default")
    async with session_with({"session": SESSION}) as (session, peers):
        await answer(session, picking(settings, model="big", mode="plan"))
        assert changes(peers) == [{"configId": "llm", "value": "big"}, {"modeId": "plan"}]


async def test_a_value_that_is_offered_no_more_is_told_and_skipped(
    autojump_clock: MockClock,
) -> None:
    async with session_with({"session": SESSION}) as (session, peers):
        first = await answer(session, picking(model="huge", reasoningEffort="high"))
        assert "'huge'" in first
        assert first.count("\n") <= 2
        assert first.endswith("ok")
        assert await answer(session, picking(model="huge", reasoningEffort="high")) == "ok"
        assert changes(peers) == [{"configId": "thinking", "value": "high"}]


async def test_a_mode_that_is_offered_no_more_leaves_the_one_in_which_the_agent_asks(
    autojump_clock: MockClock,
) -> None:
    about = {"name": "qwen-code", "version": "1"}
    script = {"agent": {"agentInfo": about}, "session": SESSION}
    async with session_with(script) as (session, peers):
        await answer(session, picking(mode="gone"))
        assert changes(peers) == [{"modeId": "default"}]


async def test_a_silent_agent_can_t_hang_the_turn(autojump_clock: MockClock) -> None:
    script = {"session": SESSION, "on": {"session/set_config_option": [[{"deaf": True}]] * 3}}
    async with session_with(script) as (session, peers):
        began = trio.current_time()
        words = await answer(session, picking(model="big", reasoningEffort="high", web="true"))
        assert trio.current_time() <= began + CHANGE_SECONDS + 1
        assert f"{CHANGE_SECONDS:.0f} s" in words
        assert words.endswith("ok")
        assert len(changes(peers)) == 1, "one that is silent is not asked again in this turn"


async def test_a_refused_choice_is_told_with_the_agent_s_reason(autojump_clock: MockClock) -> None:
    error = {"error": {"code": -32603, "message": "not in your plan"}}
    script = {"session": SESSION, "on": {"session/set_config_option": [error]}}
    async with session_with(script) as (session, _):
        words = await answer(session, picking(model="big"))
        assert "not in your plan" in words
        assert words.endswith("ok")


async def test_a_choice_that_the_agent_changes_itself_is_shown_and_left_alone(
    autojump_clock: MockClock,
) -> None:
    new = [{**MODEL, "currentValue": "small"}, {**EFFORT, "currentValue": "high"}, SEARCH]
    update = {"sessionUpdate": "config_option_update", "configOptions": new}
    script = {"session": SESSION, "turns": [[{"update": update}, {"say": "changed"}]]}
    async with session_with(script) as (session, peers):
        words = await answer(session, picking(model="big"))
        assert "🔀 Model: `Small`" in words
        assert "🔀 Effort: `High`" in words
        before = len(changes(peers))
        assert await answer(session, picking(model="big")) == "ok"
        assert len(changes(peers)) == before, "the user's choice was made once"


async def test_our_own_change_is_not_shown(autojump_clock: MockClock) -> None:
    new = [{**MODEL, "currentValue": "big"}, EFFORT, SEARCH]
    update = {"sessionUpdate": "config_option_update", "configOptions": new}
    script = {"session": SESSION, "turns": [[{"update": update}, {"say": "fine"}]]}
    async with session_with(script) as (session, _):
        assert await answer(session, picking(model="big")) == "fine"


@pytest.mark.parametrize("picked", [{}, {"model": "big"}])
async def test_the_agent_s_choices_are_reported_with_the_defaults_that_count_unpicked(
    autojump_clock: MockClock, picked: dict[str, str]
) -> None:
    told: list[Any] = []
    about = {"name": "qwen-code", "version": "1"}
    script = {"agent": {"agentInfo": about}, "session": SESSION}
    async with (
        agent_in_process(script, offer=told.append) as (agent, _),
        agent.session(picking()) as session,
    ):
        await answer(session, replace(picking(), configuration=picked))
    newest = told[-1]
    assert list(newest) == ["model", "mode", "reasoningEffort", "web"]
    assert newest["model"].default == "small"
    assert newest["mode"].default == "default", "it asks in this mode, so it was put into it"


async def test_options_that_change_in_a_turn_are_reported_at_once(
    autojump_clock: MockClock,
) -> None:
    told: list[Any] = []
    update = {"sessionUpdate": "config_option_update", "configOptions": [SEARCH]}
    script = {"session": SESSION, "turns": [[{"update": update}, {"say": "a"}, {"hang": True}]]}
    async with (
        agent_in_process(script, offer=told.append) as (agent, _),
        agent.session(picking()) as session,
    ):
        turn = session.run(picking())
        with trio.fail_after(5):
            await turn.receive()
        assert list(told[-1]) == ["mode", "web"]
        await session.cancel()
        await rest_of(turn)
