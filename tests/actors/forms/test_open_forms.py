"""The answers of an editor to forms: the first counts, and one that can't be read is a cancel."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from agents.events import AskPermission, Await, Elicit, ElicitAnswer, Prompt, Say, TakeBack
from tests.actors.scenes import texts
from tests.fakes.editor import ASKING, JSON, Chat, connected, message, quiet, tool_result
from tests.fakes.scripted_agent import Burst, Gate, Hang, ScriptedAgent, Step

from .scenes import FORM, SCHEMA, answers, chat_with


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
