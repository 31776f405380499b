"""Sessions that outlive a conversation: who goes on with which, and what it is told.

What becomes of a session that is lost within a conversation is in test_lost_sessions.py.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pytest
import trio

from actors.beginning import Start
from actors.memory import Known
from agents.events import Await, Break, CallTool, Say, Stop, StopReason
from agents.origin import FRESH, Resumed
from bridge.errors import Failure
from bridge.history.message import Message
from tests.fakes.editor import Chat, FakeEditor, connected, message, quiet, tool_result, tools, user
from tests.fakes.scripted_agent import Crash, Hang, Script, ScriptedAgent
from tests.fakes.session_memory import Shelf, ShelfMemory, State

from .scenes import cancels_before_it_is_told, told

if TYPE_CHECKING:
    from trio.testing import MockClock

JSON = dict[str, Any]
GONE = Failure("AgentFailed", "The agent is gone; try again.")


def lasting(script: Script = (), **options: Any) -> ScriptedAgent:
    """Return an agent whose sessions keep their handles, as those of ACP agents do."""
    return ScriptedAgent(script, renames=False, **options)


def again(editor: FakeEditor, chat: Chat, **options: Any) -> Chat:
    """Return the chat as another window, or the same after a reload, has it."""
    reopened = Chat(editor, **options)
    reopened.history = list(chat.history)
    return reopened


async def led(agent: ScriptedAgent, shelf: Shelf, *words: str) -> Chat:
    """Lead a chat in a process that ends then."""
    async with connected(agent, memory=ShelfMemory(shelf)) as editor:
        chat = Chat(editor)
        for word in words:
            await chat.say(word)
    return chat


async def reopened(agent: ScriptedAgent, shelf: Shelf, chat: Chat, *words: str) -> Chat:
    """Lead a chat on in a process of its own."""
    async with connected(agent, memory=ShelfMemory(shelf)) as editor:
        chat = again(editor, chat)
        for word in words:
            await chat.say(word)
    return chat


# After a restart.


async def test_a_chat_goes_on_in_its_session_after_a_restart() -> None:
    agent, shelf = lasting(), Shelf()
    chat = await led(agent, shelf, "one", "two")
    async with connected(agent, memory=ShelfMemory(shelf)) as editor:
        chat = again(editor, chat)
        await chat.say("three")
        await chat.say("four")
    assert agent.origins == [FRESH, Resumed("scripted-1")]
    assert [told(prompt) for prompt in agent.prompts[2:]] == [([], ["three"]), ([], ["four"])]


async def test_what_a_session_was_called_before_it_was_found_is_held_no_more() -> None:
    class Noting(ShelfMemory):
        released: tuple[str, ...] = ()

        def release(self, scope: bytes, handle: str) -> None:
            super().release(scope, handle)
            self.released = (*self.released, handle)

    agent, shelf = ScriptedAgent(renames=True), Shelf()
    chat = await led(agent, shelf, "one")
    memory = Noting(shelf)
    async with connected(agent, memory=memory) as editor:
        await again(editor, chat).say("two")
        assert memory.released == ("scripted-1",)


@pytest.mark.parametrize("renames", [True, False])
async def test_it_does_so_again_and_again(renames: bool) -> None:
    """Whether or not the session has another handle each time."""
    agent, shelf = ScriptedAgent(renames=renames), Shelf()
    chat = await led(agent, shelf, "one")
    for word in ("two", "three", "four"):
        chat = await reopened(agent, shelf, chat, word)
    names = (1, 2, 3) if renames else (1, 1, 1)
    assert agent.origins == [FRESH, *(Resumed(f"scripted-{name}") for name in names)]
    assert [told(prompt) for prompt in agent.prompts[1:]] == [
        ([], ["two"]),
        ([], ["three"]),
        ([], ["four"]),
    ]


async def test_what_another_model_said_meanwhile_is_all_that_it_is_told() -> None:
    agent, shelf = lasting(), Shelf()
    chat = await led(agent, shelf, "one")
    chat.history += [user("two"), message("assistant", "by another")]
    async with connected(agent, memory=ShelfMemory(shelf)) as editor:
        await again(editor, chat).say("three")
    assert agent.origins == [FRESH, Resumed("scripted-1")]
    assert told(agent.prompts[-1]) == (["two", "by another"], ["three"])


async def test_a_chat_that_a_host_rebuilt_after_a_reload_is_found() -> None:
    """What was stopped comes back as it was visible, and of its question only what was typed."""
    agent = lasting([[Say("see [a](b)")], [Say("half of it"), Hang()], [Say("done")]])
    shelf = Shelf()
    async with connected(agent, memory=ShelfMemory(shelf)) as editor:
        chat = Chat(editor)
        await chat.say("<context>\nMonday\n</context>\n<userRequest>\none\n</userRequest>")
        request = await chat.ask("<context>\nx\n</context>\n<prompt>two</prompt>").shows("half")
        editor.cancel(request)
        await request.settled()
        await chat.say("three")
    async with connected(agent, memory=ShelfMemory(shelf)) as editor:
        chat = Chat(editor)
        chat.history = [
            user("<context>\nMonday\n</context>\n<userRequest>\none\n</userRequest>"),
            message("assistant", "see a"),
            user("<userRequest>\ntwo\n</userRequest>"),
            message("assistant", "half"),
            user("three"),
            message("assistant", "done"),
        ]
        await chat.say("four")
    assert agent.origins == [FRESH, Resumed("scripted-1")]
    assert told(agent.prompts[-1]) == ([], ["four"])


async def test_a_chat_that_a_host_has_shortened_is_found_by_its_summary() -> None:
    agent, shelf = lasting([[Say("1")], [Say("2")], [Say("3")], [Say("4")]]), Shelf()
    async with connected(agent, memory=ShelfMemory(shelf)) as editor:
        chat = Chat(editor)
        for word in ("one", "two", "three"):
            await chat.say(word)
        chat.history[:4] = [user("<conversation-summary>\nCounting.\n</conversation-summary>")]
        await chat.say("four")
    await reopened(agent, shelf, chat, "five")
    assert agent.origins == [FRESH, Resumed("scripted-1")]
    assert told(agent.prompts[-1]) == ([], ["five"])


async def test_an_agent_that_forgot_the_session_is_told_everything() -> None:
    agent, shelf = lasting(), Shelf()
    chat = await led(agent, shelf, "one")
    agent.forgets = True
    chat = await reopened(agent, shelf, chat, "two")
    assert told(agent.prompts[-1]) == (["one", "ok"], ["two"])
    assert shelf.state_of("scripted-1") is State.RUNNING, "nobody asks for it again"
    agent.forgets = False
    await reopened(agent, shelf, chat, "three")
    assert agent.origins == [FRESH, Resumed("scripted-1"), Resumed("scripted-2")]
    assert told(agent.prompts[-1]) == ([], ["three"])


async def test_an_agent_without_handles_is_told_everything() -> None:
    agent, shelf = lasting(has_handles=False), Shelf()
    chat = await led(agent, shelf, "one")
    await reopened(agent, shelf, chat, "two")
    assert agent.origins == [FRESH, FRESH]
    assert told(agent.prompts[-1]) == (["one", "ok"], ["two"])
    assert shelf.entries == {}


async def test_the_sessions_of_another_agent_or_folder_are_not_found(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    agent, shelf = lasting(), Shelf()
    chat = await led(agent, shelf, "one")
    async with connected(agent, memory=ShelfMemory(shelf)) as editor:
        await again(editor, chat, agent={"acp": {"name": "x", "command": "x"}}).say("two")
    monkeypatch.chdir(tmp_path)
    async with connected(agent, memory=ShelfMemory(shelf)) as editor:
        await again(editor, chat).say("two")
    assert agent.origins == [FRESH] * 3


# After idle time, or too many others.


async def test_a_session_that_ended_by_idle_time_is_found_by_the_next_request(
    autojump_clock: MockClock,
) -> None:
    agent = lasting()
    async with connected(agent, memory=ShelfMemory()) as editor:
        chat = Chat(editor, settings={"idleSeconds": 60})
        await chat.say("one")
        await until_idle(61)
        assert agent.sessions_closed == [1]
        await chat.say("two")
    assert agent.origins == [FRESH, Resumed("scripted-1")]
    assert told(agent.prompts[-1]) == ([], ["two"])


async def until_idle(seconds: float) -> None:
    await trio.sleep(seconds)
    await quiet()


async def test_a_session_that_gave_way_to_others_is_found_by_the_next_request() -> None:
    agent = lasting()
    async with connected(agent, memory=ShelfMemory()) as editor:
        chats = [Chat(editor, settings={"maxSessions": 1}) for _ in range(2)]
        await chats[0].say("one")
        await chats[1].say("other")
        await quiet()
        await chats[0].say("two")
        await quiet()
        await chats[1].say("another")
    assert agent.origins == [FRESH, FRESH, Resumed("scripted-1"), Resumed("scripted-2")]
    assert [told(prompt) for prompt in agent.prompts[2:]] == [([], ["two"]), ([], ["another"])]


async def test_a_live_session_is_not_found_by_another_conversation() -> None:
    """Here: two chats with the same beginning, as when one was forked."""
    agent = lasting()
    async with connected(agent, memory=ShelfMemory()) as editor:
        chat = Chat(editor)
        await chat.say("one")
        await chat.say("two")
        fork = again(editor, chat)
        fork.take_back(2)
        await fork.say("two, rather")
        assert told(agent.prompts[-1]) == (["one", "ok"], ["two, rather"])
        await chat.say("three")
        await fork.say("three, rather")
    assert agent.origins == [FRESH, FRESH]


@pytest.mark.parametrize("settings", [{"maxSessions": 1}, {"idleSeconds": 60}])
async def test_a_line_of_the_chat_that_was_closed_is_found_beside_one_that_lives(
    settings: JSON, autojump_clock: MockClock
) -> None:
    """Though the live one shares its beginning: that is all of which there is a record here."""
    agent = lasting()
    async with connected(agent, memory=ShelfMemory()) as editor:
        chat = Chat(editor, settings=settings)
        for word in ("one", "two", "three"):
            await chat.say(word)
        await trio.sleep(100)
        edited = again(editor, chat, settings=settings)
        edited.take_back(4)
        await edited.say("two, rather")
        assert told(agent.prompts[-1]) == (["one", "ok"], ["two, rather"])
        await chat.say("four")
        assert told(agent.prompts[-1]) == ([], ["four"])
        await chat.say("five")
    assert agent.origins == [FRESH, FRESH, Resumed("scripted-1")]


async def test_a_line_that_is_known_to_nobody_is_told_as_what_was_said() -> None:
    agent = ScriptedAgent(forgets=True)
    async with connected(agent) as editor:
        chat = Chat(editor)
        await chat.say("one")
        other = again(editor, chat)
        other.history += [user("two"), message("assistant", "said elsewhere")]
        await other.say("three")
        edited = again(editor, chat)
        edited.history += [user("two, rather"), message("assistant", "said elsewhere, too")]
        await edited.say("three, rather")
    assert told(agent.prompts[-1]) == (
        ["one", "ok", "two, rather", "said elsewhere, too"],
        ["three, rather"],
    )


# What is never gone on with.


@pytest.mark.parametrize("word", ["two, rather", "two"], ids=["an edit", "a retry"])
async def test_a_chat_that_moved_on_is_never_resumed_at_an_old_point(word: str) -> None:
    agent, shelf = lasting(), Shelf()
    chat = await led(agent, shelf, "one", "two")
    chat.take_back(2)
    await reopened(agent, shelf, chat, word)
    assert agent.origins == [FRESH, FRESH]
    assert told(agent.prompts[-1]) == (["one", "ok"], [word])


async def test_going_back_to_what_was_edited_finds_its_session() -> None:
    agent, shelf = lasting(), Shelf()
    chat = await led(agent, shelf, "one", "two")
    edited = await led(agent, shelf)
    edited.history = chat.history[:2]
    await reopened(agent, shelf, edited, "two, rather")
    await reopened(agent, shelf, chat, "three")
    assert agent.origins == [FRESH, FRESH, Resumed("scripted-1")]
    assert told(agent.prompts[-1]) == ([], ["three"])


@pytest.mark.parametrize(
    "ends",
    [[Crash(GONE)], [Break(GONE)], [Stop(StopReason.CANCELLED)], [Hang()]],
    ids=["crash", "failure", "cut", "cancel"],
)
async def test_a_session_whose_turn_did_not_settle_is_never_found(ends: list[Any]) -> None:
    agent, shelf = lasting([[Say("1")], [Say("2"), *ends]]), Shelf()
    async with connected(agent, memory=ShelfMemory(shelf)) as editor:
        chat = Chat(editor)
        await chat.say("one")
        request = await chat.ask("two").shows("2")
        editor.cancel(request)
        await request.settled()
    assert shelf.state_of("scripted-1") is State.RUNNING
    chat.take_back(1)
    await reopened(agent, shelf, chat, "two")
    assert agent.origins == [FRESH, FRESH]
    assert told(agent.prompts[-1]) == (["one", "1"], ["two"])


async def test_a_process_that_is_killed_in_mid_turn_leaves_nothing_to_be_found() -> None:
    agent, shelf = lasting([[Say("1")], [Say("2"), Hang()]]), Shelf()
    async with connected(agent, memory=ShelfMemory(shelf)) as editor:
        chat = Chat(editor)
        await chat.say("one")
        assert shelf.state_of("scripted-1") is State.SETTLED
        await chat.ask("two").shows("2")
        assert shelf.state_of("scripted-1") is State.RUNNING
        chat.take_back(1)
        async with connected(agent, memory=ShelfMemory(shelf)) as after_restart:
            await again(after_restart, chat).say("two")
    assert agent.origins == [FRESH, FRESH]


async def test_a_session_is_found_again_after_the_turn_that_follows_a_cancel() -> None:
    agent, shelf = lasting([[Say("1")], [Say("2"), Hang()]]), Shelf()
    async with connected(agent, memory=ShelfMemory(shelf)) as editor:
        chat = Chat(editor)
        await chat.say("one")
        request = await chat.ask("two").shows("2")
        editor.cancel(request)
        chat.keep(await request.settled())
        await chat.say("three")
    await reopened(agent, shelf, chat, "four")
    assert agent.origins == [FRESH, Resumed("scripted-1")]
    assert told(agent.prompts[-1]) == ([], ["four"])


async def test_a_session_that_waits_for_results_is_not_found() -> None:
    agent = lasting([[Say("1"), CallTool("c", "look", {}), Await(), Say("2")]])
    shelf = Shelf()
    async with connected(agent, memory=ShelfMemory(shelf)) as editor:
        chat = Chat(editor, options=tools("look"))
        request = await chat.say("one")
        assert shelf.state_of("scripted-1") is State.RUNNING
        await chat.say(tool_result(request.calls[0], "seen"))
        assert shelf.state_of("scripted-1") is State.SETTLED
    await reopened(agent, shelf, chat, "two")
    assert agent.origins == [FRESH, Resumed("scripted-1")]


async def test_a_turn_without_an_answer_leaves_nothing_to_be_found() -> None:
    agent, shelf = lasting([[Say("1")], [Break(GONE)]]), Shelf()
    async with connected(agent, memory=ShelfMemory(shelf)) as editor:
        chat = Chat(editor)
        await chat.say("one")
        await chat.ask("two").settled()
    assert shelf.state_of("scripted-1") is State.RUNNING


async def test_a_session_that_was_kept_though_something_was_withdrawn_is_not_found() -> None:
    agent, shelf = lasting(), Shelf()
    async with connected(agent, memory=ShelfMemory(shelf)) as editor:
        chat = Chat(editor, settings={"rewind": "continue"})
        await chat.say("one")
        await chat.say("two")
        chat.take_back(2)
        await chat.say("two, rather")
    assert shelf.state_of("scripted-1") is State.RUNNING
    await reopened(agent, shelf, chat, "three")
    assert agent.origins == [FRESH, FRESH]


async def test_what_is_asked_beside_a_chat_is_neither_remembered_nor_resumed() -> None:
    agent, shelf = lasting(), Shelf()
    chat = await led(agent, shelf, "one")
    memory = ShelfMemory(shelf)
    title = [
        message("system", "You are an expert in crafting ultra-compact titles for chatbot."),
        *chat.history,
        user("Please write a brief title for the following request:\n\none"),
    ]
    async with connected(agent, memory=memory) as editor:
        await editor.chat(title, options={"modelOptions": {"_otelTraceContext": {}}}).settled()
        stats = await editor.call("lm/stats")
    assert stats["requestsByClass"] == {"utility": 1}
    assert memory.asked == []
    assert agent.origins == [FRESH, FRESH]
    assert [handle for _, handle in shelf.entries] == ["scripted-1"]


# Two processes at once.


async def test_of_two_windows_with_one_chat_the_first_goes_on_and_the_other_is_told() -> None:
    agent, shelf = lasting(), Shelf()
    chat = await led(agent, shelf, "one")
    async with (
        connected(agent, memory=ShelfMemory(shelf)) as left,
        connected(agent, memory=ShelfMemory(shelf)) as right,
    ):
        await again(left, chat).say("two")
        await again(right, chat).say("two, rather")
    assert agent.origins == [FRESH, Resumed("scripted-1"), FRESH]
    assert told(agent.prompts[1]) == ([], ["two"])
    assert told(agent.prompts[2]) == (["one", "ok"], ["two, rather"])


async def test_who_lost_its_session_to_another_window_tells_a_new_one_and_goes_on() -> None:
    agent, shelf = lasting(), Shelf()
    async with (
        connected(agent, memory=ShelfMemory(shelf)) as left,
        connected(agent, memory=ShelfMemory(shelf)) as right,
    ):
        chat = Chat(left)
        await chat.say("one")
        await again(right, chat).say("two, rather")
        await chat.say("two")
        await chat.say("three")
    assert agent.origins == [FRESH, Resumed("scripted-1"), FRESH]
    assert [told(prompt) for prompt in agent.prompts[1:]] == [
        ([], ["two, rather"]),
        (["one", "ok"], ["two"]),
        ([], ["three"]),
    ]
    assert agent.cancels == []


async def test_a_memory_that_contradicts_itself_keeps_no_request_from_its_answer() -> None:
    class Contrary(ShelfMemory):
        async def find(self, scope: bytes, path: Sequence[Message]) -> Known | None:
            await super().find(scope, path)
            return Known("scripted-1", 2)

        async def begin(self, scope: bytes, handle: str) -> bool:
            return handle != "scripted-1" and await super().begin(scope, handle)

    agent, shelf = lasting(), Shelf()
    chat = await led(agent, shelf, "one")
    async with connected(agent, memory=Contrary(shelf)) as editor:
        assert (await again(editor, chat).say("two")).text == "ok"
    assert agent.origins == [FRESH, Resumed("scripted-1"), FRESH]


async def test_a_session_that_was_found_and_is_lost_then_goes_on_like_any_other() -> None:
    """What it knew when it was found says nothing any more, and may be told in other words."""
    agent, shelf = lasting(), Shelf()
    chat = await led(agent, shelf, "one")
    async with connected(agent, memory=ShelfMemory(shelf)) as editor:
        chat = again(editor, chat)
        await chat.say("two")
        agent.lose(GONE)
        chat.history.insert(0, user("<environment_info>\nLinux\n</environment_info>"))
        await chat.say("three")
    assert agent.origins == [FRESH, Resumed("scripted-1"), Resumed("scripted-1")]
    assert told(agent.prompts[-1]) == ([], ["three"])


# What happens while a session is looked for or opened.


async def test_an_agent_that_can_t_be_had_leaves_the_session_to_be_found_later() -> None:
    agent, shelf = lasting(), Shelf()
    chat = await led(agent, shelf, "one")
    agent.opening = [Crash(GONE)]
    async with connected(agent, memory=ShelfMemory(shelf)) as editor:
        chat = again(editor, chat)
        assert (await chat.ask("two").settled()).error["message"] == GONE.message
        agent.opening = ()
        await chat.say("three")
    assert agent.origins == [FRESH, Resumed("scripted-1")]
    assert told(agent.prompts[-1]) == (["two"], ["three"])


async def test_what_was_cancelled_before_the_agent_saw_it_is_told_with_the_next_request() -> None:
    agent, shelf = lasting(), Shelf()
    chat = await led(agent, shelf, "one")
    async with connected(agent, memory=ShelfMemory(shelf)) as editor:
        chat = again(editor, chat)
        await cancels_before_it_is_told(agent, chat, "two")
        await quiet()
        await chat.say("three")
    assert agent.origins == [FRESH, Resumed("scripted-1")]
    assert told(agent.prompts[-1]) == (["two"], ["three"])


async def test_a_session_that_was_found_for_a_request_which_is_gone_is_given_back() -> None:
    agent, shelf = lasting(), Shelf()
    chat = await led(agent, shelf, "one")
    async with connected(agent, memory=ShelfMemory(shelf)) as editor:
        await cancels_before_it_is_told(agent, again(editor, chat), "two")
    assert len(agent.prompts) == 1
    assert shelf.state_of("scripted-1") is State.SETTLED
    await reopened(agent, shelf, chat, "two")
    assert agent.origins == [FRESH, Resumed("scripted-1"), Resumed("scripted-1")]


async def test_a_host_that_tells_the_chat_in_other_words_meanwhile_gets_a_session_that_fits() -> (
    None
):
    """Where what is known ends is counted in messages, and the host has put one in front."""
    agent, shelf = lasting(), Shelf()
    chat = await led(agent, shelf, "one")
    async with connected(agent, memory=ShelfMemory(shelf)) as editor:
        chat = again(editor, chat)
        await cancels_before_it_is_told(agent, chat, "two")
        await quiet()
        chat.history.insert(0, user("<environment_info>\nLinux\n</environment_info>"))
        await chat.say("three")
    assert agent.origins == [FRESH, Resumed("scripted-1"), Resumed("scripted-1")]
    assert told(agent.prompts[-1]) == (["two"], ["three"])


# Why.


@pytest.mark.parametrize(
    ("memory", "expected"),
    [(True, "stored told=0"), (False, "replayed told=2 why=new")],
)
async def test_how_a_session_began_is_in_the_log(
    caplog: pytest.LogCaptureFixture, memory: bool, expected: str
) -> None:
    agent, shelf = lasting(), Shelf()
    chat = await led(agent, shelf, "one")
    caplog.clear()
    with caplog.at_level(logging.INFO, "vscodelm"):
        async with connected(agent, memory=ShelfMemory(shelf if memory else Shelf())) as editor:
            await again(editor, chat).say("two")
            stats = await editor.call("lm/stats")
    assert f"conversation=1 turn=1 {expected}" in caplog.messages
    assert stats["matchesByRule"] == ({"stored": 1} if memory else {})
    assert stats["missesByReason"] == {"new": 1}


async def test_why_a_session_was_replaced_is_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    agent, shelf = lasting([[Say("1")], [Say("2"), Hang()]]), Shelf()
    with caplog.at_level(logging.INFO, "vscodelm"):
        async with (
            connected(agent, memory=ShelfMemory(shelf)) as left,
            connected(agent, memory=ShelfMemory(shelf)) as right,
        ):
            chat = Chat(left)
            await chat.say("one")
            request = await chat.ask("two").shows("2")
            left.cancel(request)
            await request.settled()
            chat.take_back(1)
            await chat.say("two, rather")
            agent.lose(GONE)
            await chat.say("three")
            await again(right, chat).say("four, rather")
            await chat.say("four")
            agent.forgets = True
            agent.lose(GONE)
            await chat.say("five")
    words = [line.split(" ", 2)[2] for line in caplog.messages if line.startswith("conversation=1")]
    starts = {start.value for start in Start}
    assert [line for line in words if line.split()[0] in starts] == [
        "fresh",
        "replayed told=2 why=withdrawn",
        "resumed told=0",
        "stored told=0",
        "replayed told=6 why=taken",
        "replayed told=8 why=forgotten",
    ]


@pytest.mark.parametrize(
    ("script", "breaks", "options", "why"),
    [
        ([[Say("1"), Crash(GONE)]], False, None, "lost"),
        ([[Say("1")]], True, None, "lost"),
        ([[Say("1")]], False, tools("look"), "tools"),
    ],
)
async def test_that_it_broke_or_takes_no_tools_is_in_the_log(
    caplog: pytest.LogCaptureFixture, script: Script, breaks: bool, options: JSON | None, why: str
) -> None:
    agent = lasting(script, has_handles=False)
    with caplog.at_level(logging.INFO, "vscodelm"):
        async with connected(agent, memory=ShelfMemory()) as editor:
            chat = Chat(editor)
            chat.keep(await chat.ask("one").settled())
            for session in agent.sessions:
                session.takes_tools = False
            if breaks:
                agent.lose(GONE)
            chat.options = options
            await chat.say("two")
    assert f"conversation=1 turn=2 replayed told=2 why={why}" in caplog.messages
