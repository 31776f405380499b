"""Real agents, each a child of a real `vscodelm`, with a model of our own behind them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.editor import ASKING, tool_result
from tests.fakes.groups import group_is_gone
from tests.fakes.waiting import until

from .agents import AGENTS, ALL_AGENTS
from .bench import Bench, at_work
from .model_server import ModelTurn
from .real_agent import RealAgent

pytestmark = pytest.mark.agents

JSON = dict[str, Any]
SKIPPED = "The user chose to skip the tool call, they want to proceed without running it"


def each_agent(*needs: str, agents: Sequence[RealAgent] = AGENTS) -> pytest.MarkDecorator:
    """Run a test with every agent; who lacks what it needs is skipped, with the reason."""
    return pytest.mark.parametrize(
        "agent",
        [
            pytest.param(
                agent,
                id=agent.name,
                marks=[
                    pytest.mark.skip(f"{agent.name}: {agent.lacks[need]}")
                    for need in needs
                    if need in agent.lacks
                ],
            )
            for agent in agents
        ],
    )


@pytest.fixture(autouse=True)
def _is_installed(agent: RealAgent) -> None:
    reason = agent.why_missing()
    if reason is not None:
        pytest.skip(f"{agent.name}: {reason}")


def newest(bench: Bench, scenario: str) -> ModelTurn:
    """Return the newest request that a scenario answered."""
    return bench.server.turns(scenario)[-1]


@each_agent()
async def test_calls_that_are_made_at_once_are_all_decided(
    agent: RealAgent, tmp_path: Path
) -> None:
    """Some agents ask about all of them at once, some about one after the other."""
    async with at_work(agent, tmp_path) as bench:
        chat = bench.chat()
        files = [bench.work / name for name in ("one.txt", "two.txt")]
        request = await chat.say(" ".join(f"WRITE({file})" for file in files))
        asked = 0
        while request.calls:
            asked += len(request.calls)
            request = await chat.say(*(tool_result(call, "Approved") for call in request.calls))
        assert asked == 2
        assert all(file.exists() for file in files)
        assert "The tool said:" in request.text


@each_agent("thinking")
async def test_what_the_model_thinks_is_shown_as_such(agent: RealAgent, tmp_path: Path) -> None:
    async with at_work(agent, tmp_path) as bench:
        answer = await bench.chat().say("PONDER")
        thoughts = [part["value"] for part in answer.parts if part["type"] == "thinking"]
        assert "ponder" in "".join(thoughts)
        assert "I have pondered." in answer.text
        assert "Hmm" not in answer.text


@each_agent(agents=ALL_AGENTS)
async def test_the_end_of_the_input_leaves_nothing_behind(agent: RealAgent, tmp_path: Path) -> None:
    """In mid-turn; `at_work` looks for what is left."""
    async with at_work(agent, tmp_path) as bench:
        request = bench.chat().ask("ENDLESS")
        await request.shows("And on.")
        (group,) = bench.groups()
        bench.editor.close()
        await request.settled()
        assert await bench.process.exits() == 0
        await until(lambda: group_is_gone(group))


@each_agent()
async def test_a_chat_survives_a_model_that_fails(agent: RealAgent, tmp_path: Path) -> None:
    """Some agents tell it at once, some try again for a minute; then the user stops them."""
    async with at_work(agent, tmp_path) as bench:
        chat = bench.chat()
        await chat.say("Hello, my name is Ada")
        request = chat.ask("FAIL(500)")
        if not agent.tells_failures:
            await bench.server.reaches(lambda: len(bench.server.turns("FAIL")) > 1)
            bench.editor.cancel(request)
        chat.keep(await request.settled())
        answer = await chat.say("RECALL")
        assert "You told me: Ada." in answer.text


@pytest.mark.parametrize(
    "agent", [agent for agent in AGENTS if agent.tells_failures], ids=lambda agent: agent.name
)
async def test_the_user_is_told_what_has_failed(agent: RealAgent, tmp_path: Path) -> None:
    """Of some failures the agent tells in its answer; then there is no error."""
    async with at_work(agent, tmp_path) as bench:
        wrong_key = await bench.chat().ask("FAIL(401)").settled()
        assert wrong_key.error["data"]["kind"] == "NoPermissions"
        for status, words in agent.failures.items():
            assert words in (await bench.chat().say(f"FAIL({status})")).text


@pytest.mark.parametrize(
    "agent", [agent for agent in AGENTS if agent.other_model], ids=lambda agent: agent.name
)
async def test_the_settings_choose_the_model(agent: RealAgent, tmp_path: Path) -> None:
    async with at_work(agent, tmp_path) as bench:
        assert "I hear you." in (await bench.chat(model=agent.other_model).say("Hello")).text
        assert str(agent.other_model) in newest(bench, "echo").body["model"]


UNASKED = {
    "claude": {"mode": "bypassPermissions"},
    "codex": {"mode": "agent-full-access"},
    "gemini": {"mode": "yolo"},
    "copilot": {"allow_all": "on"},
    "qwen": {"mode": "yolo"},
}
"""By the agent, a choice with which it acts without asking."""


@pytest.mark.parametrize(
    "agent", [one for one in ALL_AGENTS if one.name in UNASKED], ids=lambda agent: agent.name
)
async def test_permissions_that_forbid_all_but_reading_hold_whatever_mode_is_chosen(
    agent: RealAgent, tmp_path: Path
) -> None:
    """Under the other permissions the mode is used: so the agent writes without a question."""
    async with at_work(agent, tmp_path) as bench:
        done: list[bool] = []
        for permissions in ("ask", "read_only"):
            file = bench.work / f"{permissions}.txt"
            chat = bench.chat(permissions=permissions)
            chat.options = {**ASKING, "modelConfiguration": UNASKED[agent.name]}
            answer = await chat.say(f"WRITE({file})")
            assert ("A choice was not applied" in answer.text) is (permissions == "read_only")
            # Codex never asks then, and refuses our model, which asks to leave the sandbox.
            done.append(file.exists() or "approval policy is Never" in answer.text)
        assert done == [True, False]
