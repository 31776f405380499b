"""Writes the trace of several long chats: `python -m tests.recordings.long_chat FOLDER`.

They have edits, retries, cancels, failures and tool calls. The page of `vscodelm replay --html` is
tried with it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from random import Random
from typing import Any

import trio
from trio.testing import MockClock

from actors.trace import open_trace
from agents.events import Attach, Await, CallTool, Prompt, Say, Stop
from bridge.errors import Failure
from tests.fakes.editor import Chat, Request, connected_to, message, quiet, tool_result, tools
from tests.fakes.scripted_agent import Crash, Hang, ScriptedAgent, ScriptedSession, Step
from tests.fakes.session_memory import Shelf, ShelfMemory

REQUESTS = 200
ASKED = (
    "Why does the build fail on Windows?",
    "Explain the router to me, and how a request finds its conversation",
    "What does <script>alert(1)</script> do?",
    "Use trio instead",
    "Show me the diff",
    "Write a test for the parser",
)
SAID = (
    "The build fails because the path has backslashes.",
    "Done: three files changed.",
    "I have renamed it everywhere, and the tests pass.",
)


def script(random: Random) -> Any:
    """Return an agent that mostly answers, and sometimes calls, fails or hangs."""
    calls = iter(range(1_000_000))

    def steps(_session: ScriptedSession, _prompt: Prompt) -> list[Step]:
        tokens = {"prompt_tokens": random.randrange(800, 90_000), "context_window": 200_000}
        record = {**tokens, "completion_tokens": random.randrange(20, 3_000)}
        usage = Attach("usage", json.dumps(record).encode())
        match random.randrange(12):
            case 0:
                return [Say("Let me think about"), Hang()]
            case 1:
                call = CallTool(f"c{next(calls)}", "read_file", {"path": "a.txt"})
                return [call, Await(), Say("I have read the file."), usage, Stop()]
            case 2:
                return [Say("It b"), Crash(Failure("AgentFailed", "The agent's process ended."))]
            case _:
                return [Say(random.choice(SAID)), usage, Stop()]

    return steps


async def chat(random: Random, one: Chat, newest: Request | None) -> Request | None:
    """Do what a user does next; return the request, or None if the last one was cancelled."""
    if newest is not None and not newest.is_settled:
        one.editor.cancel(newest)
        await newest.settled()
        one.keep(newest)
        return None
    chance = random.randrange(36)
    if chance == 0 and len(one.history) > 3:
        one.take_back(len(one.history) - 3)
        asked = one.ask("No, rather: " + random.choice(ASKED))
    elif chance == 1 and newest is not None and len(one.history) > 2:
        one.take_back(len(newest.echo))
        asked = one.ask()
    elif newest is not None and newest.calls:
        asked = one.ask(tool_result(newest.calls[-1], "42"))
    else:
        asked = one.ask(random.choice(ASKED))
    await quiet()
    await trio.sleep(random.choice([0.2, 1.5, 6, 30]))
    if asked.is_settled:
        one.keep(asked)
    return asked


async def write(folder: Path, requests: int = REQUESTS) -> None:
    """Write the trace."""
    random = Random(4)
    trace = open_trace(folder, "long")
    agent = ScriptedAgent(script(random))
    definition: dict[str, Any] = {"acp": {"name": "Claude Code", "command": "claude"}}
    async with connected_to(lambda _: agent, memory=ShelfMemory(Shelf()), trace=trace) as editor:
        await editor.initialize("marker", "usage", "data").settled()
        chats: list[Chat] = []
        for number in range(4):
            host: dict[str, Any] = {
                "_conversationId": f"c{number}",
                "_telemetryTurn": 1,
                "_otelTraceContext": {},
            }
            options: dict[str, Any] = tools("read_file") | {"modelOptions": host}
            one = Chat(editor, agent=definition, options=options)
            system = f"Be kind.\nVSCODE_TARGET_SESSION_LOG: {number}\n"
            one.history = [message("system", system)]
            chats.append(one)
        newest: list[Request | None] = [None] * 4
        sent = 0
        while sent < requests:
            place = random.choice([0, 0, 0, 1, 1, 2, 3]) if sent > 10 else 0
            newest[place] = await chat(random, chats[place], newest[place])
            sent += newest[place] is not None
    trace.close()


if __name__ == "__main__":
    trio.run(write, Path(sys.argv[1]), clock=MockClock(autojump_threshold=0.01))
