"""An ACP agent asks the user for input, through the whole system."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
import trio.lowlevel
import trio.testing
from hypothesis import given
from hypothesis import strategies as st

from agents.acp.rpc.news import MOST_QUESTIONS
from agents.workspace import Workspace
from tests.fakes.acp_agents import agent_in_process
from tests.fakes.acp_peer import PeerAgent
from tests.fakes.editor import ASKING, Chat, FakeEditor, Request, connected, tool_result
from tests.fakes.waiting import PATIENCE

JSON = dict[str, Any]
FORM: JSON = {
    "mode": "form",
    "message": "Your name?",
    "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}},
}
PAGE: JSON = {
    "mode": "url",
    "message": "Log in to *it*",
    "elicitationId": "e1",
    "url": "https://example.com/in",
}
COMPLETE: JSON = {"notify": "elicitation/complete", "params": {"elicitationId": "e1"}}
CALL: JSON = {"toolCallId": "call-1", "title": "Delete everything", "kind": "delete"}
AWAIT: JSON = {"await": True}
OUTCOMES: JSON = {"outcomes": True}
HANG: JSON = {"hang": True}


@asynccontextmanager
async def scene(
    *steps: JSON, shows_forms: bool = True, **script: Any
) -> AsyncGenerator[tuple[FakeEditor, PeerAgent, Chat], None]:
    """Open a chat with an agent whose first turn has these steps."""
    window = Workspace(shows_forms=shows_forms)
    async with agent_in_process({"turns": [list(steps)], **script}, workspace=window) as (
        agent,
        peers,
    ):
        async with connected(agent, leaves_within=30) as editor:
            await editor.initialize(*(["elicit"] if shows_forms else [])).settled()
            yield editor, peers, Chat(editor, options=ASKING)
        assert peers.faults == []


def answered(peers: PeerAgent) -> list[JSON]:
    """Return what the agent got in answer to its requests."""
    return [one for one in peers.heard if "method" not in one and "id" in one and one["id"] != ""]


async def test_a_form_reaches_the_user_and_the_answer_reaches_the_agent() -> None:
    async with scene({"say": "Well."}, {"elicit": FORM}, AWAIT, OUTCOMES) as (editor, _, chat):
        request = chat.ask("Hello")
        form = await editor.asked()
        assert form.params["message"] == "Your name?"
        assert form.params["requestedSchema"] == FORM["requestedSchema"]
        assert request.text == "Well."
        editor.answer(form, "accept", name="Ada")
        await request.settled()
        assert request.text == 'Well.\n\n✔ **Answered:** Your name?\n\naccept {"name": "Ada"}'


@pytest.mark.parametrize(
    ("action", "mark"),
    [
        ("accept", "✔ **Answered:**"),
        ("decline", "✘ **Declined:**"),
        ("cancel", "✘ **Closed without an answer:**"),
    ],
)
async def test_a_page_is_opened_or_not(action: str, mark: str) -> None:
    async with scene({"elicit": PAGE}, AWAIT, OUTCOMES, COMPLETE) as (editor, _, chat):
        request = chat.ask("Hello")
        form = await editor.asked()
        assert form.params["url"] == "https://example.com/in"
        editor.answer(form, action)
        await request.settled()
        assert request.text == f"{mark} Log in to \\*it\\*\n\n{action}"


async def test_a_page_that_is_done_with_needs_no_answer() -> None:
    async with scene({"elicit": PAGE}, COMPLETE, AWAIT, OUTCOMES, COMPLETE) as (editor, _, chat):
        request = await chat.say("Hello")
        assert request.text.endswith("accept")
        form = await editor.asked()
        assert form.is_taken_back
        editor.answer(form, "decline")


async def test_a_form_that_is_taken_back_disappears() -> None:
    steps = ({"elicit": FORM}, {"sleep": 0.1}, {"withdraw": True}, AWAIT, OUTCOMES, HANG)
    async with scene(*steps) as (editor, _, chat):
        request = chat.ask("Hello")
        form = await editor.asked()
        await request.shows("cancel")
        assert not request.is_settled
        assert form.is_taken_back
        editor.cancel(request)
        await request.settled()


async def test_a_permission_waits_until_the_form_is_answered(
    autojump_clock: trio.testing.MockClock,
) -> None:
    """A permission question ends the response, and with that the form would disappear."""
    steps = ({"elicit": FORM}, {"elicit": PAGE}, {"ask": CALL}, AWAIT, OUTCOMES)
    async with scene(*steps) as (editor, _, chat):
        request = chat.ask("Hello")
        await editor.asked(2)
        await trio.sleep(60)
        assert not request.is_settled
        for form in editor.forms.values():
            editor.answer(form, "decline")
        await request.settled()
        chat.keep(request)
        last = await chat.say(tool_result(request.calls[0], "Approved"))
        assert last.text.endswith("decline decline allowed")


# Ends.


async def test_a_stop_closes_the_form(autojump_clock: trio.testing.MockClock) -> None:
    async with scene({"elicit": FORM}, HANG) as (editor, peers, chat):
        request = chat.ask("Hello")
        form = await editor.asked()
        editor.cancel(request)
        await request.settled()
        assert form.is_taken_back
        editor.answer(form, "accept", name="late")
        chat.keep(request)
        assert (await chat.say("And now?")).text == "ok"
        assert [one["result"] for one in answered(peers)] == [{"action": "cancel"}]
        assert len(peers.asked("session/cancel")) == 1


@pytest.mark.parametrize("end", [{"exit": 1}, {"close_stdout": True}])
async def test_an_agent_that_dies_closes_its_form(
    end: JSON, autojump_clock: trio.testing.MockClock
) -> None:
    async with scene({"elicit": FORM}, {"sleep": 1}, end, HANG) as (editor, _, chat):
        request = chat.ask("Hello")
        form = await editor.asked()
        await request.settled(60)
        assert form.is_taken_back
        editor.answer(form, "accept", name="late")


async def test_an_agent_that_ends_its_turn_closes_its_form() -> None:
    steps = ({"elicit": FORM}, {"sleep": 0.1}, {"say": "I guess."})
    async with scene(*steps) as (editor, peers, chat):
        request = await chat.say("Hello")
        assert request.text == "I guess."
        assert (await editor.asked()).is_taken_back
        assert [one["result"] for one in answered(peers)] == [{"action": "cancel"}]


# Who can't be asked.


async def test_an_editor_without_forms_is_no_reason_to_hang() -> None:
    async with scene({"elicit": FORM}, AWAIT, OUTCOMES, shows_forms=False) as (_, peers, chat):
        request = await chat.say("Hello")
        assert "this editor can't show a form, so it was declined: Your name?" in request.text
        assert "✘ **Declined:** Your name?" not in request.text
        assert request.text.endswith("decline")
        (asked,) = peers.asked("initialize")
        assert "elicitation" not in asked["clientCapabilities"]


async def test_an_editor_with_forms_is_told_of_to_the_agent() -> None:
    async with scene() as (_, peers, chat):
        await chat.say("Hello")
        (asked,) = peers.asked("initialize")
        assert asked["clientCapabilities"]["elicitation"] == {"form": {}, "url": {}}


async def test_between_turns_the_answer_is_no_and_the_next_answer_says_so(
    autojump_clock: trio.testing.MockClock,
) -> None:
    steps = ({"say": "Hello."}, {"stop": "end_turn"}, {"sleep": 5}, {"elicit": PAGE})
    async with scene(*steps) as (editor, peers, chat):
        await chat.say("Hello")
        await trio.sleep(10)
        assert [one["result"] for one in answered(peers)] == [{"action": "decline"}]
        request = await chat.say("And now?")
        missed = "asked for your input between your messages, so it was declined: Log in to"
        assert missed in request.text
        assert not editor.forms


async def test_after_a_stop_the_answer_is_that_it_was_cancelled(
    autojump_clock: trio.testing.MockClock,
) -> None:
    late = [{"stop": "cancelled"}, {"sleep": 5}, {"elicit": FORM}]
    async with scene(HANG, when_cancelled=late) as (editor, peers, chat):
        request = chat.ask("Hello")
        await trio.sleep(1)
        editor.cancel(request)
        await request.settled()
        await trio.sleep(10)
        assert [one["result"] for one in answered(peers)] == [{"action": "cancel"}]
        assert (await chat.say("And now?")).text == "ok"


@pytest.mark.parametrize("scope", [{"requestId": 1}, {"sessionId": "nobody's"}])
async def test_outside_of_a_chat_nobody_is_asked(scope: JSON) -> None:
    asked: JSON = {"request": "elicitation/create", "params": {**FORM, **scope}}
    async with scene(asked, AWAIT, OUTCOMES) as (editor, _, chat):
        assert (await chat.say("Hello")).text == "decline"
        assert not editor.forms


# Malformed questions.


@pytest.mark.parametrize(
    "asked",
    [
        {"mode": "form", "message": "?"},
        {"mode": "form", "requestedSchema": {"type": "object"}},
        {"mode": "form", "message": "?", "requestedSchema": "?"},
        {"mode": "form", "message": {}, "requestedSchema": {}},
        {"mode": "url", "message": "?", "elicitationId": "e"},
        {"mode": "url", "message": "?", "elicitationId": "e", "url": "file:///etc/passwd"},
        {"mode": "dance", "message": "?"},
        {"message": "?"},
    ],
)
async def test_a_question_that_cannot_be_asked_is_an_error(asked: JSON) -> None:
    async with scene({"elicit": asked}, AWAIT, OUTCOMES) as (editor, _, chat):
        assert (await chat.say("Hello")).text == "-32602"
        assert not editor.forms


async def test_a_completion_without_an_id_is_no_news() -> None:
    steps = ({"elicit": PAGE}, {"notify": "elicitation/complete"}, AWAIT, OUTCOMES)
    async with scene(*steps) as (editor, _, chat):
        request = chat.ask("Hello")
        editor.answer(await editor.asked(), "decline")
        await request.settled()
        assert request.text.endswith("decline")


async def test_of_too_many_questions_the_last_are_refused() -> None:
    steps = ({"elicit": FORM, "times": MOST_QUESTIONS + 1}, AWAIT, OUTCOMES)
    async with scene(*steps) as (editor, _, chat):
        request = chat.ask("Hello")
        await editor.asked(MOST_QUESTIONS)
        for form in editor.forms.values():
            editor.answer(form, "accept")
        await request.settled()
        assert len(editor.forms) == MOST_QUESTIONS
        outcomes = Counter(request.text.split()[-MOST_QUESTIONS - 1 :])
        assert outcomes == {"accept": MOST_QUESTIONS, "-32600": 1}


# Whatever happens, in any order.

STEPS = st.lists(
    st.sampled_from(
        [
            {"elicit": FORM},
            {"elicit": PAGE},
            COMPLETE,
            {"withdraw": True},
            {"ask": CALL},
            {"say": "Hm."},
            {"sleep": 3},
            {"stop": "end_turn"},
            AWAIT,
        ]
    ),
    max_size=8,
)
ACTS = st.lists(st.sampled_from(["accept", "decline", "bad", "cancel", "wait", "ask"]), max_size=6)


async def play(turns: Sequence[list[JSON]], acts: Sequence[str]) -> None:
    async with scene(turns=[[*turn, HANG] for turn in turns]) as (editor, peers, chat):
        request: Request = chat.ask("Hello")
        for act in acts:
            await trio.sleep(1)
            shown = [form for form in editor.forms.values() if form.is_open]
            if act in ("accept", "decline") and shown:
                editor.answer(shown[0], act)
            elif act == "bad" and shown:
                editor.reply(shown[0], {"action": 1})
            elif act == "cancel" and not request.is_settled:
                editor.cancel(request)
            elif act == "ask":
                if request.is_settled:
                    chat.keep(request)
                request = chat.ask("And now?")
    with trio.fail_after(PATIENCE):
        await trio.lowlevel.checkpoint()
    counts = Counter(one["id"] for one in answered(peers))
    assert set(counts.values()) <= {1}, "each is answered once"


@given(st.lists(STEPS, min_size=1, max_size=3), ACTS)
def test_every_question_is_answered_once_whatever_happens(
    turns: list[list[JSON]], acts: list[str]
) -> None:
    clock = trio.testing.MockClock(autojump_threshold=0)
    trio.run(play, turns, acts, clock=clock)
