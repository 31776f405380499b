from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from actors.inspection import inspector
from agents.events import Say, Stop
from bridge import methods
from bridge.inspection.inspection import Inspection
from bridge.inspection.tracker import Tracker
from bridge.wire import InspectedRequest, InspectResult
from tests.fakes.editor import Chat, connected_to
from tests.fakes.scripted_agent import ScriptedAgent

if TYPE_CHECKING:
    from trio.testing import MockClock

    from tests.fakes.editor import FakeEditor


async def inspected(editor: FakeEditor, **params: Any) -> InspectResult:
    answer = await editor.request(methods.INSPECT, params).settled()
    return msgspec.convert(answer.result, InspectResult)


async def test_an_editor_is_told_of_its_chats(autojump_clock: MockClock) -> None:
    agent = ScriptedAgent([[Say("How do you do."), Stop()]])
    async with connected_to(lambda _: agent) as editor:
        assert (await inspected(editor)).events == []
        await Chat(editor).say("Hello")
        (told,) = (await inspected(editor)).events
    assert isinstance(told, InspectedRequest)
    assert (told.asked, told.answer, told.ending) == ("Hello", "How do you do.", "complete")
    assert told.session is not msgspec.UNSET
    assert (told.session.start, told.session.process) == ("fresh", 4711)


async def test_the_page_comes_when_it_is_asked_for_and_each_has_its_own_nonce(
    autojump_clock: MockClock,
) -> None:
    async with connected_to(lambda _: ScriptedAgent([])) as editor:
        first, second = [(await inspected(editor, page=True)).page for _ in range(2)]
        none = (await inspected(editor)).page
    assert none is msgspec.UNSET
    assert isinstance(first, str)
    assert "<!DOCTYPE html>" in first
    assert first != second


@pytest.mark.parametrize(("owner", "method"), [(Tracker, "decided"), (Inspection, "rest")])
async def test_an_error_in_it_ends_no_chat_and_is_logged_once(
    owner: Any,
    method: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    autojump_clock: MockClock,
) -> None:
    def fail(*_: Any) -> None:
        raise RuntimeError("it is wrong")

    monkeypatch.setattr(owner, method, fail)
    monkeypatch.setattr(inspector, "MOST_WAITING", 1)
    async with connected_to(lambda _: ScriptedAgent([[Say("Yes."), Stop()]] * 2)) as editor:
        chat = Chat(editor)
        assert [(await chat.say("Well?")).text for _ in range(2)] == ["Yes.", "Yes."]
        await inspected(editor)
    assert len([one for one in caplog.records if "it is wrong" in str(one.exc_info)]) == 1


@pytest.mark.limit("actors.inspection.inspector.MOST_WAITING")
async def test_messages_that_are_over_are_let_go_some_at_a_time(
    monkeypatch: pytest.MonkeyPatch, autojump_clock: MockClock
) -> None:
    waiting: list[int] = []
    let_go = Inspection.rest

    def noted(inspection: Inspection) -> None:
        waiting.append(inspection.waiting)
        let_go(inspection)

    monkeypatch.setattr(Inspection, "rest", noted)
    turns = [[Say("Yes."), Stop()]] * (2 * inspector.MOST_WAITING)
    async with connected_to(lambda _: ScriptedAgent(turns)) as editor:
        chat = Chat(editor)
        for number in range(2 * inspector.MOST_WAITING):
            await chat.say(f"And {number}?")
    assert waiting == [inspector.MOST_WAITING] * 2


async def test_secrets_are_hidden(autojump_clock: MockClock) -> None:
    agent = ScriptedAgent([[Say("The api_key=abcdefghijk is yours."), Stop()]])
    async with connected_to(lambda _: agent) as editor:
        await Chat(editor).say("My token: qwertyuiop")
        result = await inspected(editor)
    assert "abcdefghijk" not in str(result)
    assert "qwertyuiop" not in str(result)
    assert "[redacted]" in str(result)
