"""Turns with an ACP agent: what comes when, and how it ends."""

from __future__ import annotations

import gc
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import trio
from msgspec.structs import replace
from trio.testing import wait_all_tasks_blocked

from agents import breather
from agents.acp.questions import ANNOUNCED_SECONDS, GATHER_SECONDS, MOST_GATHER_SECONDS
from agents.acp.render import changed_files
from agents.acp.schema.content import TextContent
from agents.acp.session_channel import HIGH_WATER, MOST_LATE, MOST_QUESTIONS, PermissionRequested
from agents.acp.session_choices import CHANGE_SECONDS, NOT_ASKING
from agents.base import AgentError, AgentSession
from agents.events import (
    AskPermission,
    Await,
    Break,
    Decision,
    PermissionAnswer,
    Prompt,
    Say,
    Stop,
    StopReason,
    ToolAnswer,
)
from agents.habits import MOST_MISSES
from bridge.errors import LocalError
from bridge.wire import ChatMessage, Settings, TextPart
from tests.fakes.acp_agents import agent_in_process
from tests.fakes.acp_peer import PeerAgent

from .talk import answer_to, asking, awaits, call, questions, rest_of, said, up_to

if TYPE_CHECKING:
    from trio.testing import MockClock

JSON = dict[str, Any]
CANCELLED = Stop(StopReason.CANCELLED)
PROMPT = asking("x")


def chunk(text: str, **more: Any) -> JSON:
    return {"say": text, **more}


@asynccontextmanager
async def session_with(script: JSON) -> AsyncGenerator[tuple[AgentSession, PeerAgent], None]:
    """Open a session with an agent that has a script."""
    async with agent_in_process(script) as (agent, peers), agent.session(PROMPT) as session:
        yield session, peers


# Endings.


@pytest.mark.parametrize("reason", StopReason)
async def test_a_turn_ends_for_the_reason_that_the_agent_gives(
    autojump_clock: MockClock,
    reason: StopReason,
) -> None:
    async with session_with({"turns": [[{"stop": reason.value}]]}) as (session, _):
        assert (await rest_of(session.run(PROMPT)))[-1] == Stop(reason)


@pytest.mark.checklist(23)
async def test_a_reason_of_a_later_version_is_an_ordinary_end(
    autojump_clock: MockClock,
) -> None:
    """Point 23: an unknown stop reason is no error."""
    async with session_with({"turns": [[chunk("a"), {"stop": "paused"}]]}) as (session, _):
        assert await answer_to(session, "x") == "a"


@pytest.mark.parametrize(
    "answer",
    [
        {"stop": "end_turn"},
        {"stop": "cancelled"},
        {"stop": "refusal"},
        {"error": {"code": -32603, "message": "This operation was aborted"}},
        {"error": {"code": -32800, "message": "Request cancelled"}},
    ],
)
@pytest.mark.checklist(24)
async def test_whatever_the_agent_answers_after_our_cancel_is_a_cancel(
    autojump_clock: MockClock,
    answer: JSON,
) -> None:
    """Point 24: wrong stop reasons and errors."""
    script = {"turns": [[chunk("a"), {"hang": True}]], "when_cancelled": [chunk("b"), answer]}
    async with session_with(script) as (session, peers):
        turn = session.run(PROMPT)
        await up_to(turn, Say)
        await session.cancel()
        await session.cancel()
        assert (await rest_of(turn))[-1] == CANCELLED
        assert await answer_to(session, "next") == "ok"
        assert len(peers.asked("session/cancel")) == 1


@pytest.mark.parametrize(
    "answer",
    [
        {"error": {"code": -32603, "message": "Internal error"}},
        {"error": {"code": -32602, "message": "aborted"}},
        {"result": None},
    ],
)
@pytest.mark.checklist(24, 25)
async def test_a_stop_that_fails_is_a_cancel_and_loses_the_session(
    autojump_clock: MockClock, answer: JSON
) -> None:
    """Points 24 and 25: who knows whether the agent's turn still runs."""
    script = {"turns": [[chunk("a"), {"hang": True}]], "when_cancelled": [chunk("b"), answer]}
    async with session_with(script) as (session, peers):
        turn = session.run(PROMPT)
        await up_to(turn, Say)
        await session.cancel()
        assert (await rest_of(turn))[-1] == CANCELLED
        assert session.lost is not None
        with pytest.raises(AgentError, match="failed"):
            await rest_of(session.run(PROMPT))
        assert len(peers.asked("session/prompt")) == 1


@pytest.mark.checklist(24)
async def test_an_agent_that_always_says_cancelled_keeps_its_text(
    autojump_clock: MockClock,
) -> None:
    """Point 24."""
    async with session_with({"otherwise": [chunk("a"), {"stop": "cancelled"}]}) as (session, _):
        events = await rest_of(session.run(PROMPT))
        assert said(events) == "a"
        assert events[-1] == CANCELLED


async def test_a_turn_that_was_over_when_it_was_cancelled_costs_nothing(
    autojump_clock: MockClock,
) -> None:
    async with session_with({"turns": [[chunk("a")]]}) as (session, peers):
        turn = session.run(PROMPT)
        await up_to(turn, Say)
        await wait_all_tasks_blocked()
        await session.cancel()
        assert (await rest_of(turn))[-1] == CANCELLED
        assert peers.asked("session/cancel") == []


async def test_an_error_breaks_the_turn_and_the_session_goes_on(
    autojump_clock: MockClock,
) -> None:
    error = {"error": {"code": -32603, "message": "Internal error", "data": "boom"}}
    async with session_with({"turns": [[chunk("a"), error]]}) as (session, _):
        events = await rest_of(session.run(PROMPT))
        assert said(events) == "a"
        assert isinstance(events[-1], Break)
        assert "boom" in events[-1].failure.message
        assert await answer_to(session, "next") == "ok"


@pytest.mark.parametrize(
    "error",
    [
        {"code": -32002, "message": "Resource not found"},
        {"code": -32602, "message": "Unknown session id"},
    ],
)
@pytest.mark.checklist(17)
async def test_a_session_that_the_agent_doesn_t_know_any_more_is_lost(
    autojump_clock: MockClock,
    error: JSON,
) -> None:
    """Point 17: then the actor opens another, and tells it the transcript."""
    async with agent_in_process({"turns": [[{"error": error}]]}) as (agent, _):
        async with agent.session(PROMPT) as session:
            turn = session.run(PROMPT)
            with pytest.raises(AgentError):
                await rest_of(turn)
            with pytest.raises(AgentError):
                await session.run(PROMPT).receive()
        async with agent.session(PROMPT) as session:
            assert await answer_to(session, "next") == "ok"


@pytest.mark.checklist(26)
async def test_a_second_turn_must_wait_for_the_first(
    autojump_clock: MockClock,
) -> None:
    """Point 26: one prompt in flight."""
    async with session_with({"turns": [[{"hang": True}]]}) as (session, _):
        session.run(PROMPT)
        with pytest.raises(LocalError, match="still runs"):
            session.run(PROMPT)


@pytest.mark.checklist(26)
async def test_zero_usage_is_unknown(
    autojump_clock: MockClock,
) -> None:
    """Point 26."""
    usage = {"totalTokens": 0, "inputTokens": 0, "outputTokens": 0}
    result = {"result": {"stopReason": "end_turn", "usage": usage}}
    async with session_with({"turns": [[result]]}) as (session, _):
        assert await rest_of(session.run(PROMPT)) == [Stop()]


# Late.


async def test_a_turn_that_said_too_much_while_the_user_was_asked_fails_and_says_why(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents.acp.session_channel.MOST_UNREAD_BYTES", 100_000)
    flood = [*ASKS[:1], {"sleep": 1}, chunk("x" * 1_000, times=200)]
    script = {"turns": [[*flood, {"hang": True}]], "when_cancelled": [{"stop": "cancelled"}]}
    async with session_with(script) as (session, peers):
        turn = session.run(PROMPT)
        (question,) = questions(await up_to(turn, Await))
        await trio.sleep(10)
        session.answer(PermissionAnswer(question.call_id, Decision.ALLOWED))
        with pytest.raises(AgentError, match="while it waited for an answer"):
            await rest_of(turn)
        assert session.lost is not None
        assert peers.faults == []


@pytest.mark.parametrize("ends", ["stop", "error", "cancel"])
async def test_what_the_agent_was_told_is_not_held_after_its_turn(
    autojump_clock: MockClock, ends: str
) -> None:
    """It may be a whole chat with its images."""
    steps: dict[str, JSON] = {
        "stop": {"stop": "end_turn"},
        "error": {"error": {"code": -32603, "message": "odd"}},
        "cancel": {"hang": True},
    }
    async with session_with({"turns": [[steps[ends]]]}) as (session, _):
        turn = session.run(asking("a long story"))
        assert held("a long story")
        if ends == "cancel":
            with trio.move_on_after(1):
                await turn.receive()
            await session.cancel()
        await rest_of(turn)
        assert not held("a long story")


def held(text: str) -> list[object]:
    """Return what there is of a prompt with that text."""
    gc.collect()
    found = [one for one in gc.get_objects() if isinstance(one, Prompt | TextContent)]
    return [one for one in found if repr(text) in repr(one)]


@pytest.mark.checklist(21)
async def test_text_just_after_the_answer_belongs_to_the_turn(
    autojump_clock: MockClock,
) -> None:
    """Point 21: a grace of some 60 ms."""
    late = [chunk("a "), {"stop": "end_turn"}, {"sleep": 0.03}, chunk("tail")]
    async with session_with({"turns": [late]}) as (session, _):
        assert await answer_to(session, "x") == "a tail"


@pytest.mark.checklist(21)
async def test_text_long_after_the_answer_begins_the_next_one(
    autojump_clock: MockClock,
) -> None:
    """Point 21: and is said once."""
    late = [chunk("a"), {"stop": "end_turn"}, {"sleep": 5}, chunk("Late. ")]
    async with session_with({"turns": [late, [chunk("b")], [chunk("c")]]}) as (session, _):
        assert await answer_to(session, "x") == "a"
        await trio.sleep(10)
        assert await answer_to(session, "x") == "Late. b"
        assert await answer_to(session, "x") == "c"


async def test_late_text_outlives_a_turn_that_was_cancelled_before_its_prompt(
    autojump_clock: MockClock,
) -> None:
    """Point 21."""
    late = [chunk("a"), {"stop": "end_turn"}, {"sleep": 5}, chunk("Late. ")]
    async with session_with({"turns": [late]}) as (session, _):
        assert await answer_to(session, "x") == "a"
        await trio.sleep(10)
        turn = session.run(PROMPT)
        await session.cancel()
        assert await rest_of(turn) == [CANCELLED]
        assert await answer_to(session, "x") == "Late. ok"


async def test_text_after_a_turn_that_was_cancelled_at_its_end_is_dropped(
    autojump_clock: MockClock,
) -> None:
    """Point 21: the agent wasn't told, and the turn is a cancelled one all the same."""
    late = [chunk("a"), {"stop": "end_turn"}, {"sleep": 5}, chunk("Late. ")]
    async with session_with({"turns": [late]}) as (session, _):
        turn = session.run(PROMPT)
        await up_to(turn, Say)
        await session.cancel()
        assert (await rest_of(turn))[-1] == CANCELLED
        await trio.sleep(10)
        assert await answer_to(session, "x") == "ok"


@pytest.mark.checklist(21)
async def test_text_after_a_cancelled_turn_is_dropped(
    autojump_clock: MockClock,
) -> None:
    """Point 21: it would look like an answer to what the user asked instead."""
    script = {
        "turns": [[{"hang": True}]],
        "when_cancelled": [{"stop": "cancelled"}, {"sleep": 0.2}, chunk("stale")],
    }
    async with session_with(script) as (session, _):
        turn = session.run(PROMPT)
        with trio.move_on_after(1):
            await turn.receive()
        await session.cancel()
        assert await rest_of(turn) == [CANCELLED]
        await trio.sleep(1)
        assert await answer_to(session, "x") == "ok"


@pytest.mark.limit("agents.acp.session_channel.MOST_LATE")
async def test_what_comes_between_turns_is_bounded(
    autojump_clock: MockClock,
) -> None:
    late = [{"stop": "end_turn"}, {"sleep": 1}, chunk(".", times=3 * MOST_LATE)]
    async with session_with({"turns": [late]}) as (session, _):
        await answer_to(session, "x")
        await trio.sleep(2)
        assert len(await answer_to(session, "x")) == MOST_LATE + len("ok")


@pytest.mark.checklist(13)
async def test_commands_and_titles_may_come_at_any_time(
    autojump_clock: MockClock,
) -> None:
    """Point 13: after the answer to session/new, and between turns."""
    commands: JSON = {"sessionUpdate": "available_commands_update", "availableCommands": []}
    title = {"sessionUpdate": "session_info_update", "title": "A chat"}
    facts: list[JSON] = [{"update": commands}, {"update": title}]
    script = {
        "on": {"session/new": [*facts, {"finish": True}, {"sleep": 0}, *facts]},
        "turns": [[*facts, chunk("a"), {"stop": "end_turn"}, *facts, {"sleep": 9}, *facts]],
    }
    async with session_with(script) as (session, peers):
        assert await answer_to(session, "x") == "a"
        await trio.sleep(10)
        assert await answer_to(session, "x") == "ok"
        assert peers.faults == []


async def test_what_was_said_before_the_first_prompt_begins_the_first_answer(
    autojump_clock: MockClock,
) -> None:
    """Point 12."""
    script = {"on": {"session/new": [chunk("Welcome! ")]}}
    async with session_with(script) as (session, _):
        assert await answer_to(session, "x") == "Welcome! ok"


# Text.


@pytest.mark.checklist(23)
async def test_halves_of_a_character_are_joined_and_lone_ones_are_replaced(
    autojump_clock: MockClock,
) -> None:
    """Point 23: across chunks; at the end, or where something else follows, nothing is lost."""
    whole = [chunk("Hi \ud83d"), chunk("\ude00!")]
    broken: list[JSON] = [
        chunk("Hi \ud83d"),
        {"update": {"sessionUpdate": "plan", "entries": []}},
        chunk("!"),
    ]
    ends = [chunk("Hi \ud83d")]
    thinks = [chunk("Hi \ud83d"), {"think": "hm"}, chunk("\ude00")]
    async with session_with({"turns": [whole, broken, ends, thinks]}) as (session, _):
        assert await answer_to(session, "x") == "Hi 😀!"
        assert await answer_to(session, "x") == "Hi \ufffd!"
        assert await answer_to(session, "x") == "Hi \ufffd"
        text = await answer_to(session, "x")
        assert text.replace("\n", "") == "Hi \ufffd\ufffd"
        text.encode()


# Permission.

ASKS: list[JSON] = [{"ask": call()}, {"await": True}, {"outcomes": True}]


@pytest.mark.parametrize("decision", [Decision.ALLOWED, Decision.DENIED])
async def test_the_users_decision_reaches_the_agent(
    autojump_clock: MockClock,
    decision: Decision,
) -> None:
    """Points 29 to 31: allow_once and reject_once, which stand in the middle of the options."""
    async with session_with({"turns": [ASKS]}) as (session, peers):
        turn = session.run(PROMPT)
        asked = await up_to(turn, Await)
        (question,) = questions(asked)
        session.answer(ToolAnswer(question.call_id, "Approved"))
        session.answer(PermissionAnswer("another", Decision.ALLOWED))
        session.answer(PermissionAnswer(question.call_id, decision))
        session.answer(PermissionAnswer(question.call_id, Decision.ABANDONED))
        assert decision.value in said(await rest_of(turn))
        assert peers.faults == []


@pytest.mark.checklist(32)
async def test_questions_asked_at_once_are_awaited_together(
    autojump_clock: MockClock,
) -> None:
    """Point 32: each with an id of its own, in one response to the editor."""
    asks = [{"ask": call("a")}, {"sleep": 0.02}, {"ask": call("b")}, *ASKS[1:]]
    async with session_with({"turns": [asks]}) as (session, _):
        turn = session.run(PROMPT)
        asked = await up_to(turn, Await)
        first, second = questions(asked)
        assert awaits(asked) == 1
        session.answer(PermissionAnswer(second.call_id, Decision.DENIED))
        session.answer(PermissionAnswer(first.call_id, Decision.ALLOWED))
        assert "denied allowed" in said(await rest_of(turn))


async def test_what_a_command_wrote_is_shown_with_its_call(autojump_clock: MockClock) -> None:
    """An agent with terminals of its own tells in `_meta` what they show."""

    def news(**facts: Any) -> JSON:
        return {"update": {"sessionUpdate": "tool_call_update", "toolCallId": "c1", **facts}}

    def meta(key: str, **facts: Any) -> JSON:
        return {"_meta": {key: {"terminal_id": "c1", **facts}}}

    steps = [
        news(title="make", kind="execute", content=[{"type": "terminal", "terminalId": "c1"}]),
        news(**meta("terminal_output_delta", data="no rule\n")),
        {"sleep": 2},
        news(**meta("terminal_output_delta", data="to make it\n")),
        news(status="failed", **meta("terminal_exit", exit_code=2, signal=None)),
    ]
    async with session_with({"turns": [steps]}) as (session, _):
        text = said(await rest_of(session.run(PROMPT)))
    assert text == "▶️ make ✘ *failed: exit code 2*\n\n```\nno rule\nto make it\n```"


ANNOUNCED = {"sessionUpdate": "tool_call", **call(), "status": "pending"}


def overtaking(seconds: float) -> list[JSON]:
    """Return a turn in which a question comes so long before its call, and the text before that."""
    late = [{"sleep": seconds}, chunk("I delete it."), {"update": ANNOUNCED}]
    return [{"ask": call()}, *late, *ASKS[1:]]


@asynccontextmanager
async def session_that_announces(*turns: list[JSON]) -> AsyncGenerator[AgentSession]:
    """Open a session with an agent that has announced a call in a turn before."""
    first = [{"update": {**ANNOUNCED, "toolCallId": "c0", "status": "completed"}}]
    async with session_with({"turns": [first, *turns]}) as (session, _):
        await rest_of(session.run(PROMPT))
        yield session


async def test_a_question_comes_after_the_text_that_precedes_its_call(
    autojump_clock: MockClock,
) -> None:
    async with session_that_announces(overtaking(0.2)) as session:
        turn, began = session.run(PROMPT), trio.current_time()
        events = await up_to(turn, Await)
        assert trio.current_time() == pytest.approx(began + 0.2)
    assert [type(event) for event in events] == [Say, Say, AskPermission, Await]
    assert said(events) == "I delete it.\n\n🔧 Delete everything"


async def test_a_question_of_an_announced_call_is_asked_at_once(autojump_clock: MockClock) -> None:
    steps = [{"update": ANNOUNCED}, {"ask": call()}, *ASKS[1:]]
    async with session_that_announces(steps) as session:
        turn, began = session.run(PROMPT), trio.current_time()
        await up_to(turn, AskPermission)
        assert trio.current_time() == began
        await up_to(turn, Await)
        assert trio.current_time() == began + GATHER_SECONDS


@pytest.mark.limit("agents.acp.questions.ANNOUNCED_SECONDS")
async def test_an_agent_that_does_not_announce_what_it_asks_is_waited_for_a_few_times(
    autojump_clock: MockClock,
) -> None:
    turns = [[{"ask": call(f"c{number}")}, *ASKS[1:]] for number in range(MOST_MISSES + 2)]
    waits: list[float] = []
    async with session_that_announces(*turns) as session:
        for _ in turns:
            turn, began = session.run(PROMPT), trio.current_time()
            (question,) = questions(await up_to(turn, Await))
            waits.append(trio.current_time() - began)
            session.answer(PermissionAnswer(question.call_id, Decision.ALLOWED))
            await rest_of(turn)
    expected = [ANNOUNCED_SECONDS] * MOST_MISSES + [GATHER_SECONDS] * 2
    assert waits == pytest.approx(expected)


async def test_an_agent_that_never_announces_a_call_is_not_waited_for(
    autojump_clock: MockClock,
) -> None:
    async with session_with({"turns": [overtaking(0.2)]}) as (session, _):
        turn, began = session.run(PROMPT), trio.current_time()
        events = await up_to(turn, Await)
        assert trio.current_time() == began + GATHER_SECONDS
        assert [type(event) for event in events] == [AskPermission, Await]


async def test_a_question_that_is_held_back_and_taken_back_is_never_asked(
    autojump_clock: MockClock,
) -> None:
    asks: list[JSON] = [{"ask": call("c1")}, {"ask": call("c2")}, {"sleep": 0.02}]
    steps = [*asks, {"withdraw": True}, *ASKS[1:]]
    async with session_that_announces(steps) as session:
        turn = session.run(PROMPT)
        (question,) = questions(await up_to(turn, Await))
        session.answer(PermissionAnswer(question.call_id, Decision.ALLOWED))
        assert questions(await rest_of(turn)) == []


async def test_questions_that_are_held_back_and_taken_back_are_not_kept(
    autojump_clock: MockClock,
) -> None:
    asks: list[JSON] = [{"ask": call("c1")}, {"sleep": 0.01}, {"withdraw": True}] * 300
    async with session_that_announces([*asks, chunk("a"), {"hang": True}]) as session:
        await up_to(session.run(PROMPT), Say)
        gc.collect()
        kept = [one for one in gc.get_objects() if isinstance(one, PermissionRequested)]
        assert len(kept) <= 2 * MOST_QUESTIONS
        kept.clear()


async def test_a_cancel_answers_a_question_that_is_held_back(autojump_clock: MockClock) -> None:
    steps = [{"ask": call("c1")}, chunk("a"), *ASKS[1:]]
    async with session_that_announces(steps, ASKS) as session:
        turn = session.run(PROMPT)
        await up_to(turn, Say)
        await session.cancel()
        events = await rest_of(turn)
        assert questions(events) == []
        assert events[-1] == CANCELLED


@pytest.mark.limit("agents.acp.questions.MOST_GATHER_SECONDS")
@pytest.mark.parametrize("announces", [False, True])
async def test_questions_that_keep_coming_are_awaited_in_the_end(
    autojump_clock: MockClock, announces: bool
) -> None:
    """Even where each could wait for the announcement of its call."""
    asks: list[JSON] = []
    for number in range(40):
        asks += {"ask": call(f"c{number}")}, {"sleep": GATHER_SECONDS * 0.9}
    first: JSON = {"update": {**ANNOUNCED, "toolCallId": "c", "status": "completed"}}
    turns = [[first] if announces else [], [*asks, {"hang": True}]]
    async with session_with({"turns": turns}) as (session, _):
        await rest_of(session.run(PROMPT))
        began = trio.current_time()
        asked = await up_to(session.run(PROMPT), Await)
        assert trio.current_time() - began <= MOST_GATHER_SECONDS + GATHER_SECONDS
        assert 2 < len(questions(asked)) < 20


async def test_a_denial_says_why_before_the_agent_goes_on(
    autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    async with session_with({"turns": [[{"ask": call()}, *ASKS[1:]]]}) as (session, _):
        turn = session.run(PROMPT)
        (question,) = questions(await up_to(turn, Await))
        denial = PermissionAnswer(question.call_id, Decision.DENIED, "You skipped it.")
        session.answer(denial)
        text = said(await rest_of(turn))
    assert text.startswith("✘ **Not allowed:** Delete everything. You skipped it.\n\ndenied")
    assert "decision=denied reason=You skipped it." in caplog.text


@pytest.mark.parametrize(
    ("decision", "shown"),
    [
        (Decision.DENIED, "✘ Delete everything *denied*\n\ndenied"),
        (Decision.ALLOWED, "allowed"),
    ],
)
async def test_a_call_that_was_only_asked_about_is_shown_where_it_was_denied(
    autojump_clock: MockClock, decision: Decision, shown: str
) -> None:
    """An agent may say nothing more of a call, and the call may never come."""
    async with session_with({"turns": [[{"ask": call()}, *ASKS[1:]]]}) as (session, _):
        turn = session.run(PROMPT)
        (question,) = questions(await up_to(turn, Await))
        session.answer(PermissionAnswer(question.call_id, decision))
        assert said(await rest_of(turn)) == shown


@pytest.mark.parametrize(
    ("ending", "shown"),
    [
        ({"stop": "end_turn"}, "🔧 Look\n\nFound."),
        ({"stop": "max_tokens"}, "🔧 Look\n\nFound.\n\n🔧 Look *no result*"),
        ({"error": {"code": -1, "message": "x"}}, "🔧 Look\n\nFound.\n\n🔧 Look *no result*"),
    ],
)
async def test_an_agent_that_has_answered_had_its_result(
    autojump_clock: MockClock, ending: JSON, shown: str
) -> None:
    """It never says how a call ended, but ends its turn by itself."""
    begins = {"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "Look"}
    steps = [{"update": {**begins, "status": "in_progress"}}, chunk("Found."), ending]
    async with session_with({"turns": [steps]}) as (session, _):
        assert said(await rest_of(session.run(PROMPT))) == shown


async def test_what_a_rule_allows_is_told_and_logged_before_the_agent_goes_on(
    autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    async with session_with({"turns": [[{"ask": call()}, *ASKS[1:]]]}) as (session, _):
        turn = session.run(PROMPT)
        (question,) = questions(await up_to(turn, Await))
        session.answer(PermissionAnswer(question.call_id, Decision.ALLOWED, "A rule."))
        text = said(await rest_of(turn))
    assert text.startswith("✔ **Allowed by your rule:** Delete everything. A rule.\n\nallowed")
    assert "decision=allowed reason=A rule." in caplog.text


async def test_a_question_that_comes_while_others_are_awaited_is_asked_afterwards(
    autojump_clock: MockClock,
) -> None:
    """Point 32."""
    asks = [{"ask": call("a")}, {"sleep": 5}, {"ask": call("b")}, *ASKS[1:]]
    async with session_with({"turns": [asks]}) as (session, _):
        turn = session.run(PROMPT)
        (first,) = questions(await up_to(turn, Await))
        await trio.sleep(10)
        session.answer(PermissionAnswer(first.call_id, Decision.ALLOWED))
        (second,) = questions(await up_to(turn, Await))
        session.answer(PermissionAnswer(second.call_id, Decision.DENIED))
        assert "allowed denied" in said(await rest_of(turn))


async def test_an_agent_that_goes_on_talking_awaits_its_answer_all_the_same(
    autojump_clock: MockClock,
) -> None:
    talks: list[JSON] = [{"ask": call()}]
    for _ in range(20):
        talks += [{"sleep": 0.02}, chunk(".")]
    async with session_with({"turns": [[*talks, *ASKS[1:]]]}) as (session, _):
        turn = session.run(PROMPT)
        before = await up_to(turn, Await)
        assert 1 <= said(before).count(".") < 20
        (question,) = questions(before)
        with trio.move_on_after(5) as scope:
            await turn.receive()
        assert scope.cancelled_caught, "it says nothing until it is answered"
        session.answer(PermissionAnswer(question.call_id, Decision.ALLOWED))
        after = await rest_of(turn)
        assert (said(before) + said(after)).count(".") == 20


async def test_a_session_that_awaits_an_answer_holds_up_no_other(
    autojump_clock: MockClock,
) -> None:
    """However much its agent says meanwhile: nobody takes it before the user has answered."""
    asks = [*ASKS[:1], {"sleep": 1}, chunk("x" * 50, times=5 * HIGH_WATER), {"hang": True}]
    async with (
        agent_in_process({"turns": [asks]}) as (agent, _),
        agent.session(PROMPT) as session,
        agent.session(PROMPT) as other,
    ):
        await up_to(session.run(PROMPT), Await)
        await trio.sleep(2)
        assert await answer_to(other, "x") == "ok"


async def test_what_follows_an_answer_begins_another_response(autojump_clock: MockClock) -> None:
    """So there is nothing before it that it would have to stand apart from."""
    asks = [chunk("a", message="1"), *ASKS[:2], chunk("b", message="2")]
    async with session_with({"turns": [asks]}) as (session, _):
        turn = session.run(PROMPT)
        (question,) = questions(await up_to(turn, Await))
        session.answer(PermissionAnswer(question.call_id, Decision.ALLOWED))
        assert said(await turn.receive()) == "b"


async def test_a_question_that_is_answered_at_once_is_not_awaited(
    autojump_clock: MockClock,
) -> None:
    """As `settings.permissions` does it."""
    async with session_with({"turns": [ASKS]}) as (session, _):
        turn = session.run(PROMPT)
        (question,) = questions(await up_to(turn, AskPermission))
        session.answer(PermissionAnswer(question.call_id, Decision.ALLOWED))
        assert awaits(await rest_of(turn)) == 0


async def test_a_question_that_the_agent_takes_back_is_not_awaited_any_more(
    autojump_clock: MockClock,
) -> None:
    withdrawn = [*ASKS[:1], {"sleep": 1}, {"withdraw": True}, *ASKS[1:]]
    async with session_with({"turns": [withdrawn]}) as (session, peers):
        turn = session.run(PROMPT)
        (question,) = questions(await up_to(turn, Await))
        assert "cancelled" in said(await rest_of(turn))
        session.answer(PermissionAnswer(question.call_id, Decision.ALLOWED))
        assert peers.faults == []


async def test_a_question_that_is_taken_back_at_once_is_not_asked(
    autojump_clock: MockClock,
) -> None:
    withdrawn = [*ASKS[:1], {"withdraw": True}, *ASKS[1:]]
    async with session_with({"turns": [withdrawn]}) as (session, _):
        assert questions(await rest_of(session.run(PROMPT))) == []


@pytest.mark.checklist(32)
async def test_questions_after_a_cancel_are_answered_until_the_prompt_returns(
    autojump_clock: MockClock,
) -> None:
    """Points 25 and 32; three real agents hang otherwise."""
    script = {
        "turns": [[{"ask": call("a")}, {"ask": call("b")}, {"hang": True}]],
        "when_cancelled": [
            {"await": True},
            {"sleep": 0.5},
            {"ask": call("c")},
            {"await": True},
            {"outcomes": True},
            {"stop": "cancelled"},
            {"ask": call("d")},
            {"await": True},
        ],
    }
    async with session_with(script) as (session, peers):
        turn = session.run(PROMPT)
        await up_to(turn, Await)
        await session.cancel()
        events = await rest_of(turn)
        assert questions(events) == []
        assert "cancelled cancelled cancelled" in said(events)
        assert await answer_to(session, "next") == "ok"
        outcomes = [one["result"]["outcome"] for one in peers.heard if "result" in one]
        assert outcomes == [{"outcome": "cancelled"}] * 4
        assert peers.faults == []


async def test_a_prompt_that_ends_with_an_open_question_ends_the_turn(
    autojump_clock: MockClock,
) -> None:
    async with session_with({"turns": [[{"ask": call()}, {"sleep": 1}]]}) as (session, peers):
        turn = session.run(PROMPT)
        await up_to(turn, Await)
        assert (await rest_of(turn))[-1] == Stop()
        assert await answer_to(session, "next") == "ok"
        assert peers.faults == []


@pytest.mark.checklist(34)
async def test_a_question_may_name_a_call_by_nothing_but_its_id(
    autojump_clock: MockClock,
) -> None:
    """Point 34: what was said of it before is in the question."""
    known = {"sessionUpdate": "tool_call", **call(kind="delete", rawInput={"path": "/"})}
    asks = [{"update": known}, {"ask": {"toolCallId": "call-1"}}, *ASKS[1:]]
    async with session_with({"turns": [asks]}) as (session, _):
        turn = session.run(PROMPT)
        (question,) = questions(await up_to(turn, AskPermission))
        assert (question.title, question.kind) == ("Delete everything", "delete")
        assert question.details["rawInput"] == {"path": "/"}


@pytest.mark.checklist(33)
async def test_an_agent_that_doesn_t_ask_is_no_error(
    autojump_clock: MockClock,
) -> None:
    """Point 33."""
    did = {"sessionUpdate": "tool_call", **call(kind="execute", status="completed")}
    async with session_with({"turns": [[{"update": did}]]}) as (session, _):
        assert "Delete everything" in await answer_to(session, "x")


@pytest.mark.limit("agents.acp.render.changed_files.MOST_FILES")
@pytest.mark.parametrize("most", [1, 0])
async def test_a_change_is_shown_with_the_lines_of_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """A clock that jumps would not wait for the thread that reads."""
    monkeypatch.setattr(changed_files, "READING_SECONDS", 30.0)
    monkeypatch.setattr(changed_files, "MOST_FILES", most)
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "a.txt"
    file.write_text("".join(f"{number}\n" for number in range(1, 30)))
    change = {"type": "diff", "path": str(file), "oldText": "twenty", "newText": "20"}
    done = call(kind="edit", status="completed", content=[change])
    did = {"update": {"sessionUpdate": "tool_call", **done}}
    async with session_with({"turns": [[did]]}) as (session, _):
        answer = await answer_to(session, "x")
    assert "-twenty\n+20\n" in answer
    assert ("@@ -17,7 +17,7 @@\n 17\n 18\n 19\n-twenty" in answer) == (most > 0)


@pytest.mark.limit("agents.acp.render.changed_files.READING_SECONDS")
async def test_a_folder_that_does_not_answer_is_given_up_once_for_all_its_files(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = threading.Event()

    def hang(path: str, root: str) -> None:
        gone.wait(30)

    monkeypatch.setattr(changed_files, "_read", hang)
    changes = [{"type": "diff", "path": f"/a{n}", "oldText": "x", "newText": "y"} for n in range(9)]
    done = call(kind="edit", status="completed", content=changes)
    did = {"update": {"sessionUpdate": "tool_call", **done}}
    try:
        async with session_with({"turns": [[did]]}) as (session, _):
            began = trio.current_time()
            answer = await answer_to(session, "x")
            assert changed_files.READING_SECONDS <= trio.current_time() - began < 2
        assert answer.count("-x\n+y\n") == 9
    finally:
        gone.set()


# Before the prompt.


async def test_a_turn_that_is_cancelled_before_it_was_prompted_costs_nothing(
    autojump_clock: MockClock,
) -> None:
    """What the user said goes with the next prompt, once."""
    async with session_with({}) as (session, peers):
        for text in ("one", "two"):
            turn = session.run(asking(text))
            await session.cancel()
            assert await rest_of(turn) == [CANCELLED]
        assert await answer_to(session, "three") == "ok"
        assert await answer_to(session, "four") == "ok"
        prompts = ["".join(b["text"] for b in p["prompt"]) for p in peers.asked("session/prompt")]
        assert [prompt.split() for prompt in prompts] == [["one", "two", "three"], ["four"]]
        assert peers.asked("session/cancel") == []


MODELS: JSON = {
    "configOptions": [
        {
            "id": "model",
            "name": "Model",
            "category": "model",
            "type": "select",
            "currentValue": "small",
            "options": [{"value": "small", "name": "Small"}, {"value": "big", "name": "Big"}],
        }
    ],
    "modes": {
        "currentModeId": "ask",
        "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}],
    },
}


OLD_MODELS: JSON = {
    "models": {
        "currentModelId": "small",
        "availableModels": [{"modelId": "small", "name": "S"}, {"modelId": "big", "name": "B"}],
    }
}


async def test_the_settings_choose_model_and_mode_before_the_prompt(
    autojump_clock: MockClock,
) -> None:
    """Point 20: each once, and the newest settings from the next turn on."""
    async with session_with({"session": MODELS}) as (session, peers):
        for settings in (
            Settings(model="Big"),
            Settings(model="big", mode="code"),
            Settings(mode="Code"),
        ):
            assert said(await rest_of(session.run(asking("x", settings=settings)))) == "ok"
        (session_id,) = {params["sessionId"] for params in peers.asked("session/prompt")}
        expected = {"sessionId": session_id, "configId": "model", "value": "big"}
        assert peers.asked("session/set_config_option") == [expected]
        assert peers.asked("session/set_mode") == [{"sessionId": session_id, "modeId": "code"}]
        methods = [message.get("method") for message in peers.heard]
        assert methods.index("session/set_config_option") < methods.index("session/prompt")


async def test_a_model_that_isn_t_offered_breaks_the_turn_and_says_what_is(
    autojump_clock: MockClock,
) -> None:
    async with session_with({"session": MODELS}) as (session, peers):
        turn = session.run(asking("x", settings=Settings(model="huge")))
        (last,) = await rest_of(turn)
        assert isinstance(last, Break)
        assert last.failure.kind == "NotFound"
        assert "small, big" in last.failure.message
        assert await answer_to(session, "next") == "ok"
        (prompt,) = peers.asked("session/prompt")
        assert len(prompt["prompt"]) == 2  # with what was said in the turn that broke


DECIDING: JSON = {
    "modes": {
        "currentModeId": "auto",
        "availableModes": [{"id": name, "name": name} for name in ("default", "auto", "plan")],
    }
}


@pytest.mark.parametrize(
    ("session", "settings", "modes"),
    [
        (DECIDING, Settings(), ["default"]),
        (DECIDING, Settings(permissions="read_only"), ["default"]),
        (DECIDING, Settings(permissions="allow"), []),
        (DECIDING, Settings(mode="auto"), []),
        (DECIDING, Settings(mode="plan"), ["plan"]),
        ({"modes": DECIDING["modes"] | {"currentModeId": "plan"}}, Settings(), []),
        ({"modes": {"currentModeId": "auto", "availableModes": []}}, Settings(), []),
        ({}, Settings(), []),
    ],
    ids=[
        *("asked", "read only", "all allowed", "chosen", "another chosen"),
        *("its user's mode", "none that asks", "no modes"),
    ],
)
async def test_an_agent_that_would_decide_by_itself_is_made_to_ask(
    autojump_clock: MockClock, session: JSON, settings: Settings, modes: list[str]
) -> None:
    script = {"agent": {"agentInfo": {"name": "qwen-code", "version": "1"}}, "session": session}
    async with session_with(script) as (it, peers):
        for _ in range(2):
            assert said(await rest_of(it.run(asking("x", settings=settings)))) == "ok"
        assert [params["modeId"] for params in peers.asked("session/set_mode")] == modes


def refusing(first: JSON) -> JSON:
    """Return an agent that refuses the mode in which it asks, and then doesn't."""
    return {
        "agent": {"agentInfo": {"name": "qwen-code", "version": "1"}},
        "session": DECIDING,
        "on": {"session/set_mode": [[{"error": first}], [{"error": first}], []]},
    }


async def test_an_agent_that_refuses_to_ask_goes_on_and_the_user_is_warned_once(
    autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    script = refusing({"code": -32603, "message": "Not here."})
    async with session_with(script) as (it, peers):
        answers = [said(await rest_of(it.run(PROMPT))) for _ in range(4)]
        assert answers[0].startswith(f"> ⚠️ **{NOT_ASKING}**: ")
        assert "refused its mode default: Not here." in answers[0]
        assert answers[0].endswith("\n\nok")
        assert answers[1:] == ["ok"] * 3
        assert len(peers.asked("session/set_mode")) == 3, "it is asked until it does"
    assert "refused mode=default" in caplog.text


@pytest.mark.parametrize(
    "settings", [Settings(permissions="read_only"), Settings(mode="default")], ids=["reads", "own"]
)
async def test_a_turn_fails_where_the_mode_that_is_refused_was_demanded(
    autojump_clock: MockClock, settings: Settings
) -> None:
    async with session_with(refusing({"code": -32603, "message": "Not here."})) as (it, peers):
        (last,) = await rest_of(it.run(asking("x", settings=settings)))
        assert isinstance(last, Break)
        assert "Not here." in last.failure.message
        assert peers.asked("session/prompt") == []


async def test_a_mode_that_was_refused_is_told_where_the_agent_says_it(
    autojump_clock: MockClock,
) -> None:
    update = {"sessionUpdate": "current_mode_update", "currentModeId": "default"}
    script = refusing({"code": -32603, "message": "No."})
    script["turns"] = [[{"update": update}, {"say": "done"}]]
    async with session_with(script) as (it, _):
        assert "Mode: `default`" in said(await rest_of(it.run(PROMPT)))


async def test_an_agent_that_edits_without_asking_is_made_to_ask_each_time(
    autojump_clock: MockClock,
) -> None:
    """It begins in such a mode, and goes back to it by itself."""
    offered = [{"id": name, "name": name} for name in ("ask", "accept-edits")]
    modes = {"currentModeId": "accept-edits", "availableModes": offered}
    back = {"sessionUpdate": "current_mode_update", "currentModeId": "accept-edits"}
    about = {"name": "@mistralai/mistral-vibe", "version": "3"}
    script = {"agent": {"agentInfo": about}, "session": {"modes": modes}}
    async with session_with({**script, "turns": [[{"update": back}]]}) as (it, peers):
        for asked in (1, 2, 2):
            await rest_of(it.run(PROMPT))
            told = [params["modeId"] for params in peers.asked("session/set_mode")]
            assert told == ["ask"] * asked


@pytest.mark.parametrize("told", ["default", "plan"])
async def test_a_mode_that_was_chosen_is_not_told_and_another_is(told: str) -> None:
    update = {"sessionUpdate": "current_mode_update", "currentModeId": told}
    script = {
        "agent": {"agentInfo": {"name": "qwen-code", "version": "1"}},
        "session": DECIDING,
        "turns": [[{"update": update}, {"say": "done"}]],
    }
    async with session_with(script) as (session, _):
        text = said(await rest_of(session.run(PROMPT)))
    assert ("Mode" in text) is (told == "plan")


@pytest.mark.parametrize("told", ["auto", "plan"])
async def test_the_mode_that_a_session_begins_with_is_not_told(told: str) -> None:
    """Some agents say it before the first answer of each session."""
    update = {"sessionUpdate": "current_mode_update", "currentModeId": told}
    script = {"session": DECIDING, "turns": [[{"update": update}, {"say": "done"}]]}
    async with session_with(script) as (session, _):
        text = said(await rest_of(session.run(PROMPT)))
    assert ("Mode" in text) is (told == "plan")


async def test_what_the_agent_chose_itself_is_not_chosen_again(autojump_clock: MockClock) -> None:
    """Point 20; the protocol's own example calls the mode `modeId`."""
    (option,) = MODELS["configOptions"]
    chosen = {"sessionUpdate": "config_option_update"}
    options = [{**option, "currentValue": "big"}]
    script = {
        "session": MODELS,
        "turns": [
            [
                {"update": {**chosen, "configOptions": options}},
                {"update": {"sessionUpdate": "current_mode_update", "modeId": "code"}},
            ]
        ],
    }
    async with session_with(script) as (session, peers):
        await rest_of(session.run(PROMPT))
        settings = Settings(model="big", mode="code")
        assert said(await rest_of(session.run(asking("x", settings=settings)))) == "ok"
        assert peers.asked("session/set_config_option") == []
        assert peers.asked("session/set_mode") == []


@pytest.mark.checklist(20)
async def test_a_model_is_chosen_in_the_old_way_where_there_is_no_other(
    autojump_clock: MockClock,
) -> None:
    """Point 20: `session/set_model` isn't in the protocol, and half of the agents know it."""
    async with session_with({"session": OLD_MODELS}) as (session, peers):
        for _ in range(2):
            turn = session.run(asking("x", settings=Settings(model="big")))
            assert said(await rest_of(turn)) == "ok"
        (change,) = peers.asked("session/set_model")
        assert change["modelId"] == "big"


async def test_the_options_that_a_change_brings_about_are_the_new_ones(
    autojump_clock: MockClock,
) -> None:
    """Point 20: the answer is the full list."""
    (option,) = MODELS["configOptions"]
    answer = {"result": {"configOptions": [{**option, "currentValue": "big"}]}}
    script = {"session": MODELS, "on": {"session/set_config_option": [answer]}}
    async with session_with(script) as (session, peers):
        for _ in range(2):
            await rest_of(session.run(asking("x", settings=Settings(model="big"))))
        assert len(peers.asked("session/set_config_option")) == 1


@pytest.mark.limit("agents.acp.session_choices.CHANGE_SECONDS")
@pytest.mark.parametrize(
    ("method", "session", "settings"),
    [
        ("session/set_config_option", MODELS, Settings(model="big")),
        ("session/set_mode", MODELS, Settings(mode="code")),
        ("session/set_model", OLD_MODELS, Settings(model="big")),
    ],
)
async def test_an_agent_that_never_makes_a_choice_breaks_the_turn(
    autojump_clock: MockClock, method: str, session: JSON, settings: Settings
) -> None:
    script = {"session": session, "on": {method: [[{"deaf": True}]]}}
    async with session_with(script) as (chat, peers):
        began = trio.current_time()
        with trio.fail_after(2 * CHANGE_SECONDS):
            (last,) = [
                one async for batch in chat.run(asking("x", settings=settings)) for one in batch
            ]
        assert trio.current_time() == began + CHANGE_SECONDS
        assert isinstance(last, Break)
        assert last.failure.kind == "Unavailable"
        assert f"{CHANGE_SECONDS:.0f} s" in last.failure.message
        assert await answer_to(chat, "next") == "ok"
        assert len(peers.asked("session/prompt")) == 1


async def test_an_agent_that_refuses_a_choice_breaks_the_turn(
    autojump_clock: MockClock,
) -> None:
    error = {"error": {"code": -32603, "message": "no such model for you"}}
    script = {"session": MODELS, "on": {"session/set_config_option": [error]}}
    async with session_with(script) as (session, _):
        turn = session.run(asking("x", settings=Settings(model="big")))
        (last,) = await rest_of(turn)
        assert isinstance(last, Break)
        assert "no such model for you" in last.failure.message


async def test_a_cancel_while_a_choice_is_made_ends_the_turn_at_once(
    autojump_clock: MockClock,
    nursery: trio.Nursery,
) -> None:
    script = {"session": MODELS, "on": {"session/set_config_option": [[{"deaf": True}]]}}
    async with session_with(script) as (session, peers):
        turn = session.run(asking("one", settings=Settings(model="big")))
        told: list[Any] = []

        async def receive() -> None:
            told.extend(await rest_of(turn))

        nursery.start_soon(receive)
        await trio.sleep(5)
        await session.cancel()
        await wait_all_tasks_blocked()
        assert told == [CANCELLED]
        events = await rest_of(session.run(asking("two", settings=Settings(model="big"))))
        assert said(events) == "ok"
        assert len(peers.asked("$/cancel_request")) == 1


# Being received.


async def test_a_turn_can_be_closed(
    autojump_clock: MockClock,
) -> None:
    async with session_with({"turns": [[{"hang": True}]]}) as (session, _):
        turn = session.run(PROMPT)
        with trio.move_on_after(1):
            await turn.receive()
        await turn.aclose()
        with pytest.raises(trio.ClosedResourceError):
            await turn.receive()


async def test_a_turn_can_be_closed_before_it_was_prompted(
    autojump_clock: MockClock, nursery: trio.Nursery
) -> None:
    script = {"session": MODELS, "on": {"session/set_config_option": [{"deaf": True}]}}
    async with session_with(script) as (session, peers):
        turn = session.run(asking("x", settings=Settings(model="big")))
        told: list[str] = []

        async def receive() -> None:
            try:
                await turn.receive()
            except trio.ClosedResourceError:
                told.append("closed")

        nursery.start_soon(receive)
        await trio.sleep(1)
        await turn.aclose()
        await wait_all_tasks_blocked()
        assert told == ["closed"]
        assert peers.asked("session/prompt") == []


async def test_what_is_unknown_is_logged_once(
    autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    """Point 23."""
    odd: JSON = {"update": {"sessionUpdate": "fireworks", "colours": 3}}
    async with session_with({"otherwise": [odd, odd, chunk("a")]}) as (session, _):
        for _ in range(2):
            assert await answer_to(session, "x") == "a"
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "fireworks" in caplog.text


async def test_an_editor_that_is_slow_gets_the_question_and_that_it_is_awaited(
    autojump_clock: MockClock,
) -> None:
    """However much has come since."""
    asks = [*ASKS[:1], {"sleep": 0.2}, chunk("and "), {"sleep": 0.2}, chunk("on"), *ASKS[1:]]
    async with session_with({"turns": [asks]}) as (session, _):
        turn = session.run(PROMPT)
        (question,) = questions(await turn.receive())
        await trio.sleep(1)
        batch = await turn.receive()
        assert said(batch).endswith("and on")
        assert batch[-1] == Await()
        session.answer(PermissionAnswer(question.call_id, Decision.ALLOWED))
        assert "allowed" in said(await rest_of(turn))


async def test_a_receive_that_is_cancelled_loses_nothing(
    autojump_clock: MockClock,
) -> None:
    slow: list[JSON] = [step for n in range(10) for step in (chunk(str(n)), {"sleep": 0.7})]
    async with session_with({"turns": [[*ASKS[:1], *slow, *ASKS[1:]]]}) as (session, _):
        turn = session.run(PROMPT)
        events: list[Any] = []
        for _ in range(100):
            with trio.move_on_after(0.03):
                events += await turn.receive()
            for question in questions(events):
                session.answer(PermissionAnswer(question.call_id, Decision.ALLOWED))
        events += await rest_of(turn)
        assert said(events).startswith("0123456789")


async def test_everything_that_is_there_comes_in_one_batch(
    autojump_clock: MockClock,
) -> None:
    said_ = [chunk(str(n % 10)) for n in range(50)]
    async with session_with({"turns": [said_]}) as (session, _):
        turn = session.run(PROMPT)
        batch = await turn.receive()
        assert said(batch) == "0123456789" * 5


async def test_a_transcript_reaches_the_agent_even_if_its_turn_was_cancelled(
    autojump_clock: MockClock,
) -> None:
    before = (ChatMessage("user", (TextPart("My name is Ada."),)),)
    async with session_with({}) as (session, peers):
        turn = session.run(Prompt(asking("one").messages, before))
        await session.cancel()
        await rest_of(turn)
        await answer_to(session, "two")
        (prompt,) = peers.asked("session/prompt")
        assert "Ada" in prompt["prompt"][0]["text"]


async def test_a_call_that_is_held_back_is_shown_after_a_silence(
    autojump_clock: MockClock,
) -> None:
    bare = {"sessionUpdate": "tool_call", **call(status="pending")}
    async with session_with({"turns": [[{"update": bare}, {"sleep": 60}]]}) as (session, _):
        turn = session.run(PROMPT)
        with trio.fail_after(10):
            assert "Delete everything" in said(await turn.receive())


async def test_a_turn_that_is_cancelled_while_its_prompt_is_written_is_told_with_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = count(step=2 * breather.WORK_SECONDS)  # each message takes its time
    monkeypatch.setattr(breather.time, "thread_time", lambda: next(clock))
    earlier = tuple(ChatMessage("user", (TextPart(f"earlier {n}"),)) for n in range(20))
    async with session_with({"turns": [[chunk("a")]]}) as (session, peers):
        turn = session.run(replace(PROMPT, transcript=earlier))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(rest_of, turn)
            for _ in range(5):
                await trio.lowlevel.checkpoint()
            await session.cancel()
        assert peers.asked("session/prompt") == []
        assert await answer_to(session, "now") == "a"
        (told,) = peers.asked("session/prompt")
    text = "".join(block["text"] for block in told["prompt"])
    assert text.index("earlier 0\n") < text.index("earlier 19") < text.index("x\n\nnow")


def begun(call_id: str, command: str) -> JSON:
    about = {"toolCallId": call_id, "title": "Work", "kind": "execute", "status": "in_progress"}
    update = {"sessionUpdate": "tool_call", **about, "rawInput": {"command": command}}
    return {"update": update}


async def test_a_second_question_about_one_call_shows_the_others(autojump_clock: MockClock) -> None:
    """Code Puppy asks about two calls at once, and names the last one in both questions."""
    options = [{"optionId": "yes", "name": "Allow", "kind": "allow_once"}]
    ask = {"ask": {"toolCallId": "2", "title": "shell"}, "options": options}
    turn = [begun("1", "make one"), begun("2", "make two"), ask, ask, {"await": True}]
    async with session_with({"turns": [turn]}) as (session, _):
        running = session.run(PROMPT)
        first, second = (one.details["message"] for one in questions(await up_to(running, Await)))
        assert "make two" in first
        assert "make one" not in first
        assert "make two" in second
        assert "has already asked about this call" in second
        assert "1. Work\n\n```sh\nmake one\n```" in second


async def test_a_question_about_all_calls_shows_them(autojump_clock: MockClock) -> None:
    """OpenHands asks once, and says neither for which calls nor what they do."""
    ended = {"sessionUpdate": "tool_call_update", "toolCallId": "1", "status": "completed"}
    once = {"optionId": "accept", "name": "Yes, proceed", "kind": "allow_once"}
    by_risk = {"optionId": "risk", "name": "Confirm low risk", "kind": "allow_once"}
    confirm = {"toolCallId": "confirmation-1", "title": "Confirm Agent Actions", "kind": "other"}
    turn = [
        *(begun("1", "make one"), {"update": ended}, begun("2", "make two"), begun("3", "make 3")),
        *({"ask": confirm, "options": [once, by_risk]}, {"await": True}),
    ]
    async with session_with({"turns": [turn, turn]}) as (session, peers):
        for option, expected in ((None, "accept"), ("risk", "risk")):
            running = session.run(PROMPT)
            (ask,) = questions(await up_to(running, Await))
            message = ask.details["message"]
            assert "make one" not in message
            assert "1. Work\n\n```sh\nmake two\n```" in message
            assert "2. Work\n\n```sh\nmake 3\n```" in message
            assert (
                "Yes, proceed. For another one, choose it first: Confirm low risk"
                in ask.details["note"]
            )
            session.answer(PermissionAnswer(ask.call_id, Decision.ALLOWED, option=option))
            await rest_of(running)
            answers = [heard["result"] for heard in peers.heard if "result" in heard]
            assert answers[-1] == {"outcome": {"outcome": "selected", "optionId": expected}}
