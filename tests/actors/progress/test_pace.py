"""The pace of a response in pieces, in VS Code's Agent Host, while the user fills in a form."""

from __future__ import annotations

import pytest
import trio
import trio.testing

from actors.progress.pace import FORM_SECONDS, Pace
from agents.events import Await, ElicitAnswer, Say, TakeBack
from bridge.history.progress_rounds import is_progress_call
from bridge.wire import PROGRESS_TOOL
from tests.actors.forms.scenes import FORM, HOSTED, answers
from tests.actors.scenes import hosted_chat
from tests.fakes.editor import JSON, connected, quiet, tool_result, tools
from tests.fakes.scripted_agent import Gate, Hang, ScriptedAgent

PACED: JSON = {**HOSTED, **tools(PROGRESS_TOOL)}


async def test_a_response_in_pieces_waits_for_the_form_and_goes_on_at_once_then(
    autojump_clock: trio.testing.MockClock,
) -> None:
    gate = Gate()
    agent = ScriptedAgent([[Say("Well. "), FORM, Await(), Say("Thanks. "), gate, Say("Done.")]])
    async with connected(agent) as editor:
        await editor.initialize("elicit").settled()
        chat = hosted_chat(editor, PACED)
        request = chat.ask("Hello")
        form = await editor.asked()
        await trio.sleep(500)
        assert not request.is_settled
        assert form.is_open
        editor.answer(form, "accept", name="Ada")
        await request.settled()
        assert request.text == "Well. Thanks. "
        (call,) = request.calls
        assert is_progress_call(call["toolCallId"])
        chat.keep(request)
        gate.opened.set()
        assert (await chat.say(tool_result(call, ""))).text == "Done."


@pytest.mark.limit("actors.progress.pace.FORM_SECONDS")
async def test_before_the_host_drops_the_response_the_form_is_closed(
    autojump_clock: trio.testing.MockClock,
) -> None:
    agent = ScriptedAgent([[FORM, Await(), Say("Then not.")]])
    async with connected(agent) as editor:
        await editor.initialize("elicit").settled()
        chat = hosted_chat(editor, PACED)
        request = chat.ask("Hello")
        form = await editor.asked()
        await trio.sleep(FORM_SECONDS - 1)
        assert form.is_open
        await request.settled()
        assert form.is_taken_back
        chat.keep(request)
        last = await chat.say(tool_result(request.calls[0], ""))
        assert last.text == "Then not."
    assert answers(agent) == [ElicitAnswer("f1", "cancel")]


async def test_a_form_that_is_taken_back_holds_up_no_response(
    autojump_clock: trio.testing.MockClock,
) -> None:
    gate = Gate()
    agent = ScriptedAgent([[Say("Well. "), FORM, gate, TakeBack("f1"), Hang()]])
    async with connected(agent) as editor:
        await editor.initialize("elicit").settled()
        request = hosted_chat(editor, PACED).ask("Hello")
        form = await editor.asked()
        await trio.sleep(100)
        gate.opened.set()
        await request.settled()
        assert form.is_taken_back
        assert request.calls


async def test_a_form_after_a_stop_is_closed(autojump_clock: trio.testing.MockClock) -> None:
    """The host says of a stop only that no result comes; nobody is asked anything then."""
    gate = Gate()
    agent = ScriptedAgent([[Say("Well. "), gate, FORM, Await(), Hang()]])
    async with connected(agent) as editor:
        await editor.initialize("elicit").settled()
        request = hosted_chat(editor, PACED).ask("Hello")
        await request.settled()
        await trio.sleep(30)
        gate.opened.set()
        await quiet()
        assert not editor.forms


def test_a_response_with_a_form_ends_before_the_host_drops_it() -> None:
    pace = Pace()
    pace.respond(100)
    assert pace.latest == 100 + FORM_SECONDS < 100 + 600
