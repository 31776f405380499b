"""A whole `vscodelm` with an ACP agent as its child: whatever ends it, the agent ends, too."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any

import pytest
import trio

from actors.system import LEAVING_SECONDS
from tests.fakes.acp_agents import ChildAgent, child_program
from tests.fakes.editor import Chat, message, tool_result, tools
from tests.fakes.waiting import until

from .process import PATIENCE, started

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fakes.editor import FakeEditor

pytestmark = pytest.mark.slow

JSON = dict[str, Any]
CALL = {"toolCallId": "call-1", "title": "Delete everything", "kind": "delete"}
HANG: JSON = {"hang": True}


def chat_with(editor: FakeEditor, child: ChildAgent, **settings: Any) -> Chat:
    spec = child.spec()
    agent = {"acp": {"name": spec.name, "command": spec.command, "args": [*spec.args]}}
    options = tools("symposium-agent-action")
    return Chat(editor, agent=agent, options=options, settings=settings)


async def test_a_chat_with_an_agent_that_asks_and_remembers() -> None:
    asks: list[JSON] = [{"say": "May I?"}, {"ask": CALL}, {"await": True}, {"outcomes": True}]
    script = {"words": {"go on": asks}, "otherwise": [{"memory": True}]}
    async with child_program(script) as child, started() as process:
        chat = chat_with(process.editor, child)
        assert (await chat.say("I am Ada")).text == "I am Ada"
        request = await chat.say("go on")
        (call,) = request.calls
        assert call["parameters"]["title"] == "Delete everything"
        approved = await chat.say(tool_result(call, "Approved"))
        assert approved.text.startswith("allowed")
        assert (await chat.say("who am I?")).text == "I am Ada / go on / who am I?"
        assert child.faults == []
        assert len(child.processes) == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, None], ids=str)
async def test_the_agent_ends_with_us_in_the_middle_of_a_turn(
    number: signal.Signals | None,
) -> None:
    """Points 1 and 2: also one that heeds neither the end of its input nor SIGTERM."""
    turn = [{"ignore": ["SIGTERM"]}, {"child": 1000}, {"say": "Well"}, HANG]
    async with child_program({"turns": [turn], "lingers": True}) as child:
        async with started(status=0 if number is None else 128 + number) as process:
            request = chat_with(process.editor, child).ask("one")
            await request.shows("Well")
            if number is None:
                process.editor.close()
            else:
                process.it.send_signal(number)
            await request.settled()
            await process.exits()
        assert child.living == []


@pytest.mark.parametrize("method", ["initialize", "session/new"])
async def test_an_agent_that_opens_no_session_ends_with_us(method: str) -> None:
    """It doesn't even heed the end of its input."""
    script: JSON = {"on": {method: [{"deaf": True}]}, "lingers": True}
    async with child_program(script) as child:
        async with started() as process:
            request = chat_with(process.editor, child).ask("one")
            await child.hears(method)
            process.editor.close()
            with trio.fail_after(LEAVING_SECONDS - 3):
                await request.settled()
                await process.exits()
        assert child.living == []


async def test_the_agent_hears_the_end_when_we_are_killed() -> None:
    """Nobody can clean up then; but its input ends."""
    async with child_program({"turns": [[{"say": "Well"}, HANG]]}) as child:
        async with started(status=-signal.SIGKILL) as process:
            request = chat_with(process.editor, child).ask("one")
            await request.shows("Well")
            process.editor.open.clear()
            process.it.kill()
        await until(lambda: child.living == [])


async def test_a_crash_is_told_and_the_next_request_works() -> None:
    crash: list[JSON] = [{"say": "a"}, {"stderr": "Segfault\n"}, {"exit": 7}]
    async with child_program({"runs": [{"turns": [crash]}, {}]}) as child, started() as process:
        chat = chat_with(process.editor, child)
        error = (await chat.ask("one").settled(PATIENCE)).error
        assert error["data"]["kind"] == "AgentFailed"
        assert "status 7" in error["message"]
        assert error["data"]["stderrTail"] == "Segfault"
        assert (await chat.say("two")).text == "ok"
        assert len(child.processes) == 2


@pytest.mark.checklist(4, 19)
@pytest.mark.parametrize("keeps", [True, False])
async def test_a_chat_goes_on_when_the_agent_died_while_nothing_was_asked(keeps: bool) -> None:
    """By its session where the agent has kept that, else by what was said; nobody sees which."""
    script = {"keeps": keeps, "otherwise": [{"memory": True}]}
    async with child_program(script) as child, started() as process:
        chat = chat_with(process.editor, child)
        assert (await chat.say("I am Ada")).text == "I am Ada"
        os.kill(child.processes[0], signal.SIGKILL)
        await until(lambda: child.living == [])
        answer = (await chat.say("who am I?")).text
        if keeps:
            assert answer == "I am Ada / who am I?"
        else:
            assert "conversation_record" in answer
            assert answer.endswith("who am I?")
        assert child.faults == []
        assert len(child.processes) == 2


async def test_a_session_from_elsewhere_is_listed_and_continued_also_after_a_restart(
    tmp_path: Path,
) -> None:
    script = {"otherwise": [{"memory": True}]}
    options = ("--state-dir", str(tmp_path))
    async with child_program(script) as child:
        child.log.with_name(f"{child.log.name}.sessions").write_text('{"s1": ["I am Ada"]}')
        async with started(*options) as process:
            process.editor.notify("lm/didChangeWorkspaceFolders", {"workspaceFolders": ["/"]})
            chat = chat_with(process.editor, child)
            params = {"modelId": "eliza", "agent": chat.agent}
            listed = await process.editor.call("lm/agentSessions", params)
            assert listed == {"sessions": [{"sessionId": "s1", "cwd": "/"}]}
            assert "what I said to I am Ada" in (await chat.say("/continue s1")).text
        for text, answer in [("who?", "I am Ada / who?"), ("and?", "I am Ada / who? / and?")]:
            async with started(*options) as process:
                process.editor.notify("lm/didChangeWorkspaceFolders", {"workspaceFolders": ["/"]})
                again = chat_with(process.editor, child)
                again.history = chat.history
                assert (await again.say(text)).text == answer
        assert child.faults == []


async def test_a_command_that_isn_t_there_is_told() -> None:
    async with started() as process:
        agent = {"acp": {"name": "it", "command": "no-such-command-here"}}
        error = (await Chat(process.editor, agent=agent).ask("one").settled(PATIENCE)).error
        assert error["data"]["kind"] == "NotFound"
        assert "no-such-command-here" in error["message"]


async def test_in_the_agent_host_a_missing_result_cancels_the_turn_of_the_agent() -> None:
    """Its chats never cancel a request: after a stop they bring no result."""
    turns: list[list[JSON]] = [[{"memory": True}], [{"say": "One "}, HANG]]
    script = {"turns": turns, "otherwise": [{"memory": True}]}
    async with child_program(script) as child, started() as process:
        chat = chat_with(process.editor, child)
        chat.options = tools("vscodelm-progress") | {"requestInitiator": "core"}
        chat.history = [message("system", "You are.\nSession folder: /home/me/session-state/1\n")]
        await chat.say("Hello.")
        request = await chat.ask("Count.").settled(PATIENCE)
        (call,) = request.calls
        assert (request.text, call["toolName"]) == ("One ", "vscodelm-progress")
        await child.hears("session/cancel")
        await chat.say("Never mind.")
        assert child.faults == []
        assert len(child.processes) == 1
