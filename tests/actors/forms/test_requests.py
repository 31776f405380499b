"""Input that an agent asks the user for while it answers: `lm/elicit`."""

from __future__ import annotations

from typing import Any

import pytest

from agents.events import Await, ElicitAnswer, Say, Stop, TakeBack
from bridge.errors import Failure
from tests.actors.scenes import FOLDER
from tests.fakes.editor import ASKING, JSON, Chat, connected, message, quiet
from tests.fakes.scripted_agent import STOP_CANCELLED, Burst, Crash, Deaf, Gate, Hang, ScriptedAgent

from .scenes import FORM, HOSTED, NAMED, OTHER, SCHEMA, answers, chat_with


async def test_a_form_is_asked_for_while_the_response_is_open() -> None:
    agent = ScriptedAgent([[Say("Well. "), FORM, Await(), Say("Thanks.")]])
    async with connected(agent) as editor:
        chat = await chat_with(editor)
        request = chat.ask("Hello")
        form = await editor.asked()
        assert request.text == "Well. ", "what it is about comes first"
        assert form.params == {
            "requestId": request.id,
            "message": "Your name?",
            "requestedSchema": SCHEMA,
        }
        assert not request.is_settled
        editor.answer(form, "accept", name="Ada", colours=["red"], count=3, share=0.5, sure=True)
        await request.settled()
        assert request.text == "Well. Thanks."
    content: dict[str, Any] = {"name": "Ada", "colours": ["red"], "share": 0.5}
    content |= {"count": 3, "sure": True}
    assert answers(agent) == [ElicitAnswer("f1", "accept", content)]


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_user_may_decline_or_close_it(action: Any) -> None:
    agent = ScriptedAgent([[OTHER, Await(), Say("As you like.")]])
    async with connected(agent) as editor:
        chat = await chat_with(editor)
        request = chat.ask("Hello")
        form = await editor.asked()
        assert form.params["url"] == "https://example.com/x"
        editor.answer(form, action, name="Ada")
        await request.settled()
    assert answers(agent) == [ElicitAnswer("f2", action)], "only what is accepted has a content"


async def test_two_forms_may_be_open_at_once() -> None:
    agent = ScriptedAgent([[Burst((FORM, OTHER)), Await(), Say("Thanks.")]])
    async with connected(agent) as editor:
        chat = await chat_with(editor)
        request = chat.ask("Hello")
        await editor.asked(2)
        first, second = editor.forms.values()
        editor.answer(second, "accept")
        await quiet()
        assert not request.is_settled
        editor.answer(first, "decline")
        await request.settled()
    assert answers(agent) == [ElicitAnswer("f2", "accept"), ElicitAnswer("f1", "decline")]


# Who can't be asked.


@pytest.mark.parametrize(
    ("capabilities", "options", "why"),
    [
        ([], ASKING, "this editor can't show a form"),
        (["elicit"], {}, "a program asked for this answer"),
    ],
)
async def test_where_nobody_can_be_asked_it_is_declined_and_the_answer_says_so(
    capabilities: list[str], options: JSON, why: str
) -> None:
    agent = ScriptedAgent([[Say("Well."), FORM, Await(), Say("Then not.")]])
    async with connected(agent) as editor:
        await editor.initialize(*capabilities).settled()
        request = await Chat(editor, options=options).say("Hello")
    asked = f"⚠️ The agent asked for your input, but {why}, so it was declined: Your name?"
    assert request.text == f"Well.\n\n{asked}\n\nThen not."
    assert answers(agent) == [ElicitAnswer("f1", "decline", is_told=True)]


@pytest.mark.parametrize("permissions", ["ask", "read_only", "allow", "deny"])
async def test_a_form_is_no_action_so_no_permission_is_needed(permissions: str) -> None:
    agent = ScriptedAgent([[FORM, Await(), Say("Thanks.")]])
    async with connected(agent) as editor:
        chat = await chat_with(editor, NAMED)
        chat.settings = {"permissions": permissions}
        request = chat.ask("Hello")
        editor.answer(await editor.asked(), "accept", name="Ada")
        await request.settled()
    assert answers(agent) == [ElicitAnswer("f1", "accept", {"name": "Ada"})]


# Ends.


@pytest.mark.parametrize("how", ["cancel", "edit", "other"])
async def test_the_form_is_closed_when_the_user_moves_on(how: str) -> None:
    agent = ScriptedAgent([[Say("Hello.")], [FORM, Hang()], [Say("Again.")]])
    async with connected(agent) as editor:
        chat = await chat_with(editor)
        await chat.say("Hello")
        request = chat.ask("And?")
        form = await editor.asked()
        if how == "cancel":
            editor.cancel(request)
        elif how == "edit":
            chat.take_back(1)
            assert (await chat.say("And now?")).text == "Again."
        else:
            assert (await chat.say("Never mind")).text == "Again."
        await request.settled()
        assert form.is_taken_back
        editor.answer(form, "accept", name="late")
        await quiet()
    assert set(answers(agent)) == {ElicitAnswer("f1", "cancel")}


async def test_the_form_is_closed_with_the_session_that_asked() -> None:
    gate = Gate()
    agent = ScriptedAgent([[FORM, gate, Crash(Failure("AgentFailed", "It is gone."))]])
    async with connected(agent) as editor:
        chat = await chat_with(editor)
        request = chat.ask("Hello")
        form = await editor.asked()
        gate.opened.set()
        await request.settled()
        assert form.is_taken_back
        editor.answer(form, "accept", name="late")
        await quiet()


async def test_a_turn_that_ends_closes_its_forms() -> None:
    agent = ScriptedAgent([[FORM, Say("I know it already."), Stop()]])
    async with connected(agent) as editor:
        chat = await chat_with(editor)
        request = await chat.say("Hello")
        form = await editor.asked()
        assert request.text == "I know it already."
        assert form.is_taken_back


async def test_the_editor_leaves_while_a_form_is_open() -> None:
    agent = ScriptedAgent([[FORM, Await()]])
    async with connected(agent) as editor:
        chat = await chat_with(editor)
        chat.ask("Hello")
        await editor.asked()
    assert set(answers(agent)) == {ElicitAnswer("f1", "cancel")}


async def test_an_agent_that_does_not_stop_loses_its_form_all_the_same(
    autojump_clock: object,
) -> None:
    agent = ScriptedAgent([[FORM, Deaf()]])
    async with connected(agent, leaves_within=20) as editor:
        chat = await chat_with(editor)
        request = chat.ask("Hello")
        form = await editor.asked()
        editor.cancel(request)
        await request.settled()
        assert form.is_taken_back


async def test_an_agent_takes_its_question_back() -> None:
    gate = Gate()
    agent = ScriptedAgent([[FORM, gate, TakeBack("f1"), TakeBack("nobody's"), Say("Never mind.")]])
    async with connected(agent) as editor:
        chat = await chat_with(editor)
        request = chat.ask("Hello")
        form = await editor.asked()
        gate.opened.set()
        await request.shows("Never mind.")
        assert form.is_taken_back
        editor.answer(form, "accept", name="late")
        await request.settled()
    assert answers(agent) == []


async def test_forms_of_a_cancelled_turn_are_never_shown() -> None:
    agent = ScriptedAgent([[Say("Well."), Hang()]])
    agent.when_cancelled = [FORM, STOP_CANCELLED]
    async with connected(agent) as editor:
        chat = await chat_with(editor)
        request = chat.ask("Hello")
        await request.shows("Well.")
        editor.cancel(request)
        await request.settled()
        await quiet()
        assert not editor.forms
    assert answers(agent) == [ElicitAnswer("f1", "cancel")]


async def test_a_repeat_of_the_request_takes_the_form_over() -> None:
    """The host repeats a request by itself: the user still sees the form, and can answer it."""
    agent = ScriptedAgent([[FORM, Await(), Say("Thanks.")]])
    async with connected(agent) as editor:
        await editor.initialize("elicit").settled()
        history = [message("system", FOLDER), message("user", "Hello")]
        first = editor.chat(history, options=HOSTED)
        form = await editor.asked()
        second = editor.chat(history, options=HOSTED)
        await first.settled()
        again = await editor.asked(2)
        assert form.is_taken_back
        assert again.params["requestId"] == second.id
        editor.answer(again, "accept", name="Ada")
        await second.settled()
        assert second.text == "Thanks."
    assert answers(agent) == [ElicitAnswer("f1", "accept", {"name": "Ada"})]
    assert len(agent.prompts) == 1


async def test_forms_that_a_repeat_takes_over_keep_their_order() -> None:
    agent = ScriptedAgent([[Burst((FORM, OTHER)), Await(), Await(), Say("Thanks.")]])
    async with connected(agent) as editor:
        await editor.initialize("elicit").settled()
        history = [message("system", FOLDER), message("user", "Hello")]
        editor.chat(history, options=HOSTED)
        await editor.asked(2)
        repeat = editor.chat(history, options=HOSTED)
        await editor.asked(4)
        asked = [form.params["message"] for form in editor.forms.values()]
        assert asked == 2 * [FORM.message, OTHER.message]
        for form in editor.forms.values():
            if form.is_open:
                editor.answer(form, "decline")
        await repeat.settled()
