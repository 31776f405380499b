"""Eliza as an agent; what she shares with every agent is in tests/contract."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock, wait_all_tasks_blocked

from agents import breather
from agents.base import Agent, Turn
from agents.eliza.agent import ElizaAgent, ElizaSession, ElizaTurn
from agents.eliza.engine import Eliza
from agents.eliza.hooks import AwaitAnswers, TurnScript
from agents.eliza.script import BEFORE_FORM, FORM_URL, NOTHING_SAID, URL_MESSAGE
from agents.events import (
    AskPermission,
    Await,
    Break,
    CallTool,
    Decision,
    Elicit,
    ElicitAnswer,
    Event,
    PermissionAnswer,
    Prompt,
    Say,
    Stop,
    StopReason,
    Think,
    ToolAnswer,
)
from bridge.errors import LocalError
from bridge.wire import ChatMessage, ElizaSpec, TextPart, ToolResultPart, ToolSpec
from tests.agents.talk import rest_of, said


def eliza(choose: Callable[[int], int] | None = None) -> ElizaAgent:
    numbers = count(1)
    spec = ElizaSpec(deterministic=choose is None)
    return ElizaAgent(
        spec, new_call_id=lambda: f"id-{next(numbers)}", choose=choose or (lambda _: 0)
    )


def user(text: str) -> ChatMessage:
    return ChatMessage("user", (TextPart(text),))


def assistant(text: str) -> ChatMessage:
    return ChatMessage("assistant", (TextPart(text),))


def prompt(*texts: str, transcript: tuple[ChatMessage, ...] = (), tools: str = "") -> Prompt:
    specs = tuple(ToolSpec(name) for name in tools.split())
    return Prompt(tuple(map(user, texts)), transcript, tools=specs)


async def reply(session: ElizaSession, *texts: str) -> str:
    return said(await rest_of(session.run(prompt(*texts))))


async def conversation(prompts: list[Prompt], agent: ElizaAgent | None = None) -> list[list[Event]]:
    """Return what every turn of one session says."""
    async with (agent or eliza()).session(prompts[0]) as session:
        return [await rest_of(session.run(each)) for each in prompts]


async def test_she_is_an_agent() -> None:
    agent: Agent = eliza()
    async with agent.session(prompt("Hi")) as session:
        assert await rest_of(session.run(prompt("Hi")))


async def test_a_short_answer_is_one_batch_of_words() -> None:
    async with eliza().session(prompt("Hello")) as session:
        turn = session.run(prompt("Hello"))
        with trio.fail_after(5):
            batch = await turn.receive()
    *words, stop = batch
    assert stop == Stop()
    assert [word.text for word in words if isinstance(word, Say)] == (
        ["How ", "do ", "you ", "do. ", "What ", "brings ", "you ", "here?"]
    )


async def test_of_several_messages_all_are_heard_and_the_newest_is_answered() -> None:
    async with eliza().session(prompt("")) as session:
        assert await reply(session, "My dog ate it.", "Hello") == Eliza().hear("Hello")
        assert "dog ate it" in await reply(session, "Hm.")


@pytest.mark.parametrize(
    "messages",
    [
        (),
        (ChatMessage("user", (ToolResultPart("nobody's", "42"),)),),
        (assistant("Hello"), user(" ")),
        (user("<environment_info>\nLinux\n</environment_info>"),),
        (user("<system_notification>\nIt is done.\n</system_notification>"),),
        (user("You have not yet marked the task as complete: use task_complete."),),
    ],
)
async def test_where_nothing_is_said_she_asks_to_go_on(messages: tuple[ChatMessage, ...]) -> None:
    (events,) = await conversation([Prompt(messages)])
    assert said(events) == NOTHING_SAID


async def test_what_the_host_wraps_round_a_request_is_not_heard() -> None:
    wrapped = "<context>\nMy dog ate it.\n</context>\n<userRequest>\nHello\n</userRequest>\n"
    async with eliza().session(prompt(wrapped)) as session:
        assert await reply(session, wrapped) == Eliza().hear("Hello")
        assert "dog" not in await reply(session, "Hm.")


async def test_chance_chooses_her_words_unless_she_is_deterministic() -> None:
    ((*_, last),) = [await conversation([prompt("because")], eliza(lambda number: number - 1))]
    assert said(last) == "And if that reason were gone?"


async def test_without_a_chooser_she_still_answers() -> None:
    agent = ElizaAgent(ElizaSpec(), new_call_id=lambda: "id")
    (events,) = await conversation([prompt("because")], agent)
    assert said(events)


# Hooks.


async def test_hooks_fire_in_the_newest_message_only() -> None:
    async with eliza().session(prompt("")) as session:
        assert await reply(session, "!error", "Hello") == Eliza().hear("Hello")
        assert isinstance((await rest_of(session.run(prompt("Hello", "!error"))))[-1], Break)


async def test_a_hook_in_the_middle_of_a_text_is_talk() -> None:
    async with eliza().session(prompt("")) as session:
        assert await reply(session, "Say !hang") == Eliza().hear("Say !hang")


async def test_a_tool_result_after_a_text_leaves_the_text_to_be_answered() -> None:
    messages = (user("Hello"), ChatMessage("user", (ToolResultPart("nobody's", "42"),)))
    (events,) = await conversation([Prompt(messages)])
    assert said(events) == Eliza().hear("Hello")


async def test_a_wrapped_hook_fires() -> None:
    text = "<context>\nMonday\n</context>\n<userRequest>\n!think\n</userRequest>\n"
    (events,) = await conversation([prompt(text)])
    assert isinstance(events[0], Think)


async def test_a_call_and_its_wait_are_one_batch() -> None:
    asking = prompt('!tool clock {"zone": "UTC"}', tools="clock")
    async with eliza().session(asking) as session:
        turn = session.run(asking)
        with trio.fail_after(5):
            assert await turn.receive() == (CallTool("id-1", "clock", {"zone": "UTC"}), Await())
        session.answer(ToolAnswer("id-1", [{"type": "text", "value": "noon"}]))
        assert said(await rest_of(turn)) == "The tool clock answered:\n\nnoon"


async def test_a_hook_is_never_heard_nor_is_one_of_a_transcript() -> None:
    past = (user("!think my dog ate it"), user("!permission my cat"))
    first = prompt("!think my horse", transcript=past)
    (*_, answer) = await conversation([first, prompt("Hm.")])
    assert said(answer) == Eliza().hear("Hm.")


async def test_a_turn_may_ask_again_after_an_answer(autojump_clock: MockClock) -> None:
    def ask_twice() -> TurnScript:
        (first,) = yield AwaitAnswers((CallTool("a", "clock", {}),))
        (second,) = yield AwaitAnswers((CallTool("b", "clock", {}),))
        assert (first.call_id, second.call_id) == ("a", "b")
        yield (Stop(),)

    turn = ElizaTurn(iter([ask_twice()]))
    with trio.fail_after(5):
        for call_id in ("a", "b"):
            assert await turn.receive() == (CallTool(call_id, "clock", {}), Await())
            with trio.move_on_after(1) as scope:
                await turn.receive()
            assert scope.cancelled_caught
            turn.answer(ToolAnswer(call_id, "noon"))
    assert await rest_of(turn) == [Stop()]


async def test_an_answer_of_the_wrong_kind_is_not_an_answer() -> None:
    async with eliza().session(prompt("")) as session:
        turn = session.run(prompt("!permission Delete it"))
        with trio.fail_after(5):
            details = {"message": "Eliza asks: Delete it"}
            question = AskPermission("id-1", "Delete it", details=details)
            assert await turn.receive() == (question, Await())
        session.answer(ToolAnswer("id-1", "Approved"))
        session.answer(PermissionAnswer("id-1", Decision.DENIED))
        assert said(await rest_of(turn)) == "You have denied it: Delete it"


async def test_a_form_waits_for_its_answer_and_the_response_stays_open() -> None:
    async with eliza().session(prompt("")) as session:
        turn = session.run(prompt("!form url"))
        with trio.fail_after(5):
            assert said(list(await turn.receive())).strip() == BEFORE_FORM
            assert await turn.receive() == (Elicit("id-1", URL_MESSAGE, url=FORM_URL),)
        session.answer(ToolAnswer("id-1", "x"))
        session.answer(PermissionAnswer("id-1", Decision.ALLOWED))
        session.answer(ElicitAnswer("id-1", "decline"))
        assert said(await rest_of(turn)) == "You have declined."


async def test_an_abandoned_question_ends_the_turn_without_a_cancel() -> None:
    async with eliza().session(prompt("")) as session:
        turn = session.run(prompt("!permission Delete it"))
        with trio.fail_after(5):
            await turn.receive()
        session.answer(PermissionAnswer("id-1", Decision.ABANDONED))
        assert await rest_of(turn) == [Stop(StopReason.CANCELLED)]


async def test_a_long_answer_is_cheap_to_begin_and_to_cancel() -> None:
    async with eliza().session(prompt("")) as session:
        turn = session.run(prompt("!long 10000000"))
        with trio.fail_after(5):
            for _ in range(3):
                await turn.receive()
            await session.cancel()
        assert await rest_of(turn) == [Stop(StopReason.CANCELLED)]


async def test_a_hundred_thousand_words_arrive() -> None:
    ((*words, stop),) = await conversation([prompt("!long 100000")])
    assert len(words) >= 100_000
    assert stop == Stop()


# One turn at a time, and the end of it.


async def test_others_have_their_turn_while_a_long_history_is_heard(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = count(step=2 * breather.WORK_SECONDS)  # each message takes its time
    monkeypatch.setattr(breather.time, "thread_time", lambda: next(now))
    transcript = (user("My dog ate it."), *map(user, ["Yes."] * 20))
    steps = 0

    async def other() -> None:
        nonlocal steps
        while True:
            steps += 1
            await trio.lowlevel.checkpoint()

    async with eliza().session(prompt("")) as session, trio.open_nursery() as nursery:
        nursery.start_soon(other)
        assert said(await rest_of(session.run(prompt("Hello", transcript=transcript))))
        nursery.cancel_scope.cancel()
    assert steps >= 20


async def test_what_a_cancelled_turn_did_not_hear_the_next_one_hears_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = count(step=2 * breather.WORK_SECONDS)
    monkeypatch.setattr(breather.time, "thread_time", lambda: next(now))
    async with eliza().session(prompt("")) as session:
        turn = session.run(prompt("My dog ate it.", "Hm.", "Hm.", "Hm."))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(rest_of, turn)
            await trio.lowlevel.checkpoint()
            await session.cancel()
        assert not turn.runs
        lived = Eliza()
        for text in ("My dog ate it.", "Hm.", "Hm.", "Hm."):
            lived.hear(text)
        assert await reply(session, "Hm.") == lived.hear("Hm.")


async def test_a_second_turn_beside_the_first_is_the_callers_mistake() -> None:
    async with eliza().session(prompt("")) as session:
        turn = session.run(prompt("Hello"))
        with pytest.raises(LocalError, match="still runs"):
            session.run(prompt("Hello"))
        await rest_of(turn)
        session.run(prompt("Hello"))


async def test_a_turn_that_was_closed_makes_room_for_the_next() -> None:
    async with eliza().session(prompt("")) as session:
        turn = session.run(prompt("Hello"))
        with trio.fail_after(5):
            await turn.aclose()
            with pytest.raises(trio.ClosedResourceError):
                await turn.receive()
        assert await reply(session, "Hello")


async def test_who_still_receives_when_the_session_closes_is_told(nursery: trio.Nursery) -> None:
    told: list[str] = []

    async def receive(turn: Turn) -> None:
        try:
            await rest_of(turn)
        except trio.ClosedResourceError:
            told.append("closed")

    with trio.fail_after(5):
        async with eliza().session(prompt("")) as session:
            nursery.start_soon(receive, session.run(prompt("!hang")))
            await wait_all_tasks_blocked()
        await wait_all_tasks_blocked()
    assert told == ["closed"]


async def test_a_session_without_a_turn_opens_and_closes() -> None:
    async with eliza().session(prompt("")) as session:
        session.answer(ToolAnswer("nobody's", 1))
        with trio.fail_after(5):
            await session.cancel()


# Laws.

texts = st.lists(
    st.sampled_from(
        [
            *("Hello", "because", "My dog ate it", "Hm", "!think", "!error", "!tool nothing"),
            *("!long x", "I am sad", "My cat", "", "<prompt>my Bach</prompt>"),
        ]
    ),
    min_size=1,
)


@given(texts, texts)
def test_replaying_a_transcript_is_like_having_lived_it(
    past: list[str], present: list[str]
) -> None:
    async def compare() -> None:
        lived = await conversation([prompt(text) for text in (*past, *present)])
        first, *others = present
        echoed = [message for text in past for message in (user(text), assistant("I see."))]
        transcript = (assistant("!hang"), *echoed)
        replayed = await conversation(
            [prompt(first, transcript=transcript), *(prompt(text) for text in others)]
        )
        assert replayed == lived[len(past) :]

    trio.run(compare)


@given(texts, texts)
def test_sessions_never_influence_each_other(mine: list[str], others: list[str]) -> None:
    async def compare() -> None:
        alone = await conversation([prompt(text) for text in mine])
        agent = eliza()
        answers: list[list[Event]] = []
        async with agent.session(prompt("")) as session, agent.session(prompt("")) as other:
            for number, text in enumerate(mine):
                turn = session.run(prompt(text))
                await rest_of(other.run(prompt(others[number % len(others)])))
                answers.append(await rest_of(turn))
        assert answers == alone

    trio.run(compare)


@given(texts)
def test_how_messages_are_spread_over_turns_does_not_change_what_she_knows(
    heard: list[str],
) -> None:
    async def compare() -> None:
        one_by_one = await conversation([*map(prompt, heard), prompt("Hm"), prompt("because")])
        at_once = await conversation([prompt(*heard), prompt("Hm"), prompt("because")])
        assert at_once[-2:] == one_by_one[-2:]

    trio.run(compare)
