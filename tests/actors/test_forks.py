"""A chat that is copied whole begins with all that its origin knows, and goes its own way."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import pytest

from agents.events import Prompt, Say, Stop
from agents.origin import FRESH, ForkOf, Resumed
from bridge.wire import ChatMessage, TextPart
from tests.fakes.editor import Chat, FakeEditor, connected, message, quiet
from tests.fakes.scripted_agent import Gate, Hang, ScriptedAgent
from tests.fakes.session_memory import Shelf, ShelfMemory

JSON = dict[str, Any]
BUILT_IN: JSON = {"_conversationId": "c", "_telemetryTurn": 1, "_otelTraceContext": {}}


def texts(messages: Sequence[ChatMessage]) -> list[str]:
    said = [one for one in messages if one.role != "system"]
    return [part.value for one in said for part in one.content if isinstance(part, TextPart)]


def told(prompt: Prompt) -> tuple[list[str], list[str]]:
    return texts(prompt.transcript), texts(prompt.messages)


def chat_of(editor: FakeEditor, log: str, origin: Chat | None = None) -> Chat:
    """Open a chat as the built-in agent does: each names its own log, copies share the rest."""
    chat = Chat(editor, options={"modelOptions": BUILT_IN})
    system = message("system", f"Be kind.\nVSCODE_TARGET_SESSION_LOG: {log}\n")
    chat.history = [system, *(origin.history[1:] if origin is not None else ())]
    return chat


async def test_a_copy_of_a_whole_chat_is_a_fork_of_its_session() -> None:
    agent = ScriptedAgent()
    async with connected(agent) as editor:
        origin = chat_of(editor, "one")
        await origin.say("a")
        await origin.say("b")
        copy = chat_of(editor, "two", origin)
        await copy.say("c")
        await origin.say("d")
        await copy.say("e")
    assert agent.origins == [FRESH, ForkOf("scripted-1")]
    assert [told(prompt) for prompt in agent.prompts[2:]] == [
        ([], ["c"]),
        ([], ["d"]),
        ([], ["e"]),
    ]


async def test_a_copy_of_a_chat_that_went_on_is_told_what_was_said() -> None:
    agent = ScriptedAgent()
    async with connected(agent) as editor:
        origin = chat_of(editor, "one")
        await origin.say("a")
        copy = chat_of(editor, "two", origin)
        await origin.say("b")
        await copy.say("c")
    assert agent.origins == [FRESH, FRESH]
    assert told(agent.prompts[-1]) == (["a", "ok"], ["c"])


async def test_an_agent_that_cannot_fork_is_told_what_was_said(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It has forgotten nothing: that isn't what stands in the log."""
    caplog.set_level(logging.INFO, "vscodelm")
    agent = ScriptedAgent(forgets=True)
    async with connected(agent) as editor:
        origin = chat_of(editor, "one")
        await origin.say("a")
        copy = chat_of(editor, "two", origin)
        await copy.say("b")
    assert agent.origins == [FRESH, ForkOf("scripted-1")]
    assert told(agent.prompts[-1]) == (["a", "ok"], ["b"])
    assert "conversation=2 turn=1 replayed told=3 why=new" in caplog.messages


async def test_a_fork_that_may_know_more_than_its_chat_is_not_used() -> None:
    """A turn began in the origin while its session was copied."""
    agent, gate = ScriptedAgent(), Gate()
    async with connected(agent) as editor:
        origin = chat_of(editor, "one")
        await origin.say("a")
        agent.opening = [gate]
        copy = chat_of(editor, "two", origin)
        request = copy.ask("b")
        await gate.reached.wait()
        await origin.say("c")
        gate.opened.set()
        await request.settled()
    assert agent.origins == [FRESH, ForkOf("scripted-1"), FRESH]
    assert told(agent.prompts[-1]) == (["a", "ok"], ["b"])
    assert agent.sessions_open == 0


async def test_a_fork_of_a_session_that_another_process_went_on_with_is_not_used(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "vscodelm")
    agent, shelf = ScriptedAgent(), Shelf()
    here, there = (connected(agent, memory=ShelfMemory(shelf)) for _ in range(2))
    async with here as left, there as right:
        origin = chat_of(left, "one")
        await origin.say("a")
        moved = chat_of(right, "one", origin)
        await moved.say("b")
        copies = [chat_of(left, f"copy {number}", origin) for number in range(2)]
        for copy in copies:
            await copy.say("c")
    assert agent.origins == [FRESH, Resumed("scripted-1"), ForkOf("scripted-1"), FRESH, FRESH]
    for prompt in agent.prompts[2:]:
        assert told(prompt) == (["a", "ok"], ["c"])
    assert "conversation=2 turn=1 replayed told=3 why=taken" in caplog.messages


@pytest.mark.parametrize("step", [Hang(), Gate()])
async def test_the_copy_of_a_chat_whose_turn_runs_is_told_what_was_said(step: Hang | Gate) -> None:
    agent = ScriptedAgent([[Say("ok"), Stop()], [Say("half"), step], [Say("ok"), Stop()]])
    async with connected(agent) as editor:
        origin = chat_of(editor, "one")
        await origin.say("a")
        copy = chat_of(editor, "two", origin)
        await origin.ask("b").shows("half")
        await copy.say("c")
        assert agent.origins == [FRESH, FRESH]
        assert told(agent.prompts[-1]) == (["a", "ok"], ["c"])
        await quiet()
