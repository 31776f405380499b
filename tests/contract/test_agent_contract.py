"""What every agent must do, whatever it is: the contract of `agents.base`, over each kind of agent.

A new kind of agent joins by one more factory in `subjects.SUBJECTS`. Where two agents may differ,
nothing is asserted.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager
from itertools import pairwise

import pytest
import trio
from msgspec.structs import replace
from trio.testing import wait_all_tasks_blocked

from agents.base import AgentError, AgentSession, Turn
from agents.events import (
    CANCELLED,
    AskPermission,
    Await,
    Break,
    CallTool,
    Decision,
    Event,
    PermissionAnswer,
    Prompt,
    Say,
    Stop,
    ToolAnswer,
)
from agents.origin import ForkOf, Origin, Resumed
from bridge.errors import Failure, LocalError
from bridge.wire import ChatMessage, TextPart, ToolSpec
from tests.agents.talk import rest_of, said, up_to
from tests.fakes.scripted_agent import (
    STOP_CANCELLED,
    Crash,
    Deaf,
    Do,
    Gate,
    Hang,
    Linger,
    ScriptedAgent,
)
from tests.fakes.waiting import until

from .subjects import SKIPPED_FOR, SUBJECTS, Subject


@pytest.fixture(params=SUBJECTS, ids=lambda factory: factory.__name__)
async def subject(request: pytest.FixtureRequest) -> AsyncGenerator[Subject, None]:
    factory: Callable[[], AbstractAsyncContextManager[Subject]] = request.param
    async with factory() as made:
        yield made
        request.node.stash[SKIPPED_FOR] = ", ".join(made.lacking)


# How a caller goes about it.


def user(text: str) -> ChatMessage:
    return ChatMessage("user", (TextPart(text),))


def asking(text: str, *transcript: ChatMessage) -> Prompt:
    return Prompt((user(text),), transcript, tools=(ToolSpec("read_file"),))


async def answer_to(session: AgentSession, text: str) -> str:
    return said(await rest_of(session.run(asking(text))))


def questions(events: list[Event]) -> list[str]:
    return [event.call_id for event in events if isinstance(event, CallTool | AskPermission)]


def parts(text: str) -> list[dict[str, str]]:
    """A tool's result as VS Code sends it."""
    return [{"type": "text", "value": text}]


# A turn.


async def test_a_turn_says_something_and_ends_with_one_stop(subject: Subject) -> None:
    prompt = asking(subject.plain)
    async with subject.agent.session(prompt) as session:
        events = await rest_of(session.run(prompt))
    assert said(events)
    assert [event for event in events if isinstance(event, Stop | Break)] == [Stop()]
    assert events[-1] == Stop()


async def test_after_its_last_event_a_turn_stays_at_its_end(subject: Subject) -> None:
    prompt = asking(subject.plain)
    async with subject.agent.session(prompt) as session:
        turn = session.run(prompt)
        await rest_of(turn)
        for _ in range(2):
            with trio.fail_after(5), pytest.raises(trio.EndOfChannel):
                await turn.receive()


async def test_a_session_can_offer_what_it_was_opened_with(subject: Subject) -> None:
    prompt = asking(subject.plain)
    async with subject.agent.session(prompt) as session:
        assert session.can_offer(prompt.tools, prompt.settings)


async def test_no_batch_is_empty(subject: Subject) -> None:
    prompt = asking(subject.long)
    async with subject.agent.session(prompt) as session:
        with trio.fail_after(5):
            assert all([len(batch) > 0 async for batch in session.run(prompt)])


async def test_a_long_answer_comes_whole_and_in_several_batches(subject: Subject) -> None:
    prompt = asking(subject.long)
    async with subject.agent.session(prompt) as session:
        with trio.fail_after(5):
            batches = [batch async for batch in session.run(prompt)]
    assert len(batches) > 1
    assert len(said([event for batch in batches for event in batch]).split()) >= 1000


async def test_a_receive_that_is_cancelled_loses_nothing(subject: Subject) -> None:
    prompt = asking(subject.plain)
    async with subject.agent.session(prompt) as session:
        whole = await rest_of(session.run(prompt))
    async with subject.agent.session(prompt) as session:
        turn = session.run(prompt)
        with trio.CancelScope() as scope:
            scope.cancel()
            await turn.receive()
        assert scope.cancelled_caught
        assert said(await rest_of(turn)) == said(whole)


# Questions and answers.


async def test_a_tool_is_called_before_the_turn_waits_and_its_result_reaches_it(
    subject: Subject,
) -> None:
    prompt = asking(subject.call_tool)
    async with subject.agent.session(prompt) as session:
        turn = session.run(prompt)
        asked = await up_to(turn, Await)
        assert isinstance(asked[-1], Await)
        (call,) = (event for event in asked if isinstance(event, CallTool))
        assert call.name == "read_file"
        session.answer(ToolAnswer(call.call_id, parts("forty-two")))
        told = await rest_of(turn)
    assert "forty-two" in said(told)
    assert told[-1] == Stop()


async def test_a_tool_that_failed_reaches_the_turn_too(subject: Subject) -> None:
    prompt = asking(subject.call_tool)
    async with subject.agent.session(prompt) as session:
        turn = session.run(prompt)
        (call_id,) = questions(await up_to(turn, Await))
        session.answer(ToolAnswer(call_id, parts("no such file"), is_error=True))
        told = await rest_of(turn)
    assert "no such file" in said(told)
    assert told[-1] == Stop()


async def test_a_turn_that_waits_says_nothing_until_it_is_answered(
    subject: Subject, nursery: trio.Nursery
) -> None:
    prompt = asking(subject.call_tool)
    async with subject.agent.session(prompt) as session:
        turn = session.run(prompt)
        (call_id,) = questions(await up_to(turn, Await))
        told: list[Event] = []
        has_ended = trio.Event()

        async def receive_the_rest() -> None:
            async for batch in turn:
                told.extend(batch)
            has_ended.set()

        nursery.start_soon(receive_the_rest)
        with trio.fail_after(5):
            await wait_all_tasks_blocked()
            assert told == []
            session.answer(ToolAnswer(call_id, parts("forty-two")))
            await has_ended.wait()
    assert told[-1] == Stop()


async def test_an_answer_may_come_before_the_turn_has_said_that_it_waits(subject: Subject) -> None:
    prompt = asking(subject.call_tool)
    async with subject.agent.session(prompt) as session:
        turn = session.run(prompt)
        (call_id,) = questions(await up_to(turn, CallTool))
        session.answer(ToolAnswer(call_id, parts("forty-two")))
        assert "forty-two" in said(await rest_of(turn))


async def test_other_tools_may_be_offered_while_a_turn_waits(subject: Subject) -> None:
    prompt = asking(subject.call_tool)
    async with subject.agent.session(prompt) as session:
        turn = session.run(prompt)
        (call_id,) = questions(await up_to(turn, Await))
        with trio.fail_after(5):
            await session.renew(replace(prompt, tools=(*prompt.tools, ToolSpec("write_file"))))
        session.answer(ToolAnswer(call_id, parts("forty-two")))
        assert "forty-two" in said(await rest_of(turn))


@pytest.mark.parametrize("first", [0, 1])
async def test_calls_made_at_once_are_answered_in_any_order(subject: Subject, first: int) -> None:
    prompt = asking(subject.call_two_tools)
    async with subject.agent.session(prompt) as session:
        turn = session.run(prompt)
        asked = await up_to(turn, Await)
        assert [type(event) for event in asked].count(Await) == 1
        calls = questions(asked)
        assert len(set(calls)) == 2
        session.answer(ToolAnswer(calls[first], parts("forty-two")))
        session.answer(ToolAnswer(calls[1 - first], parts("seventeen")))
        told = said(await rest_of(turn))
    assert "forty-two" in told
    assert "seventeen" in told


async def test_a_turn_waits_for_every_answer(subject: Subject, nursery: trio.Nursery) -> None:
    prompt = asking(subject.call_two_tools)
    async with subject.agent.session(prompt) as session:
        turn = session.run(prompt)
        first, second = questions(await up_to(turn, Await))
        told: list[Event] = []
        has_ended = trio.Event()

        async def receive_the_rest() -> None:
            async for batch in turn:
                told.extend(batch)
            has_ended.set()

        nursery.start_soon(receive_the_rest)
        with trio.fail_after(5):
            session.answer(ToolAnswer(second, parts("seventeen")))
            session.answer(PermissionAnswer("nobody's", Decision.ALLOWED))
            await wait_all_tasks_blocked()
            assert told == []
            session.answer(ToolAnswer(first, parts("forty-two")))
            await has_ended.wait()
    assert told[-1] == Stop()


async def test_answers_that_nobody_waits_for_have_no_effect(subject: Subject) -> None:
    """Before the first turn, beside the right ones, twice, and after the end."""
    prompt = asking(subject.call_two_tools)
    stray = [
        ToolAnswer("nobody's", parts("stray")),
        PermissionAnswer("nobody's", Decision.ALLOWED),
        PermissionAnswer("nobody's", Decision.ABANDONED),
    ]
    async with subject.agent.session(prompt) as session:
        for answer in stray:
            session.answer(answer)
        turn = session.run(prompt)
        first, second = questions(await up_to(turn, Await))
        for answer in stray:
            session.answer(answer)
        session.answer(ToolAnswer(first, parts("forty-two")))
        session.answer(ToolAnswer(first, parts("stray")))
        session.answer(ToolAnswer(second, parts("seventeen")))
        told = said(await rest_of(turn))
        session.answer(ToolAnswer(second, parts("stray")))
        after = await answer_to(session, subject.plain)
    assert "forty-two" in told
    assert "stray" not in told
    assert after


async def test_call_ids_are_never_used_again(subject: Subject) -> None:
    ids: list[str] = []
    prompt = asking(subject.call_two_tools)
    for _ in range(2):
        async with subject.agent.session(prompt) as session:
            for _ in range(2):
                turn = session.run(prompt)
                ids += questions(await up_to(turn, Await))
                with trio.fail_after(5):
                    await session.cancel()
                await rest_of(turn)
    assert len(ids) == len(set(ids)) == 8


@pytest.mark.parametrize("decision", [Decision.ALLOWED, Decision.DENIED])
async def test_the_users_decision_reaches_the_turn(subject: Subject, decision: Decision) -> None:
    prompt = asking(subject.ask_permission)
    async with subject.agent.session(prompt) as session:
        turn = session.run(prompt)
        asked = await up_to(turn, Await)
        (question,) = (event for event in asked if isinstance(event, AskPermission))
        assert question.title
        session.answer(PermissionAnswer(question.call_id, decision))
        told = await rest_of(turn)
    assert decision.value in said(told)
    assert told[-1] == Stop()


async def test_a_turn_whose_question_was_abandoned_ends_cancelled(subject: Subject) -> None:
    prompt = asking(subject.ask_permission)
    async with subject.agent.session(prompt) as session:
        turn = session.run(prompt)
        (call_id,) = questions(await up_to(turn, Await))
        session.answer(PermissionAnswer(call_id, Decision.ABANDONED))
        with trio.fail_after(5):
            await session.cancel()
        assert (await rest_of(turn))[-1] == CANCELLED


# Cancellation.


@pytest.mark.parametrize("cancels", [1, 2])
@pytest.mark.parametrize(
    ("behaviour", "seen"),
    [("hang", Say), ("long", Say), ("call_tool", Await), ("ask_permission", Await)],
)
async def test_a_cancelled_turn_ends_with_one_stop_that_says_so(
    subject: Subject, behaviour: str, seen: type[Event], cancels: int
) -> None:
    prompt = asking(getattr(subject, behaviour))
    async with subject.agent.session(prompt) as session:
        turn = session.run(prompt)
        await up_to(turn, seen)
        with trio.fail_after(5):
            for _ in range(cancels):
                await session.cancel()
        told = await rest_of(turn)
        assert [event for event in told if isinstance(event, Stop | Break)] == [CANCELLED]
        assert told[-1] == CANCELLED


@pytest.mark.parametrize(
    ("behaviour", "seen"), [("hang", Say), ("call_tool", Await), ("ask_permission", Await)]
)
async def test_a_cancel_wakes_who_is_receiving(
    subject: Subject, nursery: trio.Nursery, behaviour: str, seen: type[Event]
) -> None:
    prompt = asking(getattr(subject, behaviour))
    async with subject.agent.session(prompt) as session:
        turn = session.run(prompt)
        await up_to(turn, seen)
        told: list[Event] = []

        ended = trio.Event()

        async def receive_the_rest() -> None:
            async for batch in turn:
                told.extend(batch)
            ended.set()

        nursery.start_soon(receive_the_rest)
        with trio.fail_after(5):
            await wait_all_tasks_blocked()
            await session.cancel()
            await ended.wait()
    assert told[-1] == CANCELLED


async def test_a_turn_may_be_cancelled_before_anything_was_received(subject: Subject) -> None:
    prompt = asking(subject.hang)
    async with subject.agent.session(prompt) as session:
        turn = session.run(prompt)
        with trio.fail_after(5):
            await session.cancel()
        assert (await rest_of(turn))[-1] == CANCELLED


async def test_a_cancelled_turn_leaves_nothing_behind_for_the_next(subject: Subject) -> None:
    prompt = asking(subject.call_tool)
    async with subject.agent.session(prompt) as session:
        turn = session.run(prompt)
        (call_id,) = questions(await up_to(turn, Await))
        with trio.fail_after(5):
            await session.cancel()
        await rest_of(turn)
        session.answer(ToolAnswer(call_id, parts("too late")))
        events = await rest_of(session.run(asking(subject.plain)))
    assert "too late" not in said(events)
    assert said(events)
    assert events[-1] == Stop()


async def test_a_cancel_without_a_turn_has_no_effect(subject: Subject) -> None:
    prompt = asking(subject.plain)
    async with subject.agent.session(prompt) as session:
        for _ in range(2):
            with trio.fail_after(5):
                await session.cancel()
            events = await rest_of(session.run(prompt))
            assert said(events)
            assert events[-1] == Stop()


# Failure.


async def test_a_session_goes_on_after_a_turn_broke(subject: Subject) -> None:
    prompt = asking(subject.introduce)
    async with subject.agent.session(prompt) as session:
        await rest_of(session.run(prompt))
        events = await rest_of(session.run(asking(subject.fail)))
        assert [event for event in events if isinstance(event, Stop | Break)] == events[-1:]
        assert isinstance(events[-1], Break)
        assert events[-1].failure.message
        assert subject.remembered in await answer_to(session, subject.recall)


# Memory.


async def test_a_turn_knows_of_the_one_before(subject: Subject) -> None:
    prompt = asking(subject.introduce)
    async with subject.agent.session(prompt) as session:
        await rest_of(session.run(prompt))
        assert subject.remembered in await answer_to(session, subject.recall)


async def test_a_turn_knows_of_a_cancelled_one_before(subject: Subject) -> None:
    """The user said it all the same."""
    prompt = asking(subject.introduce)
    async with subject.agent.session(prompt) as session:
        turn = session.run(prompt)
        with trio.fail_after(5):
            await session.cancel()
        await rest_of(turn)
        assert subject.remembered in await answer_to(session, subject.recall)


async def test_a_transcript_is_known_as_if_it_had_been_lived_through(subject: Subject) -> None:
    answer = ChatMessage("assistant", (TextPart("I see."),))
    prompt = asking(subject.recall, user(subject.introduce), answer)
    async with subject.agent.session(prompt) as session:
        assert subject.remembered in said(await rest_of(session.run(prompt)))


async def test_a_session_knows_nothing_of_another(subject: Subject) -> None:
    prompt = asking(subject.introduce)
    async with (
        subject.agent.session(prompt) as session,
        subject.agent.session(asking(subject.recall)) as other,
    ):
        await rest_of(session.run(prompt))
        assert subject.remembered not in await answer_to(other, subject.recall)
        assert subject.remembered in await answer_to(session, subject.recall)


async def test_turns_of_two_sessions_run_side_by_side(subject: Subject) -> None:
    prompt = asking(subject.call_tool)
    async with (
        subject.agent.session(prompt) as session,
        subject.agent.session(prompt) as other,
    ):
        turn, other_turn = session.run(prompt), other.run(prompt)
        (call_id,) = questions(await up_to(turn, Await))
        (other_id,) = questions(await up_to(other_turn, Await))
        assert call_id != other_id
        with trio.fail_after(5):
            await other.cancel()
        session.answer(ToolAnswer(call_id, parts("forty-two")))
        assert "forty-two" in said(await rest_of(turn))
        assert (await rest_of(other_turn))[-1] == CANCELLED


# Sessions that exist.

NOBODYS = "a session that nobody has"


async def test_a_session_that_begins_with_nothing_says_so(subject: Subject) -> None:
    prompt = asking(subject.plain)
    async with subject.agent.session(prompt) as session:
        assert not session.knows_history
        assert session.lost is None


@pytest.mark.parametrize("origin_of", [Resumed, ForkOf])
async def test_a_session_that_can_t_be_had_is_a_fresh_one_and_says_so(
    subject: Subject, origin_of: Callable[[str], Origin]
) -> None:
    prompt = asking(subject.introduce)
    async with subject.agent.session(prompt, origin_of(NOBODYS)) as session:
        assert not session.knows_history
        assert await answer_to(session, subject.introduce)
        assert subject.remembered in await answer_to(session, subject.recall)


@pytest.mark.parametrize("origin_of", [Resumed, ForkOf])
async def test_a_session_that_was_closed_is_found_by_its_handle_and_remembers(
    subject: Subject, origin_of: Callable[[str], Origin]
) -> None:
    prompt = asking(subject.introduce)
    async with subject.agent.session(prompt) as session:
        handle = subject.handle_of(session)
        await rest_of(session.run(prompt))
    async with subject.agent.session(asking(subject.recall), origin_of(handle)) as again:
        assert again.knows_history
        assert subject.remembered in await answer_to(again, subject.recall)


async def test_a_session_goes_on_being_found(subject: Subject) -> None:
    prompt = asking(subject.introduce)
    async with subject.agent.session(prompt) as session:
        handle = subject.handle_of(session)
        await rest_of(session.run(prompt))
    for _ in range(3):
        async with subject.agent.session(prompt, Resumed(handle)) as again:
            assert again.knows_history
            handle = subject.handle_of(again)
            assert subject.remembered in await answer_to(again, subject.recall)


async def test_a_fork_knows_what_was_said_and_is_another_session(subject: Subject) -> None:
    prompt = asking(subject.plain)
    async with subject.agent.session(prompt) as session:
        handle = subject.handle_of(session)
        await rest_of(session.run(prompt))
        async with subject.agent.session(prompt, ForkOf(handle)) as fork:
            assert fork.knows_history
            assert fork.handle != handle
            await answer_to(fork, subject.introduce)
            assert subject.remembered in await answer_to(fork, subject.recall)
        assert subject.remembered not in await answer_to(session, subject.recall)


# Lifetime.


@pytest.mark.parametrize(
    ("behaviour", "seen"), [("hang", Say), ("long", Say), ("call_tool", Await)]
)
async def test_a_session_closed_in_the_middle_of_a_turn_leaves_no_task(
    subject: Subject, behaviour: str, seen: type[Event]
) -> None:
    prompt = asking(getattr(subject, behaviour))
    tasks: list[int] = []
    for _ in range(4):
        with trio.fail_after(5):
            async with subject.agent.session(prompt) as session:
                await up_to(session.run(prompt), seen)
            await wait_all_tasks_blocked()
        tasks.append(trio.lowlevel.current_statistics().tasks_living)
    # What an agent starts once for all its sessions doesn't count, nor that a child which is slow
    # on a busy machine is replaced. What is left each time makes each number larger than the last,
    # and stays; a task of a server's connection only ends a little later than its session.
    if all(after > before for before, after in pairwise(tasks)):
        most = tasks[0] + len(tasks) - 2
        await until(lambda: trio.lowlevel.current_statistics().tasks_living <= most)


# What only the fake can do.

GONE = Failure("AgentFailed", "it is gone")


async def test_a_scripted_agent_tells_what_it_was_told() -> None:
    agent = ScriptedAgent([[Say("one")], [CallTool("a", "read_file", {}), Await(), Hang()]])
    first, second = asking("first"), asking("second")
    async with agent.session(first) as session, agent.session(second):
        assert agent.sessions_open == 2
        assert said(await rest_of(session.run(first))) == "one"
        turn = session.run(second)
        await up_to(turn, Await)
        answers = [ToolAnswer("b", 1), ToolAnswer("a", 2)]
        for answer in answers:
            session.answer(answer)
        with trio.fail_after(5):
            await session.cancel()
        await rest_of(turn)
        with trio.fail_after(5):
            await session.cancel()
        assert said(await rest_of(session.run(first))) == "ok"
    assert agent.prompts == [first, second, first]
    assert agent.answers == answers
    assert session.answers == {"a": answers[1]}
    assert agent.cancels == [2, 0]
    assert (agent.sessions_opened, agent.sessions_closed) == ([1, 2], [2, 1])


async def test_a_lingering_turn_goes_on_after_a_cancel_and_then_stops() -> None:
    agent = ScriptedAgent([[Linger(2)]])
    async with agent.session(asking("")) as session:
        turn = session.run(asking(""))
        with trio.fail_after(5):
            await session.cancel()
        assert await rest_of(turn) == [Say("late "), Say("late "), STOP_CANCELLED]


async def test_a_turn_may_do_anything_when_it_is_cancelled() -> None:
    agent = ScriptedAgent([[Say("a"), Say("b")]], when_cancelled=[Say("still"), Stop()])
    async with agent.session(asking("")) as session:
        turn = session.run(asking(""))
        await up_to(turn, Say)
        with trio.fail_after(5):
            await session.cancel()
        assert await rest_of(turn) == [Say("still"), Stop()]


@pytest.mark.parametrize(
    "agent", [ScriptedAgent([[Deaf()]]), ScriptedAgent([[Hang()]], when_cancelled=[Deaf()])]
)
async def test_a_deaf_turn_never_stops(agent: ScriptedAgent, nursery: trio.Nursery) -> None:
    told: list[str] = []

    async def receive(turn: Turn) -> None:
        try:
            await turn.receive()
        except trio.ClosedResourceError:
            told.append("closed")

    with trio.fail_after(5):
        async with agent.session(asking("")) as session:
            nursery.start_soon(receive, session.run(asking("")))
            for _ in range(2):
                await wait_all_tasks_blocked()
                await session.cancel()
            await wait_all_tasks_blocked()
            assert told == []
        await wait_all_tasks_blocked()
    assert told == ["closed"]


async def test_a_crash_loses_the_session_and_no_other() -> None:
    agent = ScriptedAgent([[Say("a"), Crash(GONE)], [], [], [Say("c")]])
    async with agent.session(asking("")) as session, agent.session(asking("")) as other:
        turn = session.run(asking(""))
        await up_to(turn, Say)
        for _ in range(2):
            with trio.fail_after(5), pytest.raises(AgentError) as caught:
                await turn.receive()
            assert caught.value.failure is GONE
            turn = session.run(asking(""))
        assert said(await rest_of(other.run(asking("")))) == "c"


async def test_a_gate_holds_a_turn_until_it_is_opened(nursery: trio.Nursery) -> None:
    gate, done = Gate(), trio.Event()
    agent = ScriptedAgent([[gate, Do(done.set), Say("through")]])
    told: list[Event] = []

    async def receive(turn: Turn) -> None:
        told.extend(await rest_of(turn))

    with trio.fail_after(5):
        async with agent.session(asking("")) as session:
            nursery.start_soon(receive, session.run(asking("")))
            await gate.reached.wait()
            await wait_all_tasks_blocked()
            assert not done.is_set()
            gate.opened.set()
            await done.wait()
            await wait_all_tasks_blocked()
    assert told == [Say("through"), Stop()]


async def test_a_gate_that_is_open_holds_nobody() -> None:
    gate = Gate()
    gate.opened.set()
    agent = ScriptedAgent([[gate, Say("through")]])
    async with agent.session(asking("")) as session:
        assert said(await rest_of(session.run(asking("")))) == "through"
    assert gate.reached.is_set()


async def test_a_scripted_turn_can_be_closed() -> None:
    async with ScriptedAgent().session(asking("")) as session:
        turn = session.run(asking(""))
        with trio.fail_after(5):
            await turn.aclose()
            with pytest.raises(trio.ClosedResourceError):
                await turn.receive()


async def test_a_gate_lets_a_cancel_through(nursery: trio.Nursery) -> None:
    gate = Gate()
    agent = ScriptedAgent([[gate]])
    told: list[Event] = []

    async def receive(turn: Turn) -> None:
        told.extend(await rest_of(turn))

    with trio.fail_after(5):
        async with agent.session(asking("")) as session:
            nursery.start_soon(receive, session.run(asking("")))
            await gate.reached.wait()
            await session.cancel()
            await wait_all_tasks_blocked()
    assert told == [STOP_CANCELLED]


async def test_a_scripted_agent_may_fail_or_be_slow_to_open_and_close(
    nursery: trio.Nursery,
) -> None:
    opening, closing = Gate(), Gate()
    agent = ScriptedAgent(opening=[opening], closing=[closing])

    async def visit() -> None:
        async with agent.session(asking("")):
            pass

    with trio.fail_after(5):
        nursery.start_soon(visit)
        await opening.reached.wait()
        assert agent.sessions_opened == []
        opening.opened.set()
        await closing.reached.wait()
        assert agent.sessions_open == 1
        closing.opened.set()
        await wait_all_tasks_blocked()
        assert agent.sessions_open == 0
        with pytest.raises(AgentError, match="it is gone"):
            async with ScriptedAgent(opening=[Crash(GONE)]).session(asking("")):
                pass


async def test_a_scripted_agent_is_strict_with_its_caller() -> None:
    agent = ScriptedAgent([[Say("a")]])
    async with agent.session(asking("")) as session:
        session.run(asking(""))
        with pytest.raises(LocalError, match="turn 1 has not ended"):
            session.run(asking(""))
    with pytest.raises(LocalError, match="session 1 is closed"):
        session.run(asking(""))
