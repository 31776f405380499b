"""Input that an agent asks the user for while it answers: `lm/elicit`."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import pytest
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st

from actors.denials import cannot_ask
from actors.progress.pace import FORM_SECONDS, Pace
from agents.events import (
    AskPermission,
    Await,
    Elicit,
    ElicitAnswer,
    Prompt,
    Say,
    Stop,
    TakeBack,
)
from bridge.errors import Failure
from bridge.history.progress_rounds import is_progress_call
from bridge.wire import PROGRESS_TOOL
from tests.fakes.editor import (
    ASKING,
    JSON,
    Chat,
    FakeEditor,
    connected,
    message,
    quiet,
    tool_result,
    tools,
)
from tests.fakes.scripted_agent import (
    STOP_CANCELLED,
    Burst,
    Crash,
    Deaf,
    Gate,
    Hang,
    ScriptedAgent,
    Step,
)

from .scenes import FOLDER, hosted_chat, texts

SCHEMA: JSON = {"type": "object", "properties": {"name": {"type": "string"}}}
FORM = Elicit("f1", "Your name?", SCHEMA)
OTHER = Elicit("f2", "Your page?", url="https://example.com/x")
NAMED: JSON = {"modelOptions": {"_conversationId": "chat-1"}}
"""Options of a host that gives a chat a name, and offers no tool."""


async def chat_with(editor: FakeEditor, options: JSON = ASKING) -> Chat:
    await editor.initialize("elicit").settled()
    return Chat(editor, options=options)


def answers(agent: ScriptedAgent) -> list[ElicitAnswer]:
    """Return what the agent got as answers to its forms."""
    return [one for one in agent.answers if isinstance(one, ElicitAnswer)]


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


def test_the_sentence_cannot_change_what_is_around_it() -> None:
    said = cannot_ask("# [x](command:rm)\n\n" + "y" * 900, shows_forms=False, is_read=True)
    assert said is not None
    assert r"declined: # \[x\](command:rm) yyy" in said
    assert len(said) < 400
    assert cannot_ask("", shows_forms=True, is_read=True) is None


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
    autojump_clock: trio.testing.MockClock,
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


# Answers that aren't as they should be.


@pytest.mark.parametrize(
    "wrong",
    [
        *(None, [], 1, "accept", {}, {"action": "maybe"}, {"action": None}),
        {"action": "accept", "content": []},
        {"action": "accept", "content": {"name": {}}},
        {"action": "accept", "content": {"name": [1]}},
        {"action": "accept", "content": {"name": None}},
    ],
)
async def test_an_answer_that_cannot_be_read_closes_the_form(
    wrong: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    agent = ScriptedAgent([[FORM, Await(), Say("So be it.")]])
    async with connected(agent) as editor:
        chat = await chat_with(editor)
        request = chat.ask("Hello")
        editor.reply(await editor.asked(), wrong)
        await request.settled()
        assert not editor.refused
    assert answers(agent) == [ElicitAnswer("f1", "cancel")]
    assert "form=elicit-1 the answer can't be used" in caplog.text


@pytest.mark.parametrize(
    "line",
    [
        {"error": {"code": -32601, "message": "Method not found"}},
        {"error": "no"},
        {"result": None, "error": {"code": 1}},
    ],
)
async def test_an_error_closes_the_form(line: JSON) -> None:
    agent = ScriptedAgent([[FORM, Await(), Say("So be it.")]])
    async with connected(agent) as editor:
        chat = await chat_with(editor)
        request = chat.ask("Hello")
        form = await editor.asked()
        editor.send({"jsonrpc": "2.0", "id": form.id, **line})
        form.is_answered = True
        await request.settled()
    assert answers(agent) == [ElicitAnswer("f1", "cancel")]


async def test_only_the_first_answer_counts_and_none_to_what_was_not_asked() -> None:
    agent = ScriptedAgent([[FORM, Await(), Say("Thanks."), Hang()]])
    async with connected(agent) as editor:
        chat = await chat_with(editor)
        request = chat.ask("Hello")
        form = await editor.asked()
        for id_ in (request.id, 7, "elicit-2", None):
            editor.send({"jsonrpc": "2.0", "id": id_, "result": {"action": "decline"}})
        await quiet()
        assert answers(agent) == []
        editor.answer(form, "accept", name="first")
        editor.answer(form, "accept", name="second")
        await request.shows("Thanks.")
        editor.cancel(request)
        await request.settled()
    assert answers(agent) == [ElicitAnswer("f1", "accept", {"name": "first"})]


async def test_an_editors_request_may_have_the_same_id_as_ours() -> None:
    agent = ScriptedAgent([[FORM, Await(), Say("Thanks.")]])
    async with connected(agent) as editor:
        await editor.initialize("elicit").settled()
        chat = editor.chat([message("user", "Hello")], options=ASKING, id_="elicit-1")
        form = await editor.asked()
        assert form.id == chat.id == "elicit-1"
        count = editor.request(
            "lm/provideTokenCount", {"modelId": "eliza", "text": "x"}, "elicit-2"
        )
        await count.settled()
        editor.answer(form, "accept", name="Ada")
        await chat.settled()
        assert chat.text == "Thanks."


async def test_a_form_that_cannot_be_answered_costs_its_chat_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    agent = ScriptedAgent([[FORM, Await()], [Say("Hello.")]])
    async with connected(agent) as editor:
        chat = await chat_with(editor)
        request = chat.ask("Hello")
        form = await editor.asked()
        (session,) = agent.sessions
        monkeypatch.setattr(session, "answer", fail)
        editor.answer(form, "accept")
        await request.settled()
        assert "error" in (request.reply or {})
        monkeypatch.undo()
        assert (await Chat(editor, options=ASKING).say("Another")).text == "Hello."


def fail(_answer: object) -> None:
    raise RuntimeError("planted")


# Long answers in pieces, in VS Code's Agent Host.

HOSTED: JSON = {"requestInitiator": "core"}
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


# Whatever happens, in any order.

ANSWERS: list[JSON] = [
    {"action": "accept", "content": {"name": "Ada"}},
    {"action": "decline"},
    {"action": "cancel"},
    {"action": 1},
]
HAPPENINGS = st.lists(
    st.sampled_from(["answer", "answer late", "take back", "cancel", "ask", "edit", "permit"]),
    max_size=8,
)


async def play(happenings: Sequence[str], results: Sequence[int]) -> None:
    """Play a chat in which each turn asks for forms."""
    numbers = iter(range(1_000))
    asked: list[str] = []

    def turn(_session: object, prompt: Prompt) -> list[Step]:
        if texts(prompt.messages)[-1] == "Hello":
            return [Say("Hello.")]
        ids = [f"f{next(numbers)}" for _ in range(2)]
        asked.extend(ids)
        gate = Gate()
        gates.append(gate)
        forms = Burst(tuple(Elicit(id_, "?", SCHEMA) for id_ in ids))
        question = AskPermission(f"p{ids[0]}", "May I?")
        return [forms, gate, TakeBack(ids[0]), question, Await(), Say("Done."), Hang()]

    gates: list[Gate] = []
    agent = ScriptedAgent(turn)
    async with connected(agent) as editor:
        chat = await chat_with(editor)
        await chat.say("Hello")
        request = chat.ask("Begin")
        await quiet()
        for number, one in enumerate(happenings):
            forms = list(editor.forms.values())
            if one == "answer":
                shown = [form for form in forms if form.is_open]
                if shown:
                    editor.reply(shown[0], ANSWERS[results[number % len(results)]])
            elif one == "answer late" and forms:
                editor.reply(forms[0], ANSWERS[0])
            elif one == "take back":
                gates[-1].opened.set()
            elif one == "cancel" and not request.is_settled:
                editor.cancel(request)
            elif one == "ask":
                request = chat.ask("More")
            elif one == "edit":
                chat.take_back(1)
                request = chat.ask(f"Edited {number}")
            elif one == "permit" and request.calls and request.is_settled:
                chat.keep(request)
                request = chat.ask(tool_result(request.calls[-1], "Approved"))
            await quiet()
    settled = [one.call_id for one in answers(agent)]
    taken_back = {id_ for id_, gate in zip(asked[::2], gates, strict=True) if gate.opened.is_set()}
    assert len(settled) == len(set(settled)), "none is answered twice"
    shown_ids = set(asked[: 2 * len(gates)])
    assert shown_ids <= set(settled) | taken_back, "and none is forgotten"


@given(HAPPENINGS, st.lists(st.integers(0, 3), min_size=1, max_size=3))
def test_every_form_is_answered_once_whatever_happens(
    happenings: list[str], results: list[int]
) -> None:
    trio.run(play, happenings, results)
