"""Cancelling an agent wherever it may hang.

A scripted agent hangs at a step; then the request is cancelled, superseded by an edit, overtaken by
a follow-up, or the editor leaves. Whatever the step, the request is settled once (the fake editor
sees to that), the agent is told at most once and exactly once if it had been asked, the next turn
works and knows everything that was said, and nothing is left running.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import pytest

from actors.response import DRAIN_SECONDS
from agents.events import AskPermission, Await, Break, CallTool, Say, Stop, Think
from bridge.errors import Failure
from bridge.wire import PERMISSION_TOOL, ChatMessage, TextPart
from tests.fakes.editor import Chat, Request, connected, quiet, tool_result, tools
from tests.fakes.scripted_agent import (
    STOP_CANCELLED,
    Burst,
    Crash,
    Deaf,
    Gate,
    Hang,
    Linger,
    ScriptedAgent,
    Step,
)

if TYPE_CHECKING:
    from trio.testing import MockClock

AT_ONCE = 0.001
"""Seconds, in which an agent doesn't move unless we make it."""

CALL = CallTool("call-1", "f", {})
ASK = AskPermission("ask-1", "Do it")
OPTIONS = tools("f", PERMISSION_TOOL)
GONE = Failure("AgentFailed", "The agent is gone.")


@attrs.frozen
class Stuck:
    """Where an agent hangs: in the turn that it is asked first, or in how it stops."""

    turn: tuple[Step, ...]
    stop: tuple[Step, ...] = (STOP_CANCELLED,)
    answered: bool = False
    """Whether the turn hangs after the results of what it asked."""

    @property
    def loses_session(self) -> bool:
        return any(isinstance(step, Deaf | Crash) for step in (*self.turn, *self.stop))


STUCK = {
    "before the first part": Stuck((Hang(),)),
    "while it thinks": Stuck((Think("hm"), Hang())),
    "in mid-text": Stuck((Say("Well"), Hang())),
    "after a call, before it waits": Stuck((Say("Well"), CALL, Hang())),
    "after a question, before it waits": Stuck((ASK, Hang())),
    "after a batch of both": Stuck((Burst((CALL, ASK)), Hang())),
    "after a result": Stuck((CALL, Await(), Say("Well"), Hang()), answered=True),
    "after an approval": Stuck((ASK, Await(), Hang()), answered=True),
    "with more to say": Stuck((Say("Well"), Linger(3))),
    "with more to ask": Stuck((Say("Well"), Linger(2, CallTool("call-2", "f", {})))),
    "on a question while it stops": Stuck(
        (Say("Well"), Hang()),
        (AskPermission("ask-2", "Do more"), Await(), Say("late"), STOP_CANCELLED),
    ),
    "until it ends by itself": Stuck((Say("Well"), Hang()), (Say("done"), Stop())),
    "until it breaks": Stuck((Say("Well"), Hang()), (Break(GONE),)),
    "until it crashes": Stuck((Say("Well"), Hang()), (Crash(GONE),)),
    "for good": Stuck((Say("Well"), Deaf())),
    "for good, when it stops": Stuck((Say("Well"), Hang()), (Say("late"), Deaf())),
}


def texts(messages: tuple[ChatMessage, ...]) -> list[str]:
    return [
        part.value
        for one in messages
        for part in one.content
        if isinstance(part, TextPart) and one.role == "user"
    ]


async def ask_until_stuck(chat: Chat, stuck: Stuck) -> Request:
    """Ask, bring back results if it comes to that, and return the request that hangs."""
    request = chat.ask("one")
    if stuck.answered:
        await request.settled()
        chat.keep(request)
        request = chat.ask(*(tool_result(call, "Approved") for call in request.calls))
    await quiet()
    assert not request.is_settled
    return request


def known(agent: ScriptedAgent) -> list[str]:
    """Return what the newest session was told of the user's words, in order."""
    latest: list[str] = []
    for prompt in agent.prompts:
        if prompt.transcript:
            latest = texts(prompt.transcript)
        latest += texts(prompt.messages)
    return latest


@pytest.mark.limit("actors.response.DRAIN_SECONDS")
@pytest.mark.parametrize("keeps", [True, False], ids=["answer kept", "answer dropped"])
@pytest.mark.parametrize("where", STUCK)
async def test_a_cancel_frees_a_chat_wherever_its_agent_hangs(
    autojump_clock: MockClock, where: str, keeps: bool
) -> None:
    stuck = STUCK[where]
    agent = ScriptedAgent([stuck.turn], when_cancelled=stuck.stop)
    async with connected(agent) as editor:
        chat = Chat(editor, options=OPTIONS)
        request = await ask_until_stuck(chat, stuck)
        editor.cancel(request)
        await request.settled(within=AT_ONCE)
        assert request.result == {}
        shown = list(request.parts)
        if keeps:
            chat.keep(request)
        answer = await chat.ask("two").settled(within=DRAIN_SECONDS + 1)
        assert answer.text == "ok"
        assert request.parts == shown
        chat.keep(answer)
        assert (await chat.say("three")).text == "ok"
    assert agent.cancels == [1]
    assert known(agent) == ["one", "two", "three"]
    assert (
        agent.sessions_opened == agent.sessions_closed == ([1, 2] if stuck.loses_session else [1])
    )


@pytest.mark.parametrize("where", STUCK)
async def test_an_edit_frees_a_chat_wherever_its_agent_hangs(
    autojump_clock: MockClock, where: str
) -> None:
    stuck = STUCK[where]
    agent = ScriptedAgent([[Say("Hello")], stuck.turn], when_cancelled=stuck.stop)
    async with connected(agent) as editor:
        chat = Chat(editor, options=OPTIONS)
        await chat.say("zero")
        before = list(chat.history)
        request = await ask_until_stuck(chat, stuck)
        chat.history = before
        answer = await chat.ask("one, rather").settled(within=DRAIN_SECONDS + 1)
        assert answer.text == "ok"
        if stuck.answered:
            # The results acknowledged the question, so an edit of it is a branch, and the old turn
            # goes on by itself until it is cancelled, as VS Code does before an edit.
            assert not request.is_settled
            editor.cancel(request)
            await request.settled()
        assert request.result == {}
        chat.keep(answer)
        assert (await chat.say("two")).text == "ok"
    assert agent.cancels == [2]
    assert known(agent) == ["zero", "one, rather", "two"]
    assert agent.sessions_opened == sorted(agent.sessions_closed) == [1, 2]


@pytest.mark.parametrize("where", STUCK)
async def test_leaving_frees_an_agent_wherever_it_hangs(
    autojump_clock: MockClock, where: str
) -> None:
    stuck = STUCK[where]
    agent = ScriptedAgent([stuck.turn], when_cancelled=stuck.stop)
    async with connected(agent, leaves_within=DRAIN_SECONDS + 1) as editor:
        chat = Chat(editor, options=OPTIONS)
        request = await ask_until_stuck(chat, stuck)
        editor.close()
        await request.settled(within=AT_ONCE)
        assert request.result == {}
    assert agent.cancels == [1]
    assert agent.sessions_opened == agent.sessions_closed == [1]


@pytest.mark.parametrize("where", STUCK)
async def test_a_cancel_while_the_editor_leaves_changes_nothing(
    autojump_clock: MockClock, where: str
) -> None:
    stuck = STUCK[where]
    agent = ScriptedAgent([stuck.turn], when_cancelled=stuck.stop)
    async with connected(agent, leaves_within=DRAIN_SECONDS + 1) as editor:
        chat = Chat(editor, options=OPTIONS)
        request = await ask_until_stuck(chat, stuck)
        editor.cancel(request)
        editor.close()
        await request.settled(within=AT_ONCE)
        assert request.result == {}
    assert agent.cancels == [1]
    assert agent.sessions_opened == agent.sessions_closed == [1]


@pytest.mark.parametrize("keeps_waiting", [True, False])
async def test_a_cancel_while_a_session_opens_frees_the_chat(keeps_waiting: bool) -> None:
    opening = Gate()
    agent = ScriptedAgent(opening=[opening])
    async with connected(agent) as editor:
        chat = Chat(editor)
        request = chat.ask("one")
        await quiet()
        assert opening.reached.is_set()
        editor.cancel(request)
        await request.settled()
        if keeps_waiting:
            second = chat.ask("two")
            await quiet()
            opening.opened.set()
        else:
            opening.opened.set()
            await quiet()
            second = chat.ask("two")
        await second.settled()
        assert second.text == "ok"
    assert agent.cancels == []
    assert len(agent.prompts) == 1, "what the user thought better of costs nothing"
    assert known(agent) == ["one", "two"]
    assert agent.sessions_opened == agent.sessions_closed == [1]


async def test_a_cancel_while_the_session_before_closes_frees_the_chat() -> None:
    closing = Gate()
    agent = ScriptedAgent([[Say("ok"), Stop()], [Say("o"), Hang()]], closing=[closing])
    async with connected(agent) as editor:
        chat = Chat(editor)
        await chat.say("zero")
        cut_short = chat.ask("one")
        await cut_short.shows("o")
        editor.cancel(cut_short)
        await cut_short.settled()
        chat.take_back(1)
        request = chat.ask("one, rather")
        await quiet()
        assert closing.reached.is_set()
        editor.cancel(request)
        await request.settled()
        closing.opened.set()
        await quiet()
        assert agent.sessions_opened == [1]
        assert (await chat.say("two")).text == "ok"
    assert agent.cancels == [2]
    assert known(agent) == ["zero", "one, rather", "two"]
