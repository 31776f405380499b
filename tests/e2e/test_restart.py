"""A whole `vscodelm` after another one: chats go on where they were, and no file tells of them."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.acp_agents import ChildAgent, child_program
from tests.fakes.editor import Chat, FakeEditor
from tests.fakes.responses_server import responses_server

from .process import started

pytestmark = pytest.mark.slow

JSON = dict[str, Any]
SCRIPT: JSON = {"keeps": True, "otherwise": [{"memory": True}]}


def chat_with(editor: FakeEditor, child: ChildAgent) -> Chat:
    spec = child.spec()
    return Chat(
        editor, agent={"acp": {"name": spec.name, "command": spec.command, "args": [*spec.args]}}
    )


def bytes_in(folder: Path) -> bytes:
    return b"".join(one.read_bytes() for one in folder.rglob("*") if one.is_file())


@pytest.mark.parametrize("ends", ["closed", "killed"])
async def test_an_agent_s_session_goes_on_in_the_next_process(tmp_path: Path, ends: str) -> None:
    state = ("--state-dir", str(tmp_path / "state"))
    async with child_program(SCRIPT) as child:
        async with started(*state, status=-9 if ends == "killed" else 0) as process:
            chat = chat_with(process.editor, child)
            assert (await chat.say("I am Galadriel")).text == "I am Galadriel"
            assert (await chat.say("of Lorien")).text == "I am Galadriel / of Lorien"
            other = chat_with(process.editor, child)
            await other.say("not mine")  # what came before is written when this has begun
            if ends == "killed":
                os.kill(process.it.pid, signal.SIGKILL)
        written = bytes_in(tmp_path / "state")
        assert not any(word in written for word in (b"Galadriel", b"Lorien"))
        assert child.spec().args[-1].encode() not in written
        async with started(*state) as process:
            chat.editor = process.editor
            assert (await chat.say("who am I?")).text == "I am Galadriel / of Lorien / who am I?"
            assert child.faults == []


async def test_a_session_that_was_killed_in_mid_turn_is_not_gone_on_with(tmp_path: Path) -> None:
    state = ("--state-dir", str(tmp_path / "state"))
    script = {**SCRIPT, "words": {"hang": [{"say": "Well"}, {"hang": True}]}}
    async with child_program(script) as child:
        async with started(*state, status=-9) as process:
            chat = chat_with(process.editor, child)
            await chat.say("I am Ada")
            await chat.ask("hang").shows("Well")
            os.kill(process.it.pid, signal.SIGKILL)
            process.editor.open.clear()  # nobody will answer
        chat.take_back(1)
        async with started(*state) as process:
            chat.editor = process.editor
            answer = (await chat.say("who am I?")).text
            assert "conversation_record" in answer, "it was told what was said"
            assert "hang" not in answer


async def test_an_endpoint_goes_on_from_its_last_response_in_the_next_process() -> None:
    async with responses_server() as server:
        agent = {"open_responses": {"baseUrl": server.base_url, "model": "small"}}
        async with started() as process:
            chat = Chat(process.editor, agent=agent)
            await chat.say("I am Ada")
            await chat.say("well")
        async with started() as process:
            chat.editor = process.editor
            assert (await chat.say("who am I?")).text == "I am Ada / well / who am I?"
        assert [len(body["input"]) for body in server.bodies] == [1, 1, 1]
        assert server.bodies[-1]["previous_response_id"]
