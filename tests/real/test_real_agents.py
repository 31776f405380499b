"""Real agents, each a child of a real `vscodelm`, with a model of our own behind them."""

from __future__ import annotations

import base64
import os
import signal
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bridge.wire import PERMISSION_TOOL
from tests.fakes.acp_agents import until
from tests.fakes.editor import text, tool_result, user
from tests.fakes.groups import group_is_gone

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


@each_agent(agents=ALL_AGENTS)
async def test_the_second_turn_knows_the_first(agent: RealAgent, tmp_path: Path) -> None:
    async with at_work(agent, tmp_path) as bench:
        chat = bench.chat()
        first = await chat.say("Hello, my name is Ada")
        assert "I hear you." in first.text
        kinds = {part["mimeType"] for part in first.parts if part["type"] == "data"}
        assert kinds == ({"usage"} if agent.tells_usage else set[str]())
        assert "You told me: Ada." in (await chat.say("RECALL")).text
        given = newest(bench, "RECALL").given
        assert given.texts("user").count("my name is Ada") == 1, "told once, not replayed"
        assert given.texts("assistant").count("I hear you.") == 1


@each_agent()
async def test_a_turn_that_was_taken_back_is_unknown_to_the_model(
    agent: RealAgent, tmp_path: Path
) -> None:
    async with at_work(agent, tmp_path) as bench:
        chat = bench.chat()
        await chat.say("Hello, my name is Ada")
        await chat.say("No, my name is Zoltan")
        chat.take_back(2)
        assert "You told me: Ada." in (await chat.say("RECALL")).text
        assert "Zoltan" not in str(newest(bench, "RECALL").body)


@each_agent("permission", agents=ALL_AGENTS)
async def test_what_is_allowed_is_done(agent: RealAgent, tmp_path: Path) -> None:
    async with at_work(agent, tmp_path) as bench:
        chat = bench.chat()
        file = bench.work / "new.txt"
        request = await chat.say(f"WRITE({file})")
        (call,) = request.calls
        assert call["toolName"] == PERMISSION_TOOL
        assert str(file) in str(call["parameters"]), "a person can see what it is about"
        assert not file.exists()
        assert "The tool said:" in (await chat.say(tool_result(call, "Approved"))).text
        assert file.exists()


@each_agent("permission", agents=ALL_AGENTS)
async def test_what_is_denied_is_not_done_and_the_chat_goes_on(
    agent: RealAgent, tmp_path: Path
) -> None:
    async with at_work(agent, tmp_path) as bench:
        chat = bench.chat()
        file = bench.work / "new.txt"
        (call,) = (await chat.say(f"Well, my name is Ada. WRITE({file})")).calls
        denied = await chat.say(tool_result(call, SKIPPED))
        assert denied.text, "an empty answer would be taken for a failure"
        assert ("The tool said:" in denied.text) is not agent.stops_when_denied
        assert "You told me: Ada." in (await chat.say("RECALL")).text
        assert not file.exists()


@each_agent("permission")
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


@each_agent("permission")
async def test_a_user_who_moves_on_gets_an_answer(agent: RealAgent, tmp_path: Path) -> None:
    """Some agents never answer a prompt of which a question was left open."""
    async with at_work(agent, tmp_path) as bench:
        chat = bench.chat()
        file = bench.work / "new.txt"
        (call,) = (await chat.say(f"WRITE({file})")).calls
        answer = await chat.say(tool_result(call, SKIPPED), "Well, my name is Ada. RECALL")
        assert "You told me: Ada." in answer.text
        assert not file.exists()


@each_agent()
async def test_a_turn_stops_in_mid_stream_and_the_next_is_clean(
    agent: RealAgent, tmp_path: Path
) -> None:
    async with at_work(agent, tmp_path) as bench:
        chat = bench.chat()
        request = chat.ask("my name is Ada. ENDLESS")
        await request.shows("And on. And on.")
        bench.editor.cancel(request)
        chat.keep(await request.settled())
        await bench.server.reaches(lambda: newest(bench, "ENDLESS").is_left)
        answer = await chat.say("RECALL")
        assert "You told me: Ada." in answer.text
        assert "And on" not in answer.text


@each_agent("thinking")
async def test_what_the_model_thinks_is_shown_as_such(agent: RealAgent, tmp_path: Path) -> None:
    async with at_work(agent, tmp_path) as bench:
        answer = await bench.chat().say("PONDER")
        thoughts = [part["value"] for part in answer.parts if part["type"] == "thinking"]
        assert "ponder" in "".join(thoughts)
        assert "I have pondered." in answer.text
        assert "Hmm" not in answer.text


def a_picture() -> str:
    """Return a PNG of 8 by 8 red pixels, in base64."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        checked = kind + content
        return struct.pack(">I", len(content)) + checked + struct.pack(">I", zlib.crc32(checked))

    header = struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0)
    pixels = zlib.compress((b"\0" + b"\xff\0\0" * 8) * 8)
    png = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels)
    return base64.b64encode(png + chunk(b"IEND", b"")).decode()


@each_agent("image")
async def test_the_model_sees_the_image(agent: RealAgent, tmp_path: Path) -> None:
    async with at_work(agent, tmp_path) as bench:
        picture = {"type": "data", "mimeType": "image/png", "data": a_picture()}
        answer = await bench.chat().say(user(text("LOOK at this"), picture))
        assert "I see images: 1." in answer.text
        (seen,) = newest(bench, "LOOK").given.images
        assert base64.b64decode(seen).startswith(b"\x89PNG"), "as good as it was"


@each_agent()
async def test_two_chats_at_once_stay_apart(agent: RealAgent, tmp_path: Path) -> None:
    async with at_work(agent, tmp_path) as bench:
        ada, bob = bench.chat(), bench.chat()
        first, second = ada.ask("my name is Ada. ENDLESS"), bob.ask("my name is Bob. ENDLESS")
        await first.shows("And on. And on.")
        await second.shows("And on. And on.")
        stats = await bench.editor.call("lm/stats")
        assert stats["sessions"] == 2
        assert stats["processes"] == agent.processes_for_two
        assert len(bench.groups()) == agent.processes_for_two
        for chat, request in ((ada, first), (bob, second)):
            bench.editor.cancel(request)
            chat.keep(await request.settled())
        requests = ada.ask("RECALL"), bob.ask("RECALL")
        assert "You told me: Ada." in (await requests[0].settled()).text
        assert "You told me: Bob." in (await requests[1].settled()).text


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
async def test_a_chat_survives_the_death_of_its_agent_between_turns(
    agent: RealAgent, tmp_path: Path
) -> None:
    async with at_work(agent, tmp_path) as bench:
        chat = bench.chat()
        await chat.say("Hello, my name is Ada")
        (group,) = bench.groups()
        os.killpg(group, signal.SIGKILL)
        request = await chat.ask("RECALL").settled()
        assert request.reply is not None
        if "error" in request.reply:  # it may be told, once; then the user asks again
            assert "signal 9" in request.error["message"]
            request = await chat.ask().settled()
        assert "You told me: Ada." in request.text
        assert bench.groups() != [group]


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
