"""A chat that goes on elsewhere gives back what a session costs, and the way back stays open."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import pytest
import trio

from actors.mailbox import SUPERSEDED_SECONDS
from agents.events import AskPermission, Await, CallTool, Say, Stop
from agents.origin import FRESH, Resumed
from tests.fakes.acp_agents import agent_in_process
from tests.fakes.editor import (
    ASKING,
    Chat,
    FakeEditor,
    connected,
    message,
    quiet,
    tool_result,
    tools,
)
from tests.fakes.scripted_agent import Gate, Hang, ScriptedAgent, Step

from .scenes import cancels_before_it_is_told, told

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trio.testing import MockClock

JSON = dict[str, Any]


def expensive(script: Sequence[Sequence[Step]] = (), **options: Any) -> ScriptedAgent:
    """Return an agent each session of which takes a process."""
    return ScriptedAgent(script, one_session_each=True, renames=False, **options)


async def talk(editor: FakeEditor, *words: str) -> Chat:
    chat = Chat(editor, options=ASKING)
    for word in words:
        await chat.say(word)
    return chat


async def edit(chat: Chat, *words: str, back: int = 2) -> list[JSON]:
    """Edit an earlier message and go on; return the history as it was before."""
    before = [*chat.history]
    chat.take_back(back)
    for word in words:
        await chat.say(word)
    return before


def built_in(editor: FakeEditor, log: str | None, origin: Chat | None = None) -> Chat:
    """Return a chat of the built-in agent, which says whose a request is and may name its log."""
    private: JSON = {"_conversationId": "c", "_telemetryTurn": 1, "_otelTraceContext": {}}
    chat = Chat(editor, options=ASKING | {"modelOptions": private})
    named = f"VSCODE_TARGET_SESSION_LOG: {log}\n" if log else ""
    chat.history = [message("system", f"Be kind.\n{named}")]
    chat.history += origin.history[1:] if origin else []
    return chat


@pytest.mark.limit("actors.mailbox.SUPERSEDED_SECONDS")
async def test_the_session_that_an_edit_leaves_is_closed_after_a_minute(
    autojump_clock: MockClock,
) -> None:
    agent = expensive()
    async with connected(agent) as editor:
        chat = await talk(editor, "one", "two", "three")
        await edit(chat, "two, rather", back=4)
        await trio.sleep(SUPERSEDED_SECONDS - 1)
        assert (await editor.call("lm/stats"))["sessions"] == 2
        await trio.sleep(2)
        stats = await editor.call("lm/stats")
        assert (stats["sessions"], stats["liveConversations"]) == (1, 2)
        assert agent.sessions_closed == [1]


async def test_of_many_edits_the_newest_keeps_its_session(autojump_clock: MockClock) -> None:
    agent = expensive()
    async with connected(agent) as editor:
        chat = await talk(editor, "one", "two", "three")
        for word in ("a", "b", "c", "d"):
            await edit(chat, word)
            await trio.sleep(1)
        assert agent.sessions_open == 5
        await trio.sleep(2 * SUPERSEDED_SECONDS)
        assert agent.sessions_closed == [1, 2, 3, 4]
        assert (await chat.say("four")).text == "ok"
        assert len(agent.origins) == 5


async def test_who_goes_back_is_answered_by_the_session_that_was_closed(
    autojump_clock: MockClock,
) -> None:
    agent = expensive()
    async with connected(agent) as editor:
        chat = await talk(editor, "one", "two")
        before = await edit(chat, "two, rather")
        await trio.sleep(2 * SUPERSEDED_SECONDS)
        edited, chat.history = chat.history, before
        await chat.say("three")
        assert agent.origins == [FRESH, FRESH, Resumed("scripted-1")]
        assert told(agent.prompts[-1]) == ([], ["three"])
        await trio.sleep(2 * SUPERSEDED_SECONDS)
        assert agent.sessions_open == 1, "now the edited line is left"
        chat.history = edited
        await chat.say("three, rather")
    assert agent.origins[3:] == [Resumed("scripted-2")]
    assert told(agent.prompts[-1]) == ([], ["three, rather"])


@pytest.mark.parametrize("options", [{"forgets": True}, {"has_handles": False}])
async def test_who_goes_back_is_told_again_where_the_session_can_t_be_found(
    autojump_clock: MockClock, options: JSON, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    agent = expensive(**options)
    async with connected(agent) as editor:
        chat = await talk(editor, "one", "two")
        before = await edit(chat, "two, rather")
        await trio.sleep(2 * SUPERSEDED_SECONDS)
        chat.history = before
        await chat.say("three")
    assert told(agent.prompts[-1]) == (["one", "ok", "two", "ok"], ["three"])
    why = "forgotten" if agent.has_handles else "superseded"
    assert f"conversation=1 turn=3 replayed told=4 why={why}" in caplog.text


async def test_who_goes_back_within_the_minute_finds_the_session_open(
    autojump_clock: MockClock,
) -> None:
    agent = expensive()
    async with connected(agent) as editor:
        chat = await talk(editor, "one", "two")
        before = await edit(chat, "two, rather")
        await trio.sleep(SUPERSEDED_SECONDS / 2)
        chat.history = before
        await chat.say("three")
        await trio.sleep(SUPERSEDED_SECONDS - 1)
        assert agent.sessions_open == 2
        await trio.sleep(2)
        assert agent.sessions_closed == [2]
        await chat.say("four")
    assert agent.origins == [FRESH, FRESH]


async def test_the_minute_begins_with_the_first_request_that_leads_elsewhere(
    autojump_clock: MockClock,
) -> None:
    agent = expensive()
    async with connected(agent) as editor:
        chat = await talk(editor, "one", "two")
        await edit(chat, "two, rather")
        for word in ("three", "four", "five"):
            await trio.sleep(SUPERSEDED_SECONDS / 3)
            await chat.say(word)
        await trio.sleep(1)
        assert agent.sessions_closed == [1]


async def test_sessions_that_share_a_process_stay_open(autojump_clock: MockClock) -> None:
    agent = ScriptedAgent()
    async with connected(agent) as editor:
        chat = await talk(editor, "one", "two")
        await edit(chat, "two, rather")
        await trio.sleep(2 * SUPERSEDED_SECONDS)
        assert agent.sessions_open == 2


async def test_a_session_whose_last_turn_was_stopped_is_told_again(
    autojump_clock: MockClock,
) -> None:
    """Nobody knows how much of the answer it remembers, so it isn't asked for."""
    agent = expensive([[Say("0")], [Say("1")], [Say("2"), Hang()]])
    async with connected(agent) as editor:
        chat = await talk(editor, "zero", "one")
        request = await chat.ask("two").shows("2")
        editor.cancel(request)
        chat.keep(await request.settled())
        before = await edit(chat, "one, rather", back=4)
        await trio.sleep(2 * SUPERSEDED_SECONDS)
        assert agent.sessions_closed == [1]
        chat.history = before
        await chat.say("three")
    assert agent.origins == [FRESH, FRESH, FRESH]
    assert told(agent.prompts[-1]) == (["zero", "0", "one", "1", "two", "2"], ["three"])


# What stays.


async def test_a_session_with_a_question_to_the_user_stays_until_it_is_answered(
    autojump_clock: MockClock,
) -> None:
    """Where the host doesn't say whose a request is, the chat may be a copy of one that waits."""
    question = AskPermission("c", "Do it?")
    agent = expensive([[Say("0")], [Say("1")], [question, Await(), Say("done")]])
    async with connected(agent) as editor:
        chat = await talk(editor, "zero", "one")
        request = await chat.say("two")
        waiting = [*chat.history]
        await edit(chat, "one, rather", back=4)
        await trio.sleep(10 * SUPERSEDED_SECONDS)
        (call,) = request.calls
        chat.history = waiting
        assert "done" in (await chat.say(tool_result(call, "Approved"))).text
        assert agent.sessions_open == 2
        await trio.sleep(2 * SUPERSEDED_SECONDS)
        assert agent.sessions_closed == [2], "the edited line is the one that is left now"
    assert agent.origins == [FRESH, FRESH]


async def test_a_session_that_waits_for_a_tool_stays(autojump_clock: MockClock) -> None:
    call_it: Sequence[Step] = [CallTool("c", "tests", {}), Await(), Say("passed")]
    agent = expensive([[Say("0")], [Say("1")], call_it])
    async with connected(agent) as editor:
        chat = await talk(editor, "zero", "one")
        chat.options = tools("tests")
        request = await chat.say("two")
        waiting = [*chat.history]
        await edit(chat, "one, rather", back=4)
        await trio.sleep(2 * SUPERSEDED_SECONDS)
        (call,) = request.calls
        chat.history = waiting
        assert (await chat.say(tool_result(call, "42"))).text == "passed"
    assert len(agent.origins) == 2


async def test_a_session_at_work_is_closed_when_its_turn_has_ended(
    autojump_clock: MockClock,
) -> None:
    gate = Gate()
    agent = expensive([[Say("0")], [Say("1")], [Say("2"), gate, Say("3"), Stop()]])
    async with connected(agent) as editor:
        chat = built_in(editor, "one")
        for word in ("zero", "one"):
            await chat.say(word)
        request = await chat.ask("two").shows("2")
        edited = built_in(editor, "one")
        edited.history = chat.history[:3]
        await edited.say("one, rather")
        await trio.sleep(2 * SUPERSEDED_SECONDS)
        assert agent.sessions_closed == []
        gate.opened.set()
        assert (await request.settled()).text == "23"
        await quiet()
        assert agent.sessions_closed == [1]


# What is no line of the same chat.


@pytest.mark.parametrize("log", ["one", None])
async def test_the_first_message_of_a_chat_is_edited(
    autojump_clock: MockClock, log: str | None
) -> None:
    """Nothing is left that both share, but the host says that it is the same chat."""
    agent = expensive()
    async with connected(agent) as editor:
        chat = built_in(editor, log)
        for word in ("one", "two"):
            await chat.say(word)
        await edit(chat, "one, rather", back=4)
        await trio.sleep(2 * SUPERSEDED_SECONDS)
        assert agent.sessions_closed == [1]


@pytest.mark.parametrize("messages", [4, 2], ids=["whole", "its beginning"])
async def test_a_copy_of_a_chat_and_its_origin_both_keep_their_sessions(
    autojump_clock: MockClock, messages: int
) -> None:
    agent = expensive()
    async with connected(agent) as editor:
        origin = built_in(editor, "one")
        for word in ("one", "two"):
            await origin.say(word)
        copy = built_in(editor, "two", origin)
        del copy.history[1 + messages :]
        await copy.say("three, in the copy")
        await trio.sleep(2 * SUPERSEDED_SECONDS)
        assert agent.sessions_open == 2
        await edit(copy, "three, rather, in the copy")
        await trio.sleep(2 * SUPERSEDED_SECONDS)
        assert agent.sessions_closed == [2], "the line of the copy that was left, alone"


async def test_another_chat_and_what_is_asked_beside_it_leave_a_session_alone(
    autojump_clock: MockClock,
) -> None:
    agent = expensive()
    async with connected(agent) as editor:
        await talk(editor, "one", "two")
        await talk(editor, "another", "chat")
        title: JSON = {"modelOptions": {"_otelTraceContext": {}}, "tools": []}
        await editor.chat([message("user", "a title")], options=title).settled()
        await trio.sleep(2 * SUPERSEDED_SECONDS)
        assert agent.sessions_open == 2


async def test_the_end_of_a_chat_does_not_depend_on_its_session(autojump_clock: MockClock) -> None:
    """It ends when it was idle for its time, closed or not."""
    agent = expensive()
    async with connected(agent) as editor:
        chat = Chat(editor, settings={"idleSeconds": 600})
        for word in ("one", "two"):
            await chat.say(word)
        await edit(chat, "two, rather")
        await trio.sleep(500)
        assert (await editor.call("lm/stats"))["liveConversations"] == 2
        await trio.sleep(300)
        assert (await editor.call("lm/stats"))["liveConversations"] == 0
        assert agent.sessions_open == 0


async def test_the_editor_leaves_while_a_session_is_closed_for_now(
    autojump_clock: MockClock,
) -> None:
    agent = expensive()
    async with connected(agent) as editor:
        chat = await talk(editor, "one", "two")
        await edit(chat, "two, rather")
        await trio.sleep(2 * SUPERSEDED_SECONDS)
    assert agent.sessions_open == 0


# With ACP agents.

OPENCODE: JSON = {"agentInfo": {"name": "OpenCode", "version": "1"}}


@pytest.mark.parametrize("way", ["resume", "load", None])
async def test_one_process_and_a_spare_are_left_of_an_agent_whose_sessions_need_one_each(
    autojump_clock: MockClock, way: str | None
) -> None:
    sessions: JSON = {"close": {}, **({"resume": {}} if way == "resume" else {})}
    able = {"loadSession": way == "load", "sessionCapabilities": sessions}
    script: JSON = {
        "agent": OPENCODE | {"agentCapabilities": able},
        "words": {"who?": [{"memory": True}]},
    }
    async with agent_in_process(script) as (agent, peers), connected(agent) as editor:
        chat = await talk(editor, "I am Ada", "two")
        before = [*chat.history]
        for word in ("a", "b", "c", "d"):
            await edit(chat, word)
        assert peers.running == 5
        await trio.sleep(120)
        assert peers.running == 2
        chat.history = before
        answer = (await chat.say("who?")).text
        assert len(peers.peers) == 5, "the spare was used"
        if way is None:
            assert "conversation_record" in answer
        else:
            assert answer == "I am Ada / two / who?"
            assert len(peers.asked(f"session/{way}")) == 1
        assert peers.faults == []


@pytest.mark.parametrize("renames", [True, False])
async def test_an_empty_session_that_replaced_a_forgotten_one_is_never_continued_as_if_it_knew(
    renames: bool, autojump_clock: MockClock
) -> None:
    """The request that it was opened for was cancelled, so it is closed without a word."""
    agent = expensive()
    agent.renames = renames
    async with connected(agent) as editor:
        chat = await talk(editor, "one", "two")
        before = await edit(chat, "two, rather")
        await trio.sleep(2 * SUPERSEDED_SECONDS)
        edited, chat.history, agent.forgets = chat.history, before, True
        await cancels_before_it_is_told(agent, chat, "three")
        await quiet()
        agent.forgets, agent.opening = False, ()
        before, chat.history = chat.history, edited
        await chat.say("three, rather")
        await trio.sleep(2 * SUPERSEDED_SECONDS)
        chat.history = before
        await chat.say("four")
    known, new = told(agent.prompts[-1])
    assert known[:4] == ["one", "ok", "two", "ok"]
    assert new[-1] == "four"
