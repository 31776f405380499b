"""The official SDKs' example agents: peers that aren't ours, and that ask no model."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.process import started
from tests.fakes.editor import ASKING, Chat, FakeEditor, text, tool_result, user

from .agents import PYTHON_EXAMPLES, TYPESCRIPT_EXAMPLE
from .bench import PATIENCE, alone
from .real_agent import bare_environment

pytestmark = pytest.mark.agents

JSON = dict[str, Any]
EXAMPLES = {"typescript": TYPESCRIPT_EXAMPLE, **PYTHON_EXAMPLES}
python_examples = pytest.mark.parametrize("name", PYTHON_EXAMPLES)


@asynccontextmanager
async def connected(home: Path) -> AsyncGenerator[FakeEditor]:
    """Start a bridge; in the end nothing of it may be left."""
    async with alone(home), started(env=bare_environment(home), inherits=False) as process:
        process.editor.patience = PATIENCE
        yield process.editor


def chat_with(editor: FakeEditor, name: str) -> Chat:
    command, *arguments = EXAMPLES[name]
    agent = {"acp": {"name": name, "command": command, "args": arguments}}
    return Chat(editor, agent=agent, options=ASKING)


@python_examples
async def test_the_python_examples_are_told_only_what_is_new(name: str, tmp_path: Path) -> None:
    async with connected(tmp_path) as editor:
        chat = chat_with(editor, name)
        assert (await chat.say("one")).text.removeprefix("Client sent:") == "one"
        assert (await chat.say("two")).text.removeprefix("Client sent:") == "two"


@python_examples
async def test_an_agent_that_takes_no_images_hears_that_there_is_one(
    name: str, tmp_path: Path
) -> None:
    async with connected(tmp_path) as editor:
        picture = {"type": "data", "mimeType": "image/png", "data": "aGVsbG8="}
        answer = await chat_with(editor, name).say(user(text("one"), picture))
        assert "an image (image/png, 5 bytes)" in answer.text


@python_examples
async def test_two_chats_share_a_process(name: str, tmp_path: Path) -> None:
    async with connected(tmp_path) as editor:
        ada, bob = chat_with(editor, name), chat_with(editor, name)
        requests = ada.ask("Ada"), bob.ask("Bob")
        assert (await requests[0].settled()).text.endswith("Ada")
        assert (await requests[1].settled()).text.endswith("Bob")
        stats = await editor.call("lm/stats")
        assert (stats["sessions"], stats["processes"]) == (2, 1)


async def question_of(chat: Chat) -> JSON:
    request = await chat.say("Change it")
    (call,) = request.calls
    assert call["parameters"]["title"] == "Modifying critical configuration file"
    assert "✔" in request.text, "it has read a file before"
    return call


async def test_the_typescript_example_does_what_is_allowed(tmp_path: Path) -> None:
    async with connected(tmp_path) as editor:
        chat = chat_with(editor, "typescript")
        call = await question_of(chat)
        assert "Perfect!" in (await chat.say(tool_result(call, "Approved"))).text


async def test_the_typescript_example_goes_on_when_it_is_denied(tmp_path: Path) -> None:
    async with connected(tmp_path) as editor:
        chat = chat_with(editor, "typescript")
        call = await question_of(chat)
        answer = await chat.say(tool_result(call, "The user cancelled the tool call."))
        assert "you prefer not to make that change" in answer.text
        assert "Perfect!" not in answer.text


async def test_the_typescript_example_stops_and_begins_anew(tmp_path: Path) -> None:
    async with connected(tmp_path) as editor:
        chat = chat_with(editor, "typescript")
        request = chat.ask("Change it")
        await request.shows("Let me start by reading")
        editor.cancel(request)
        chat.keep(await request.settled())
        assert request.calls == []
        assert (await chat.say("Again")).text.startswith("I'll help you with that.")


async def test_a_user_who_moves_on_from_the_typescript_example_is_heard(tmp_path: Path) -> None:
    async with connected(tmp_path) as editor:
        chat = chat_with(editor, "typescript")
        await question_of(chat)
        chat.take_back(1)
        (call,) = (await chat.say("Something else")).calls
        assert "Perfect!" in (await chat.say(tool_result(call, "Approved"))).text
