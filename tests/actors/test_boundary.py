"""One chat never hurts another: an error that nobody expects fails the request that met it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
import trio

from actors.conversation import Conversation
from actors.editor import EditorPort
from actors.mailbox import Mailbox
from actors.memory import AgentMemory
from actors.plan import Delivery
from agents.base import Agent, AgentError
from agents.events import Prompt, Say, Stop
from agents.origin import FRESH, Origin
from bridge.chats import Chats
from bridge.errors import INTERNAL_ERROR, REQUEST_FAILED, Failure
from bridge.history.machine import History
from bridge.models import AgentChoice, Catalogue
from bridge.routing.index import Index
from tests.fakes.editor import Chat, FakeEditor, Request, connected_to, quiet
from tests.fakes.scripted_agent import Do, Gate, ScriptedAgent, ScriptedSession

if TYPE_CHECKING:
    import logging

ODD = {"acp": {"name": "odd", "command": "odd"}}


def odd(*_: object, **__: object) -> Any:
    raise RuntimeError("odd")


class Opens(ScriptedAgent):
    """Can't be asked for a session, for a reason that nobody knows."""

    @asynccontextmanager
    async def session(
        self, prompt: Prompt, origin: Origin = FRESH
    ) -> AsyncGenerator[ScriptedSession, None]:
        await trio.lowlevel.checkpoint()
        yield odd()


class Closes(ScriptedAgent):
    """Has a session that can't be closed."""

    @asynccontextmanager
    async def session(
        self, prompt: Prompt, origin: Origin = FRESH
    ) -> AsyncGenerator[ScriptedSession, None]:
        async with trio.open_nursery(), super().session(prompt, origin) as session:
            yield session
            odd()


def traces(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    return [record for record in caplog.records if record.exc_info]


@asynccontextmanager
async def a_chat_that_goes_on(
    factory: Callable[[], Agent],
) -> AsyncGenerator[FakeEditor, None]:
    """Have an editor, and a chat in the midst of an answer, which must get all of it."""
    gate = Gate()
    other = ScriptedAgent([[Say("It "), gate, Say("goes on."), Stop()]])

    def agent_for(choice: AgentChoice) -> Agent:
        return factory() if choice.spec.acp else other

    async with connected_to(agent_for) as editor:
        chat = Chat(editor)
        request = await chat.ask("Hello").shows("It")
        yield editor
        gate.opened.set()
        await request.settled()
        assert request.result == {}
        assert request.text == "It goes on."
        assert (await chat.say()).text == "ok"


def is_internal(request: Request) -> bool:
    assert request.error["code"] == INTERNAL_ERROR
    assert request.error["data"] == {"kind": "Internal", "detail": "RuntimeError"}
    return "Send the message again" in request.error["message"]


@pytest.mark.parametrize(
    "agent",
    [Opens(), ScriptedAgent([[Say("Well"), Do(odd)]]), ScriptedAgent([[Do(odd)]])],
    ids=["opens", "speaks", "begins"],
)
async def test_an_agent_that_raises_anything_fails_its_own_request(
    agent: ScriptedAgent, caplog: pytest.LogCaptureFixture
) -> None:
    async with a_chat_that_goes_on(lambda: agent) as editor:
        assert is_internal(await Chat(editor, agent=ODD).ask("Hello").settled())
    assert len(traces(caplog)) == 1


async def test_a_session_that_fails_after_its_answer_costs_no_answer(
    caplog: pytest.LogCaptureFixture,
) -> None:
    agent = Closes()
    async with a_chat_that_goes_on(lambda: agent) as editor:
        assert (await Chat(editor, agent=ODD).say("Hello")).text == "ok"
    assert len(traces(caplog)) == 1


async def test_a_chat_goes_on_after_an_internal_error() -> None:
    agent = ScriptedAgent([[Say("Well"), Do(odd)]])
    async with a_chat_that_goes_on(lambda: agent) as editor:
        chat = Chat(editor, agent=ODD)
        await chat.ask("Hello").settled()
        assert (await chat.say("And now?")).text == "ok"
    assert agent.sessions_opened == agent.sessions_closed == [1, 2]


async def test_an_agent_that_can_t_be_made_fails_its_own_request(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with a_chat_that_goes_on(odd) as editor:
        assert is_internal(await Chat(editor, agent=ODD).ask("Hello").settled())
        assert (await editor.call("lm/stats"))["liveConversations"] == 1
    assert len(traces(caplog)) == 1


async def test_an_agent_that_says_why_it_can_t_be_made_is_understood(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def nothing() -> Agent:
        raise AgentError(Failure("NotFound", "`cwd` is no folder."))

    async with a_chat_that_goes_on(nothing) as editor:
        request = await Chat(editor, agent=ODD).ask("Hello").settled()
        assert request.error["code"] == REQUEST_FAILED
        assert request.error["message"] == "`cwd` is no folder."
    assert traces(caplog) == []


@pytest.mark.parametrize(
    ("owner", "method"),
    [
        (Index, "place"),
        (Conversation, "deliver"),
        (AgentMemory, "begin"),
        (Delivery, "prompt"),
        (History, "apply"),
        (EditorPort, "show"),
        (Chats, "_admits"),
        (Mailbox, "deliver"),
        (AgentMemory, "of"),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
async def test_an_error_of_our_own_costs_one_request(
    owner: type, method: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    agent = ScriptedAgent()
    async with a_chat_that_goes_on(lambda: agent) as editor:
        with monkeypatch.context() as broken:
            broken.setattr(owner, method, odd)
            request = await Chat(editor, agent=ODD).ask("Hello").settled()
            await quiet()
        assert is_internal(request)
        assert (await Chat(editor, agent=ODD).say("And now?")).text == "ok"
    assert len(traces(caplog)) == 1
    assert agent.sessions_open == 0


async def test_a_closing_that_fails_leaves_the_other_chats(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with a_chat_that_goes_on(ScriptedAgent) as editor:
        with monkeypatch.context() as broken:
            broken.setattr("actors.requests.statistics", odd)
            assert is_internal(await editor.request("lm/stats").settled())
            broken.setattr(EditorPort, "learn", odd)
        assert (await Chat(editor, agent=ODD).say("Hello")).text == "ok"
    assert len(traces(caplog)) == 1


async def test_a_line_that_can_t_be_read_for_an_unknown_reason_is_answered(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with a_chat_that_goes_on(ScriptedAgent) as editor:
        with monkeypatch.context() as broken:
            broken.setattr(EditorPort, "_result", odd)
            count = editor.request("lm/provideTokenCount", {"modelId": "eliza", "text": "x"})
            assert is_internal(await count.settled())
            broken.setattr(EditorPort, "_notice", odd)
            editor.notify("$/cancelRequest", {"id": 7})
            (error,) = await editor.refusals(1)
            assert error["code"] == INTERNAL_ERROR
    assert len(traces(caplog)) == 2


async def test_a_listing_of_models_that_fails_leaves_the_chats(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def list_models(catalogue: Catalogue, change: Callable[[Catalogue], None]) -> None:
        await trio.lowlevel.checkpoint()
        odd()

    async with connected_to(lambda choice: ScriptedAgent(), list_models=list_models) as editor:
        await quiet()
        assert (await Chat(editor).say("Hello")).text == "ok"
    assert len(traces(caplog)) == 1
