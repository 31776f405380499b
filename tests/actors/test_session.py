"""One conversation's session: what the agent is told, when, and what becomes of what it says.

Tools and permissions are in test_session_tools.py, every point at which an agent may hang is in
test_cancellation.py.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest
import trio

from agents.base import Agent, AgentError, Turn
from agents.events import Answer, Batch, Break, Prompt, Say, Stop, StopReason
from agents.origin import FRESH, Origin
from bridge.errors import Failure
from bridge.routing.damper import WINDOW_SECONDS
from bridge.wire import Settings, ToolSpec
from tests.fakes.editor import Chat, Request, assistant, connected, message, quiet, user
from tests.fakes.scripted_agent import (
    STOP_CANCELLED,
    Crash,
    Gate,
    Hang,
    ScriptedAgent,
)

from .scenes import told

if TYPE_CHECKING:
    from trio.testing import MockClock

GONE = Failure("AgentFailed", "The agent is gone; try again.", "exit status 1", "last words")


async def cancelled(request: Request, chat: Chat) -> None:
    chat.editor.cancel(request)
    await request.settled()


# What the agent is told.


async def test_the_agent_is_told_only_what_is_new() -> None:
    agent = ScriptedAgent()
    async with connected(agent) as editor:
        chat = Chat(editor)
        for word in ("one", "two", "three"):
            await chat.say(word)
    assert [told(prompt) for prompt in agent.prompts] == [
        ([], ["one"]),
        ([], ["two"]),
        ([], ["three"]),
    ]
    assert agent.sessions_opened == [1]


async def test_a_chat_that_begins_with_a_history_is_replayed_to_the_agent_as_history() -> None:
    agent = ScriptedAgent()
    async with connected(agent) as editor:
        chat = Chat(editor)
        chat.history = [user("one"), assistant("1"), user("two"), assistant("2")]
        await chat.say("three")
    assert [told(prompt) for prompt in agent.prompts] == [(["one", "1", "two", "2"], ["three"])]


async def test_the_hosts_system_prompt_reaches_the_agent_once() -> None:
    agent = ScriptedAgent()
    async with connected(agent) as editor:
        chat = Chat(editor)
        await chat.say(message("system", "Be brief."), user("one"))
        await chat.say("two")
    assert [told(prompt)[1] for prompt in agent.prompts] == [["Be brief.", "one"], ["two"]]


async def test_the_agent_gets_the_options_and_settings_of_the_newest_request() -> None:
    agent = ScriptedAgent()
    async with connected(agent) as editor:
        chat = Chat(editor)
        await chat.say("one")
        chat.options = {"toolMode": "required", "modelOptions": {"effort": "high"}}
        chat.settings = {"thinking": "hide"}
        await chat.say("two")
        chat.options = {"toolMode": 2}
        await chat.say("three")
    first, second, third = agent.prompts
    assert (first.tool_required, first.model_options) == (False, {})
    assert (second.tool_required, second.model_options) == (True, {"effort": "high"})
    assert second.settings.thinking == "hide"
    assert third.tool_required


async def test_the_agent_gets_the_choices_of_the_host_s_picker() -> None:
    agent = ScriptedAgent()
    async with connected(agent) as editor:
        chat = Chat(editor)
        picked = {"model": "big", "web": True, "size": 3, "permissions": "read_only"}
        chat.options = {"modelConfiguration": picked}
        await chat.say("one")
        chat.options = {}
        await chat.say("two")
    first, second = agent.prompts
    assert (first.configuration, first.settings.permissions) == (
        {"model": "big", "web": "true"},
        "read_only",
    )
    assert (second.configuration, second.settings.permissions) == ({}, "ask")


async def test_permissions_that_can_t_be_chosen_are_told_in_one_line_once() -> None:
    agent = ScriptedAgent()
    async with connected(agent) as editor:
        chat = Chat(editor)
        chat.options = {"modelConfiguration": {"permissions": "allow"}}
        answers = [(await chat.say(word)).text for word in ("one", "two", "three")]
        assert ["can't be chosen" in answer for answer in answers] == [True, False, False]
        assert len(answers[0].strip().splitlines()) == 3, "the line, a blank one and the answer"
        chat.options = {"modelConfiguration": {"permissions": "deny"}}
        assert "'deny'" in (await chat.say("four")).text
    assert {prompt.settings.permissions for prompt in agent.prompts} == {"ask"}
    assert [told(prompt)[1] for prompt in agent.prompts][1] == ["two"]


@pytest.mark.parametrize("keeps", [True, False])
async def test_a_message_that_was_cancelled_before_the_agent_saw_it_is_told_with_the_next(
    keeps: bool,
) -> None:
    stopping = Gate()
    agent = ScriptedAgent([[Say("Well"), Hang()]], when_cancelled=(stopping, STOP_CANCELLED))
    async with connected(agent) as editor:
        chat = Chat(editor)
        request = await chat.ask("one").shows("Well")
        await cancelled(request, chat)
        if keeps:
            chat.keep(request)
        await cancelled(chat.ask("two"), chat)
        third = chat.ask("three")
        await quiet()
        assert len(agent.prompts) == 1
        stopping.opened.set()
        await third.settled()
    assert [told(prompt)[1] for prompt in agent.prompts] == [["one"], ["two", "three"]]


# What was withdrawn.


async def test_a_retry_gets_a_fresh_session_with_what_was_accepted() -> None:
    agent = ScriptedAgent()
    async with connected(agent) as editor:
        chat = Chat(editor)
        await chat.say("one")
        await chat.say("two")
        chat.take_back(2)
        await chat.say("two")
    assert told(agent.prompts[-1]) == (["one", "ok"], ["two"])
    assert agent.sessions_opened == [1, 2]
    assert agent.cancels == []


async def test_a_retry_of_the_first_request_gets_a_fresh_session() -> None:
    agent = ScriptedAgent()
    async with connected(agent) as editor:
        for _ in range(2):
            await Chat(editor).say("one")
    assert [told(prompt) for prompt in agent.prompts] == [([], ["one"])] * 2
    assert agent.sessions_opened == [1, 2]


async def test_an_edit_gets_a_fresh_session_with_what_was_accepted() -> None:
    agent = ScriptedAgent()
    async with connected(agent) as editor:
        chat = Chat(editor)
        await chat.say("one")
        await chat.say("two")
        chat.take_back(2)
        await chat.say("two, rather")
        await chat.say("three")
    assert [told(prompt) for prompt in agent.prompts[-2:]] == [
        (["one", "ok"], ["two, rather"]),
        ([], ["three"]),
    ]
    assert agent.sessions_opened == [1, 2]


async def test_who_wants_it_keeps_the_session_that_knows_what_was_withdrawn() -> None:
    agent = ScriptedAgent()
    async with connected(agent) as editor:
        chat = Chat(editor, settings={"rewind": "continue"})
        await chat.say("one")
        await chat.say("two")
        chat.take_back(2)
        await chat.say("two, rather")
    assert told(agent.prompts[-1]) == ([], ["two, rather"])
    assert agent.sessions_opened == [1]


async def test_who_wants_it_keeps_the_session_that_knows_all_that_was_withdrawn() -> None:
    """Also where an earlier message was edited, and what comes after that."""
    agent = ScriptedAgent()
    async with connected(agent) as editor:
        chat = Chat(editor, settings={"rewind": "continue"})
        for word in ("one", "two", "three"):
            await chat.say(word)
        chat.take_back(4)
        await chat.say("two, rather")
        await chat.say("three, rather")
    assert [told(prompt) for prompt in agent.prompts[3:]] == [
        ([], ["two, rather"]),
        ([], ["three, rather"]),
    ]
    assert agent.sessions_opened == [1]


async def test_going_back_further_than_one_turn_opens_a_session_with_the_rest() -> None:
    agent = ScriptedAgent()
    async with connected(agent) as editor:
        chat = Chat(editor)
        for word in ("one", "two", "three"):
            await chat.say(word)
        chat.take_back(4)
        await chat.say("two, rather")
    assert told(agent.prompts[-1]) == (["one", "ok"], ["two, rather"])


async def test_a_session_that_was_rewound_is_closed() -> None:
    agent = ScriptedAgent([[Say("o"), Hang()]])
    async with connected(agent) as editor:
        chat = Chat(editor)
        cut_short = chat.ask("one")
        await cut_short.shows("o")
        editor.cancel(cut_short)
        await cut_short.settled()
        chat.take_back(1)
        await chat.say("one")
        assert agent.sessions_opened == [1, 2]
        assert agent.sessions_open == 1


async def test_what_is_taken_back_is_paid_for_with_the_next_request_and_not_before(
    caplog: pytest.LogCaptureFixture, autojump_clock: MockClock
) -> None:
    agent = ScriptedAgent([[Say("o")], [Say("t"), Hang()]])
    async with connected(agent) as editor:
        chat = Chat(editor)
        await chat.say("one")
        await cancelled(await chat.ask("two").shows("t"), chat)
        chat.take_back(1)
        with caplog.at_level(logging.INFO, "vscodelm"):
            await trio.sleep(60)
            await quiet()
            assert (agent.sessions_opened, agent.sessions_closed) == ([1], [])
            assert len(agent.prompts) == 2
            assert not [line for line in caplog.messages if "replayed" in line]
            await chat.say("two, rather")
    assert agent.sessions_opened == [1, 2]
    assert told(agent.prompts[-1]) == (["one", "o"], ["two, rather"])
    assert "conversation=1 turn=3 replayed told=2 why=withdrawn" in caplog.messages


async def test_a_complete_answer_keeps_its_session_when_it_is_taken_back() -> None:
    """The user may come back to it, by undoing the edit."""
    agent = ScriptedAgent()
    async with connected(agent) as editor:
        chat = Chat(editor)
        await chat.say("one")
        chat.take_back(2)
        await chat.say("one, rather")
        assert agent.sessions_open == 2


@pytest.mark.parametrize("words", [["two, rather"], ["two, rather", "two, really"]])
async def test_an_edit_that_was_cancelled_before_the_agent_saw_it_counts_all_the_same(
    words: list[str],
) -> None:
    """The session still remembers what was edited."""
    stopping = Gate()
    agent = ScriptedAgent(
        [[Say("Hello")], [Say("Well"), Hang()]], when_cancelled=(stopping, STOP_CANCELLED)
    )
    async with connected(agent) as editor:
        chat = Chat(editor)
        await chat.say("one")
        await cancelled(await chat.ask("two").shows("Well"), chat)
        for word in words:
            chat.take_back(1)
            await cancelled(chat.ask(word), chat)
        request = chat.ask("three")
        await quiet()
        stopping.opened.set()
        await request.settled()
    before, new = told(agent.prompts[-1])
    assert [*before, *new] == ["one", "Hello", words[-1], "three"]
    assert agent.sessions_opened == [1, 2]


# Failure.


async def test_an_agent_that_crashes_in_mid_turn_fails_the_request_and_the_next_one_works() -> None:
    agent = ScriptedAgent([[Say("Well")], [Say("I"), Crash(GONE)]])
    async with connected(agent) as editor:
        chat = Chat(editor)
        await chat.say("one")
        request = await chat.ask("two").settled()
        assert request.text == "I"
        assert request.error == {
            "code": -32000,
            "message": "The agent is gone; try again.",
            "data": {
                "kind": "AgentFailed",
                "detail": "exit status 1",
                "stderrTail": "last words",
            },
        }
        assert agent.sessions_open == 0
        chat.take_back(1)
        assert (await chat.say("two")).text == "ok"
    assert told(agent.prompts[-1]) == (["one", "Well"], ["two"])
    assert agent.sessions_opened == [1, 2]


async def test_a_turn_that_breaks_fails_the_request_and_keeps_the_session() -> None:
    agent = ScriptedAgent([[Say("I"), Break(GONE)]])
    async with connected(agent) as editor:
        chat = Chat(editor)
        request = await chat.ask("one").settled()
        assert request.error["data"]["kind"] == "AgentFailed"
        assert (await chat.say("two")).text == "ok"
    assert [told(prompt) for prompt in agent.prompts] == [([], ["one"]), ([], ["two"])]
    assert agent.sessions_opened == [1]


async def test_the_same_request_again_after_a_failure_is_answered() -> None:
    agent = ScriptedAgent([[Break(GONE)]])
    async with connected(agent) as editor:
        chat = Chat(editor)
        await chat.ask("one").settled()
        chat.take_back(1)
        assert (await chat.say("one")).text == "ok"


async def test_an_agent_that_cannot_be_had_fails_each_request_until_it_can(
    autojump_clock: MockClock,
) -> None:
    agent = ScriptedAgent(opening=[Crash(Failure("NotFound", "No such command: x."))])
    async with connected(agent) as editor:
        chat = Chat(editor)
        for _ in range(2):
            request = await chat.ask("one").settled()
            assert request.error["message"] == "No such command: x."
            assert request.error["data"]["kind"] == "NotFound"
            chat.take_back(1)
            await trio.sleep(WINDOW_SECONDS + 1)  # repeats in haste are refused
        agent.opening = ()
        assert (await chat.say("one")).text == "ok"
    assert told(agent.prompts[0]) == ([], ["one"])


async def test_a_session_is_opened_slowly_and_others_do_not_wait_for_it() -> None:
    opening = Gate()
    agent = ScriptedAgent(opening=[opening])
    async with connected(agent) as editor:
        slow = Chat(editor).ask("one")
        await quiet()
        assert not slow.is_settled
        await editor.call("lm/stats")
        opening.opened.set()
        await slow.settled()


class Prepared(ScriptedAgent):
    """An agent that has to be fetched, again and again."""

    def __init__(self) -> None:
        super().__init__()
        self.come = trio.Event()
        self.left = 0

    async def prepare(self) -> None:
        try:
            await self.come.wait()
        except trio.Cancelled:
            self.left += 1
            raise


async def test_a_request_waits_for_what_its_agent_needs() -> None:
    agent = Prepared()
    async with connected(agent) as editor:
        request = Chat(editor).ask("one")
        await quiet()
        assert (request.is_settled, agent.sessions_opened) == (False, [])
        agent.come.set()
        assert (await request.settled()).text == "ok"


async def test_a_cancelled_request_stops_what_is_got_for_it_and_the_next_one_gets_it() -> None:
    agent = Prepared()
    async with connected(agent) as editor:
        chat = Chat(editor)
        request = chat.ask("one")
        await quiet()
        editor.cancel(request)
        chat.keep(await request.settled())
        await quiet()
        assert (agent.left, agent.sessions_opened) == (1, [])
        agent.come.set()
        assert (await chat.say("two")).text == "ok"


async def test_what_an_agent_needs_and_cannot_be_had_fails_the_request() -> None:
    class Offline(ScriptedAgent):
        async def prepare(self) -> None:
            await trio.lowlevel.checkpoint()
            raise AgentError(Failure("Unavailable", "The registry can't be reached."))

    async with connected(Offline()) as editor:
        request = await Chat(editor).ask("one").settled()
    assert request.error["message"] == "The registry can't be reached."


async def test_a_turn_that_ends_without_a_word_of_why_is_a_failure_of_the_agent() -> None:
    class Mute(trio.abc.ReceiveChannel[Batch]):
        async def receive(self) -> Batch:
            await trio.lowlevel.checkpoint()
            raise trio.EndOfChannel

        async def aclose(self) -> None:
            await trio.lowlevel.checkpoint()

    class MuteAgent(Agent):
        handle = None
        knows_history = False
        lost = None
        has_own_process = False
        process = None

        @asynccontextmanager
        async def session(
            self, prompt: Prompt, origin: Origin = FRESH
        ) -> AsyncGenerator[MuteAgent, None]:
            yield self

        def can_offer(self, tools: Sequence[ToolSpec], settings: Settings) -> bool:
            return True

        async def renew(self, prompt: Prompt) -> None: ...

        def run(self, prompt: Prompt) -> Turn:
            return Mute()

        def answer(self, answer: Answer) -> None: ...

        async def cancel(self) -> None: ...

    async with connected(MuteAgent()) as editor:
        request = await Chat(editor).ask("one").settled()
    assert request.error["data"]["kind"] == "AgentFailed"


# What is shown.


@pytest.mark.parametrize(
    ("reason", "notice"),
    [
        (StopReason.END_TURN, "without an answer"),
        (StopReason.MAX_TOKENS, "token limit"),
        (StopReason.REFUSAL, "refused"),
        (StopReason.CANCELLED, "cancelled"),
    ],
)
async def test_an_answer_that_resolves_by_itself_is_never_empty(
    reason: StopReason, notice: str
) -> None:
    """VS Code takes an empty one for a failure and asks again."""
    agent = ScriptedAgent([[Say(""), Stop(reason)]])
    async with connected(agent) as editor:
        request = await Chat(editor).say("one")
    assert notice in request.text


async def test_a_notice_of_ours_comes_back_as_part_of_the_answer() -> None:
    agent = ScriptedAgent([[Say("Well"), Stop(StopReason.MAX_TOKENS)]])
    async with connected(agent) as editor:
        chat = Chat(editor)
        first = await chat.say("one")
        assert first.text.startswith("Well\n\n*The agent stopped")
        await chat.say("two")
    assert told(agent.prompts[-1]) == ([], ["two"])
