"""Each agent goes on a tour of all that agents do, and what comes of it can be read."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from agents.mcp.session_tools import load_now
from bridge.wire import PERMISSION_TOOL
from tests.agents.acp.readable import faults_in
from tests.agents.acp.reader import EDITORS_TOOL, OFFERED, SCHEMA, Reader, read
from tests.agents.acp.test_transcripts import TRANSCRIPTS
from tests.fakes.editor import Chat, tool_result, tools

from .agents import ALL_AGENTS
from .bench import at_work
from .real_agent import RealAgent
from .tours import DENIED, FILES, HANDS, tour
from .transcripts import transcript

pytestmark = pytest.mark.agents

JSON = dict[str, Any]
SKIPPED = "The user chose to skip the tool call, they want to proceed without running it"
OFFER: JSON = {"name": EDITORS_TOOL, "description": OFFERED.description, "inputSchema": SCHEMA}


async def travel(chat: Chat, words: str) -> None:
    """Say something, and answer all that is asked."""
    request = await chat.say(words)
    while request.calls:
        request = await chat.say(*(_answer(call, words) for call in request.calls))


def _answer(call: JSON, words: str) -> JSON:
    if call["toolName"] == EDITORS_TOOL:
        return tool_result(call, "No errors.")
    return tool_result(call, SKIPPED if words.startswith(DENIED) else "Approved")


def read_at_once(recorded: JSON) -> Reader:
    """Return what a user has read, without the time that it takes."""
    load_now("server")  # else threads would load it, of which that clock knows nothing
    load_now("http")
    return trio.run(read, recorded, clock=MockClock(autojump_threshold=0))


@pytest.mark.parametrize(
    "agent", [agent for agent in ALL_AGENTS if agent.name in HANDS], ids=lambda agent: agent.name
)
async def test_a_tour_can_be_read(
    agent: RealAgent, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    reason = agent.why_missing()
    if reason is not None:
        pytest.skip(f"{agent.name}: {reason}")
    traces = tmp_path / "traces"
    async with at_work(agent, tmp_path, "--trace-dir", str(traces)) as bench:
        for name, text in FILES.items():
            (bench.work / name).write_text(text, encoding="utf-8")
        subprocess.run(["git", "init", "--quiet", bench.work], check=True)  # noqa: ASYNC221
        chat = bench.chat()
        chat.options = {"tools": [*tools(PERMISSION_TOOL)["tools"], OFFER]}
        for words in tour(HANDS[agent.name], str(bench.work)):
            await travel(chat, words)
    (trace,) = traces.iterdir()
    lines = [json.loads(line) for line in trace.read_text(encoding="utf-8").splitlines()]
    recorded = transcript(lines, folder=str(tmp_path / "work"), home=str(tmp_path / "home"))
    if request.config.getoption("--update-golden"):
        written = json.dumps(recorded, indent=1, ensure_ascii=False) + "\n"
        (TRANSCRIPTS / f"{agent.name}.json").write_text(written, encoding="utf-8")
    reader = await trio.to_thread.run_sync(read_at_once, recorded)
    assert [fault for response in reader.ours for fault in faults_in(response)] == []
