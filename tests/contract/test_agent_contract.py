"""What every agent must do, whatever it is: the contract of `agents.base`, over each kind of agent.

A `Subject` is an agent under test with the texts that bring out each behaviour; a new kind of agent
joins by one more factory in `SUBJECTS`. Where two agents may differ, nothing is asserted.
`tests.fakes.acp_agents` has the ACP agents: one in this process, one that is a process.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from itertools import count, pairwise
from typing import Any

import attrs
import pytest
import trio
from msgspec.structs import replace
from trio.testing import wait_all_tasks_blocked

from agents.base import Agent, AgentError, AgentSession, Turn
from agents.eliza import ElizaAgent
from agents.events import (
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
    StopReason,
    ToolAnswer,
)
from agents.open_responses.agent import OpenResponsesAgent
from agents.origin import ForkOf, Origin, Resumed
from bridge.errors import Failure, LocalError
from bridge.request_text import request_text
from bridge.wire import ChatMessage, ElizaSpec, OpenResponsesSpec, TextPart, ToolSpec
from tests.fakes.acp_agents import agent_as_child, agent_in_process
from tests.fakes.responses_events import Call, Output, Text
from tests.fakes.responses_server import Context, Plan, remember, responses_server
from tests.fakes.scripted_agent import (
    STOP_CANCELLED,
    Burst,
    Crash,
    Deaf,
    Do,
    Gate,
    Hang,
    Linger,
    ScriptedAgent,
    ScriptedSession,
    Step,
    Tell,
)


@attrs.frozen
class Subject:
    """An agent and the texts that make it do things; `read_file` is the tool it is offered."""

    agent: Agent
    plain: str
    hang: str
    """Says something, then nothing more."""
    fail: str
    """Fails in a way that the session survives."""
    long: str
    """Says a thousand words at least."""
    introduce: str
    recall: str
    remembered: str
    """What the answer to `recall` holds if the session knows of `introduce`, and only then."""
    asks_permission: str | None = None
    calls_tool: str | None = None
    calls_two_tools: str | None = None

    @property
    def ask_permission(self) -> str:
        """Asks once, then says "allowed" or "denied"."""
        return self.asks_permission or pytest.skip("it never asks")

    @property
    def call_tool(self) -> str:
        """Calls `read_file` once, then shows the result."""
        return self.calls_tool or pytest.skip("it has no tools of the editor's")

    @property
    def call_two_tools(self) -> str:
        """Calls it twice at once, then shows both results."""
        return self.calls_two_tools or pytest.skip("it has no tools of the editor's")


# The subjects.


@asynccontextmanager
async def eliza() -> AsyncGenerator[Subject, None]:
    numbers = count()
    yield Subject(
        agent=ElizaAgent(
            ElizaSpec(deterministic=True), new_call_id=lambda: f"eliza-{next(numbers)}"
        ),
        plain="Hello!",
        calls_tool='!tool read_file {"path": "a.txt"}',
        calls_two_tools='!tool read_file {"path": "a.txt"}\n!tool read_file {"path": "b.txt"}',
        asks_permission="!permission Delete everything",
        hang="!hang",
        fail="!error",
        long="!long 1000",
        introduce="My dog ate the homework.",
        recall="Hm.",
        remembered="dog ate the homework",
    )


@asynccontextmanager
async def scripted() -> AsyncGenerator[Subject, None]:
    numbers = count()

    def call() -> CallTool:
        return CallTool(f"scripted-{next(numbers)}", "read_file", {"path": "a.txt"})

    def results(session: ScriptedSession) -> str:
        answers = session.answers.values()
        return " ".join(
            repr(answer.result) if isinstance(answer, ToolAnswer) else answer.decision.value
            for answer in answers
        )

    def memory(session: ScriptedSession) -> str:
        told = [*session.prompts[0].transcript]
        told += [message for prompt in session.prompts for message in prompt.messages]
        return " / ".join(request_text(message) or "" for message in told)

    def script(session: ScriptedSession, prompt: Prompt) -> list[Step]:
        match request_text(prompt.messages[-1]):
            case "tool":
                return [Say("Let me see. "), call(), Await(), Tell(results)]
            case "tools":
                return [call(), call(), Await(), Tell(results)]
            case "permission":
                question = AskPermission(f"scripted-{next(numbers)}", "Delete everything")
                return [question, Await(), Tell(results)]
            case "hang":
                return [Say("Wait ..."), Hang()]
            case "fail":
                return [Say("Oh, "), Break(Failure("AgentFailed", "it failed"))]
            case "long":
                return [Burst((Say("word "),) * 100)] * 10
            case _:
                return [Tell(memory)]

    yield Subject(
        agent=ScriptedAgent(script),
        plain="hello",
        calls_tool="tool",
        calls_two_tools="tools",
        asks_permission="permission",
        hang="hang",
        fail="fail",
        long="long",
        introduce="I am called Ada",
        recall="what?",
        remembered="Ada",
    )


ACP_TURNS: dict[str, list[dict[str, Any]]] = {
    "permission": [
        {"ask": {"toolCallId": "1", "title": "Delete everything"}},
        {"await": True},
        {"outcomes": True},
    ],
    "hang": [{"say": "Wait ..."}, {"hang": True}],
    "fail": [{"say": "Oh, "}, {"error": {"code": -32603, "message": "it failed"}}],
    "long": [{"say": "word ", "times": 1000}],
}


def acp_subject(agent: Agent) -> Subject:
    return Subject(
        agent=agent,
        plain="hello",
        asks_permission="permission",
        hang="hang",
        fail="fail",
        long="long",
        introduce="I am called Ada",
        recall="what?",
        remembered="Ada",
    )


ACP_SCRIPT = {"words": ACP_TURNS, "otherwise": [{"memory": True}]}


@asynccontextmanager
async def acp() -> AsyncGenerator[Subject, None]:
    async with agent_in_process(ACP_SCRIPT) as (agent, peers):
        yield acp_subject(agent)
        assert peers.faults == []


@asynccontextmanager
async def acp_child() -> AsyncGenerator[Subject, None]:
    async with agent_as_child(ACP_SCRIPT) as (agent, child):
        yield acp_subject(agent)
        assert child.faults == []


@asynccontextmanager
async def open_responses() -> AsyncGenerator[Subject, None]:
    async with responses_subject(stateful=True) as made:
        yield made


@asynccontextmanager
async def open_responses_stateless() -> AsyncGenerator[Subject, None]:
    async with responses_subject(stateful=False) as made:
        yield made


@asynccontextmanager
async def responses_subject(*, stateful: bool) -> AsyncGenerator[Subject, None]:
    def model(context: Context) -> Sequence[Output] | Plan:
        if context.results:
            return [Text(" ".join(context.results))]
        match context.users[-1]:
            case "tool":
                return [Text("Let me see. "), Call("read_file", {"path": "a.txt"})]
            case "tools":
                return [Call("read_file", {"path": name}) for name in ("a.txt", "b.txt")]
            case "hang":
                return Plan(outputs=[Text("Wait ...")], ending="hang")
            case "fail":
                return Plan(outputs=[Text("Oh, ")], ending="failed")
            case "long":
                return [Text("word " * 1000, pieces=1000)]
            case _:
                return remember(context)

    async with responses_server(model, stateful=stateful) as server, trio.open_nursery() as nursery:
        agent = OpenResponsesAgent(OpenResponsesSpec(server.base_url, "small"), nursery)
        yield Subject(
            agent=agent,
            plain="hello",
            calls_tool="tool",
            calls_two_tools="tools",
            hang="hang",
            fail="fail",
            long="long",
            introduce="I am called Ada",
            recall="what?",
            remembered="Ada",
        )
        await agent.aclose()
        nursery.cancel_scope.cancel()


SUBJECTS: list[Callable[[], AbstractAsyncContextManager[Subject]]] = [
    eliza,
    scripted,
    acp,
    acp_child,
    open_responses,
    open_responses_stateless,
]


@pytest.fixture(params=SUBJECTS, ids=lambda factory: factory.__name__)
async def subject(request: pytest.FixtureRequest) -> AsyncGenerator[Subject, None]:
    factory: Callable[[], AbstractAsyncContextManager[Subject]] = request.param
    async with factory() as made:
        yield made


# How a caller goes about it.


def user(text: str) -> ChatMessage:
    return ChatMessage("user", (TextPart(text),))


def asking(text: str, *transcript: ChatMessage) -> Prompt:
    return Prompt((user(text),), transcript, tools=(ToolSpec("read_file"),))


async def rest_of(turn: Turn) -> list[Event]:
    """Receive to the end."""
    with trio.fail_after(5):
        return [event async for batch in turn for event in batch]


async def up_to(turn: Turn, kind: type[Event]) -> list[Event]:
    """Receive until such an event was in a batch."""
    events: list[Event] = []
    with trio.fail_after(5):
        while not any(isinstance(event, kind) for event in events):
            events += await turn.receive()
    return events


async def answer_to(session: AgentSession, text: str) -> str:
    return said(await rest_of(session.run(asking(text))))


def said(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, Say))


def questions(events: list[Event]) -> list[str]:
    return [event.call_id for event in events if isinstance(event, CallTool | AskPermission)]


def parts(text: str) -> list[dict[str, str]]:
    """A tool's result as VS Code sends it."""
    return [{"type": "text", "value": text}]


CANCELLED = Stop(StopReason.CANCELLED)


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
        assert session.can_offer(prompt.tools)


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

        async def receive_the_rest() -> None:
            async for batch in turn:
                told.extend(batch)

        nursery.start_soon(receive_the_rest)
        with trio.fail_after(5):
            await wait_all_tasks_blocked()
            assert told == []
            session.answer(ToolAnswer(call_id, parts("forty-two")))
            await wait_all_tasks_blocked()
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

        async def receive_the_rest() -> None:
            async for batch in turn:
                told.extend(batch)

        nursery.start_soon(receive_the_rest)
        with trio.fail_after(5):
            session.answer(ToolAnswer(second, parts("seventeen")))
            session.answer(PermissionAnswer("nobody's", Decision.ALLOWED))
            await wait_all_tasks_blocked()
            assert told == []
            session.answer(ToolAnswer(first, parts("forty-two")))
            await wait_all_tasks_blocked()
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


def handle_of(session: AgentSession) -> str:
    return session.handle or pytest.skip("its sessions can't be found again")


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
        handle = handle_of(session)
        await rest_of(session.run(prompt))
    async with subject.agent.session(asking(subject.recall), origin_of(handle)) as again:
        assert again.knows_history
        assert subject.remembered in await answer_to(again, subject.recall)


async def test_a_session_goes_on_being_found(subject: Subject) -> None:
    prompt = asking(subject.introduce)
    async with subject.agent.session(prompt) as session:
        handle = handle_of(session)
        await rest_of(session.run(prompt))
    for _ in range(3):
        async with subject.agent.session(prompt, Resumed(handle)) as again:
            assert again.knows_history
            handle = handle_of(again)
            assert subject.remembered in await answer_to(again, subject.recall)


async def test_a_fork_knows_what_was_said_and_is_another_session(subject: Subject) -> None:
    prompt = asking(subject.plain)
    async with subject.agent.session(prompt) as session:
        handle = handle_of(session)
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
    # on a busy machine is replaced. What is left each time makes each number larger than the last.
    assert any(after <= before for before, after in pairwise(tasks)), tasks


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
