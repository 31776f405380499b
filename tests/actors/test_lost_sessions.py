"""A session that is lost between turns: it is found again, or another is told the transcript."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from actors.outbox import HIGH_WATER
from agents.events import AskPermission, Await, Break, Prompt, Say, Stop, StopReason, Think
from agents.origin import FRESH, Origin, Resumed
from bridge.errors import Failure
from bridge.wire import ChatMessage, TextPart
from tests.fakes.acp_agents import agent_as_child, agent_in_process
from tests.fakes.editor import ASKING, Chat, connected, quiet, tool_result
from tests.fakes.scripted_agent import (
    Burst,
    Crash,
    GiveUp,
    Hang,
    ScriptedAgent,
    ScriptedSession,
    Step,
)
from tests.fakes.waiting import until

from .scenes import cancels_before_it_is_told, told

if TYPE_CHECKING:
    from trio.testing import MockClock

JSON = dict[str, Any]
GONE = Failure("AgentFailed", "The agent is gone; try again.")


async def test_a_session_that_was_lost_between_turns_goes_on_and_is_told_only_what_is_new() -> None:
    agent = ScriptedAgent()
    async with connected(agent) as editor:
        chat = Chat(editor)
        await chat.say("one")
        agent.lose(GONE)
        assert (await chat.say("two")).text == "ok"
        agent.lose(GONE)
        await chat.say("three")
    assert agent.origins == [FRESH, Resumed("scripted-1"), Resumed("scripted-2")]
    assert [told(prompt) for prompt in agent.prompts] == [
        ([], ["one"]),
        ([], ["two"]),
        ([], ["three"]),
    ]


@pytest.mark.parametrize("agent", [ScriptedAgent(forgets=True), ScriptedAgent(has_handles=False)])
async def test_a_session_that_can_t_be_found_again_is_replaced_and_the_user_sees_nothing_of_it(
    agent: ScriptedAgent,
) -> None:
    async with connected(agent) as editor:
        chat = Chat(editor)
        await chat.say("one")
        agent.lose(GONE)
        assert (await chat.say("two")).text == "ok"
    assert agent.origins == [FRESH, Resumed("scripted-1") if agent.has_handles else FRESH]
    assert told(agent.prompts[-1]) == (["one", "ok"], ["two"])


async def test_a_session_that_is_lost_in_mid_turn_is_never_asked_for_again() -> None:
    """Nobody knows what the agent took of that turn."""
    agent = ScriptedAgent([[Say("1")], [Say("2"), Crash(GONE)]])
    async with connected(agent) as editor:
        chat = Chat(editor)
        await chat.say("one")
        await chat.ask("two").settled()
        chat.take_back(1)
        await chat.say("two")
    assert agent.origins == [FRESH, FRESH]
    assert told(agent.prompts[-1]) == (["one", "1"], ["two"])


@pytest.mark.parametrize("last", [Stop(StopReason.CANCELLED), Break(GONE)])
async def test_a_session_is_not_asked_for_again_if_its_last_turn_did_not_settle(last: Step) -> None:
    agent = ScriptedAgent([[Say("1")], [Say("2"), last]])
    async with connected(agent) as editor:
        chat = Chat(editor)
        await chat.say("one")
        request = await chat.ask("two").settled()
        chat.keep(request)
        agent.lose(GONE)
        await chat.say("three")
    assert agent.origins == [FRESH, FRESH]
    assert told(agent.prompts[-1])[1] == ["three"]
    assert told(agent.prompts[-1])[0][:3] == ["one", "1", "two"]


@pytest.mark.parametrize("keeps", [True, False])
async def test_a_session_is_not_asked_for_again_after_a_cancel(keeps: bool) -> None:
    """But it is after the next turn that ended by itself."""
    agent = ScriptedAgent([[Say("1")], [Say("2"), Hang()]])
    async with connected(agent) as editor:
        chat = Chat(editor)
        await chat.say("one")
        request = await chat.ask("two").shows("2")
        editor.cancel(request)
        await request.settled()
        await quiet()
        if keeps:
            chat.keep(request)
        agent.lose(GONE)
        await chat.say("three")
        assert agent.origins == [FRESH, FRESH]
        before, new = told(agent.prompts[-1])
        assert (before, new) == (["one", "1", "two", *(["2"] if keeps else [])], ["three"])
        agent.lose(GONE)
        await chat.say("four")
    assert agent.origins[2:] == [Resumed("scripted-2")]


async def test_a_cancel_that_comes_as_the_turn_ends_leaves_it_unsettled() -> None:
    """The user's record has less of it than the agent remembers."""
    long = "x" * 2 * HIGH_WATER
    agent = ScriptedAgent([[Say("1")], [Say(long), Say(long), Burst((Say("2"), Stop()))]])
    async with connected(agent) as editor:
        chat = Chat(editor)
        await chat.say("one")
        editor.stop_reading()
        request = chat.ask("two")
        await quiet()
        editor.cancel(request)
        await quiet()
        editor.go_on_reading()
        await request.settled()
        assert request.text == long * 2
        chat.keep(request)
        agent.lose(GONE)
        await chat.say("three")
    assert agent.origins == [FRESH, FRESH]
    assert told(agent.prompts[-1]) == (["one", "1", "two", long * 2], ["three"])


async def test_a_session_that_knows_what_was_withdrawn_is_not_asked_for_again() -> None:
    agent = ScriptedAgent()
    async with connected(agent) as editor:
        chat = Chat(editor)
        await chat.say("one")
        await chat.say("two")
        chat.take_back(2)
        agent.lose(GONE)
        await chat.say("two, rather")
    assert set(agent.origins) == {FRESH}
    assert told(agent.prompts[-1]) == (["one", "ok"], ["two, rather"])


async def test_a_session_that_is_lost_as_its_last_turn_is_withdrawn_is_replaced() -> None:
    """A cut answer is withdrawn within its conversation; a complete one becomes a branch."""
    agent = ScriptedAgent([[Say("1")], [Break(GONE)]])
    async with connected(agent) as editor:
        chat = Chat(editor)
        await chat.say("one")
        await chat.ask("two").settled()
        chat.take_back(1)
        agent.lose(GONE)
        await chat.say("two, rather")
    assert agent.origins == [FRESH, FRESH]
    assert told(agent.prompts[-1]) == (["one", "1"], ["two, rather"])


async def test_a_session_that_was_kept_though_something_was_withdrawn_is_not_asked_for_again() -> (
    None
):
    agent = ScriptedAgent()
    async with connected(agent) as editor:
        chat = Chat(editor, settings={"rewind": "continue"})
        await chat.say("one")
        await chat.say("two")
        chat.take_back(2)
        await chat.say("two, rather")
        agent.lose(GONE)
        await chat.say("three")
    assert agent.origins == [FRESH, FRESH]
    assert told(agent.prompts[-1]) == (["one", "ok", "two, rather", "ok"], ["three"])


async def test_a_session_that_was_lost_isn_t_asked_for_again_where_something_is_withdrawn_now() -> (
    None
):
    """Also where it would have been kept: what it knows needn't be known any more."""
    agent = ScriptedAgent()
    async with connected(agent) as editor:
        chat = Chat(editor, settings={"rewind": "continue"})
        await chat.say("one")
        await chat.say("two")
        chat.take_back(2)
        agent.lose(GONE)
        await chat.say("two, rather")
    assert agent.origins == [FRESH, FRESH]
    assert told(agent.prompts[-1]) == (["one", "ok"], ["two, rather"])


async def test_a_request_that_was_cancelled_before_the_agent_saw_it_is_told_when_it_is_found() -> (
    None
):
    agent = ScriptedAgent()
    async with connected(agent) as editor:
        chat = Chat(editor)
        await chat.say("one")
        agent.lose(GONE)
        await cancels_before_it_is_told(agent, chat, "two")
        await quiet()
        await chat.say("three")
    assert agent.origins == [FRESH, Resumed("scripted-1")]
    assert told(agent.prompts[-1]) == ([], ["two", "three"])


async def test_an_agent_that_can_t_be_had_for_a_while_still_finds_the_session_later() -> None:
    agent = ScriptedAgent()
    async with connected(agent) as editor:
        chat = Chat(editor)
        await chat.say("one")
        agent.lose(GONE)
        agent.opening = [Crash(GONE)]
        assert (await chat.ask("two").settled()).error["message"] == GONE.message
        agent.opening = ()
        await chat.say("three")
    assert agent.origins == [FRESH, Resumed("scripted-1")]
    assert told(agent.prompts[-1]) == ([], ["two", "three"])


async def test_a_session_that_is_lost_as_soon_as_it_is_opened_fails_the_request() -> None:
    """Or it would be opened again and again."""

    class Stillborn(ScriptedAgent):
        @asynccontextmanager
        async def session(
            self, prompt: Prompt, origin: Origin = FRESH
        ) -> AsyncGenerator[ScriptedSession, None]:
            async with super().session(prompt, origin) as session:
                session.lost = GONE
                yield session

    agent = Stillborn()
    async with connected(agent) as editor:
        assert (await Chat(editor).ask("one").settled()).error["message"] == GONE.message
        assert len(agent.origins) == 1


async def test_a_session_that_is_lost_while_it_waits_for_the_user_fails_the_request() -> None:
    """What it was about to do is gone with it; the next request is told the transcript."""
    agent = ScriptedAgent([[AskPermission("c", "Do it?"), Await(), Say("done")]])
    async with connected(agent) as editor:
        chat = Chat(editor, options=ASKING)
        request = await chat.say("one")
        agent.lose(GONE)
        (call,) = request.calls
        answer = await chat.ask(tool_result(call, "Approved")).settled()
        assert answer.error["message"] == GONE.message
        await chat.say("go on")
    assert agent.origins == [FRESH, FRESH]


@pytest.mark.parametrize("answers", [True, False], ids=["denied", "passed over"])
async def test_a_session_that_is_lost_as_its_turn_is_stopped_is_replaced_for_the_next_words(
    answers: bool,
) -> None:
    """The user goes on from a question with the words that the new session is asked then."""
    agent = ScriptedAgent([[Say("1"), AskPermission("c", "Do it?"), Await(), Say("done")]])
    agent.when_cancelled = (GiveUp(GONE),)
    async with connected(agent) as editor:
        chat = Chat(editor, options=ASKING)
        (call,) = (await chat.say("one")).calls
        words = (tool_result(call, "no"), "two") if answers else ("two",)
        assert (await chat.say(*words)).text == "ok"
    assert agent.origins == [FRESH, FRESH]
    before, new = told(agent.prompts[-1])
    assert (before[:2], new[-1]) == (["one", "1"], "two")


# What we said ourselves.


async def test_what_we_said_ourselves_is_shown_and_never_told_to_an_agent() -> None:
    agent = ScriptedAgent(
        [
            [Say("Let me see."), Say("\n\n- **Read** a.txt\n\n", by_us=True), Say("It says 42.")],
            [Say("Well"), Stop(StopReason.MAX_TOKENS)],
            [Stop()],
        ],
        forgets=True,
    )
    async with connected(agent) as editor:
        chat = Chat(editor)
        first = await chat.say("one")
        assert first.text == "Let me see.\n\n- **Read** a.txt\n\nIt says 42."
        assert "token limit" in (await chat.say("two")).text
        assert "without an answer" in (await chat.say("three")).text
        agent.lose(GONE)
        await chat.say("four")
    before = ["one", "Let me see.\n\nIt says 42.", "two", "Well", "three"]
    assert told(agent.prompts[-1]) == (before, ["four"])
    assert len(agent.origins) == 2


async def test_a_thought_that_is_shown_as_text_is_not_told_to_an_agent() -> None:
    agent = ScriptedAgent([[Think("hm"), Say("42")]], forgets=True)
    async with connected(agent) as editor:
        chat = Chat(editor, settings={"thinking": "text"})
        assert (await chat.say("one")).text == "hm\n\n42"
        agent.lose(GONE)
        await chat.say("two")
    assert told(agent.prompts[-1]) == (["one", "42"], ["two"])


async def test_what_we_said_ourselves_is_known_in_a_branch_too() -> None:
    """The answer before it was given in another conversation."""
    agent = ScriptedAgent([[Say("1"), Say("\n\n*note*", by_us=True)]])
    async with connected(agent) as editor:
        chat = Chat(editor)
        for word in ("one", "two", "three"):
            await chat.say(word)
        chat.take_back(4)
        await chat.say("two, rather")
    assert told(agent.prompts[-1]) == (["one", "1"], ["two, rather"])


async def test_the_tool_calls_of_an_agent_are_left_out_of_what_its_next_session_is_told() -> None:
    call = {"toolCallId": "1", "title": "Read a.txt", "kind": "read", "status": "completed"}
    tool_call: JSON = {"update": {"sessionUpdate": "tool_call", **call}}
    script: JSON = {
        "agent": able(),
        "turns": [[{"say": "Let me see."}, tool_call, {"say": "It says 42."}]],
        "words": {"die": [{"stop": "end_turn"}, {"exit": 1}]},
        "otherwise": [{"memory": True}],
    }
    async with agent_in_process(script, spares=False) as (agent, peers):
        async with connected(agent) as editor:
            chat = Chat(editor)
            assert "Read a.txt" in (await chat.say("one")).text
            async with agent.session(Prompt(())) as other:
                async for _ in other.run(Prompt((ChatMessage("user", (TextPart("die"),)),))):
                    pass
            await chat.say("two")
        (told,) = (
            block["text"]
            for prompt in peers.asked("session/prompt")
            for block in prompt["prompt"]
            if "conversation_record" in block["text"]
        )
        assert "Let me see.\n\nIt says 42." in told
        assert "Read a.txt" not in told


# While a process ends.


@pytest.mark.checklist(2, 4)
@pytest.mark.parametrize(
    "ends",
    [[{"exit": 1}], [{"close_stdout": True}], [{"child": 1000}, {"exit": 1}]],
    ids=["exit", "end of output", "its child holds the pipes"],
)
async def test_a_session_goes_on_though_it_isn_t_known_yet_how_its_process_ended(
    autojump_clock: MockClock, ends: list[JSON]
) -> None:
    """Last words are waited for, and the next request may come before."""
    dying: JSON = {"otherwise": [{"say": "ok"}, {"stop": "end_turn"}, *ends]}
    script: JSON = {"runs": [dying, {"otherwise": [{"memory": True}]}]}
    async with agent_in_process(script, spares=False) as (agent, peers):
        peers.exit_seconds = 0.2
        async with connected(agent) as editor:
            chat = Chat(editor)
            await chat.say("I am Ada")
            assert (await chat.say("who?")).text == "I am Ada / who?"
        assert len(peers.peers) == 2
        assert peers.faults == []


async def test_a_chat_is_told_again_where_its_session_is_loaded_and_empty(
    autojump_clock: MockClock,
) -> None:
    """Qwen 0.15 loads every session, and one that it doesn't have any more is empty."""
    dying: JSON = {"otherwise": [{"say": "Hello"}, {"stop": "end_turn"}, {"exit": 0}]}
    script: JSON = {
        "agent": able("load"),
        "keeps": False,
        "loads_anything": True,
        "words": {"who?": [{"memory": True}]},
    }
    runs = [{**script, **dying}, script]
    async with agent_in_process({"runs": runs}, spares=False) as (agent, peers):
        async with connected(agent) as editor:
            chat = Chat(editor)
            await chat.say("I am Ada")
            answer = (await chat.say("who?")).text
            assert (await chat.say("what?")).text == "ok"
        assert [answer.count(one) for one in ("I am Ada", "Hello", "who?")] == [1] * 3
        assert len(peers.asked("session/load")) == 1
        assert [block["text"] for block in peers.asked("session/prompt")[-1]["prompt"]] == ["what?"]
        assert peers.faults == []


# With real processes.


def able(*methods: str) -> JSON:
    found: JSON = {method: {} for method in ("close", *methods) if method != "load"}
    return {"agentCapabilities": {"loadSession": "load" in methods, "sessionCapabilities": found}}


@pytest.mark.parametrize(
    ("methods", "remembers"), [(("load",), True), ((), False)], ids=["load", "neither"]
)
@pytest.mark.checklist(4, 17, 18, 19)
async def test_a_chat_goes_on_in_a_new_process_when_the_agent_died_between_turns(
    methods: tuple[str, ...], remembers: bool
) -> None:
    """Points 4, 17, 18, 19: told only what is new where the agent remembers, else everything.

    How it is asked for a session, and what may go wrong then, is in `test_existing` of its tests.
    """
    script = {
        "agent": able(*methods),
        "words": {"who?": [{"memory": True}]},
        "otherwise": [{"say": "ok"}],
    }
    dying: JSON = {"otherwise": [{"say": "ok"}, {"stop": "end_turn"}, {"kill": 9}]}
    runs = [{**script, **dying}, script]
    async with agent_as_child({"runs": runs}, spares=False) as (agent, child):
        async with connected(agent) as editor:
            chat = Chat(editor)
            assert (await chat.say("I am Ada")).text == "ok"
            await until(lambda: not agent.processes)
            answer = (await chat.say("who?")).text
        assert len(child.processes) == 2
        assert child.faults == []
        if remembers:
            assert answer == "I am Ada / who?"
        else:
            assert "conversation_record" in answer
            assert answer.count("I am Ada") == 1
            assert answer.endswith(" / who?")
