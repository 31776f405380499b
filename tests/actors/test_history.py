"""Whose conversation a request is, and what becomes of requests that cross.

What a session is told of it is in test_session.py.
"""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING

import pytest
import trio

from actors.conversation import Conversations
from actors.editor import EditorPort
from actors.history import HistoryActor
from actors.messages import ActorMessage, Asked, Expired, Leaving
from actors.outbox import Outbox
from actors.requests import EditorRequests
from actors.session import ANSWER_SECONDS, OpenSessions
from actors.trace import Trace
from agents.events import Await, Break, CallTool, Prompt, Say, Stop
from bridge.errors import Failure
from bridge.models import AgentChoice, Catalogue
from bridge.wire import AgentProcess
from bridge.work import done
from tests.fakes.editor import (
    Chat,
    assistant,
    connected,
    connected_to,
    quiet,
    tool_result,
    tools,
    user,
)
from tests.fakes.scripted_agent import (
    Gate,
    Hang,
    Linger,
    ScriptedAgent,
    ScriptedSession,
    Step,
)

from .scenes import texts

if TYPE_CHECKING:
    from trio.testing import MockClock


def prompted(agent: ScriptedAgent) -> list[list[str]]:
    return [texts(prompt.messages) for prompt in agent.prompts]


def number(session: ScriptedSession, prompt: Prompt) -> list[Step]:
    """A script that says which session answers."""
    return [Say(f"session {session.number}")]


# Several at once.


async def test_two_chats_are_answered_side_by_side() -> None:
    first_may, second_may = Gate(), Gate()
    gates = {"one": first_may, "two": second_may}

    def script(session: ScriptedSession, prompt: Prompt) -> list[Step]:
        (word,) = texts(prompt.messages)
        return [Say(f"{word}: "), gates[word], Say("done")]

    async with connected(ScriptedAgent(script)) as editor:
        first, second = Chat(editor).ask("one"), Chat(editor).ask("two")
        await first.shows("one: ")
        await second.shows("two: ")
        second_may.opened.set()
        await second.settled()
        assert not first.is_settled
        first_may.opened.set()
        await first.settled()
    assert (first.text, second.text) == ("one: done", "two: done")


async def test_two_chats_that_open_with_the_same_words_at_once_stay_apart() -> None:
    """The reference implementation let the second take over the first."""
    may = Gate()
    agent = ScriptedAgent(lambda session, prompt: [may, Say(f"session {session.number}")])
    async with connected(agent) as editor:
        first, second = Chat(editor).ask("Hello"), Chat(editor).ask("Hello")
        await quiet()
        assert not first.is_settled
        may.opened.set()
        answers = {(await first.settled()).text, (await second.settled()).text}
    assert answers == {"session 1", "session 2"}
    assert agent.cancels == []


async def test_chats_with_different_agents_stay_apart() -> None:
    agents: dict[bytes, ScriptedAgent] = {}

    def agent_for(choice: AgentChoice) -> ScriptedAgent:
        return agents.setdefault(choice.key, ScriptedAgent())

    async with connected_to(agent_for) as editor:
        for name in ("x", "y"):
            chat = Chat(editor, agent={"acp": {"name": name, "command": name}})
            chat.history = [user("Hello"), assistant("ok")]
            await chat.say("Go on.")
    assert [len(agent.prompts) for agent in agents.values()] == [1, 1]


async def test_one_agent_written_in_two_ways_is_one_agent() -> None:
    agent = ScriptedAgent(number)
    async with connected(agent) as editor:
        chat = Chat(editor, agent={"acp": {"name": "x", "command": "x"}})
        await chat.say("one")
        chat.agent = {"mcp_server": {"command": "x", "name": "x"}}
        assert (await chat.say("two")).text == "session 1"


async def test_a_hundred_chats_at_once_each_keep_their_own_session() -> None:
    agent = ScriptedAgent(number)
    async with connected(agent) as editor:
        chats = [Chat(editor) for _ in range(100)]
        answers = [set[str]() for _ in chats]
        for round_ in range(3):
            requests = [chat.ask(f"{i}, {round_}") for i, chat in enumerate(chats)]
            for chat, request, seen in zip(chats, requests, answers, strict=True):
                await request.settled()
                chat.keep(request)
                seen.add(request.text)
        stats = await editor.call("lm/stats")
    assert all(len(seen) == 1 for seen in answers)
    assert len({answer for seen in answers for answer in seen}) == 100
    assert stats["liveConversations"] == stats["sessions"] == 100
    assert agent.sessions_opened == sorted(agent.sessions_closed) == list(range(1, 101))


# Cancelling.


@pytest.mark.parametrize("word", ["lm/cancel", "$/cancelRequest"])
async def test_a_cancelled_request_resolves_and_what_was_sent_stays(word: str) -> None:
    agent = ScriptedAgent([[Say("Well"), Hang()]])
    async with connected(agent) as editor:
        request = await Chat(editor).ask("one").shows("Well")
        editor.notify(word, {"requestId" if word == "lm/cancel" else "id": request.id})
        await request.settled()
        assert request.result == {}
        assert request.text == "Well"
    assert agent.cancels == [1]


async def test_a_cancel_that_comes_late_has_no_effect() -> None:
    agent = ScriptedAgent([[Say("Well")], [Say("I"), Hang()]])
    async with connected(agent) as editor:
        chat = Chat(editor)
        first = await chat.say("one")
        second = await chat.ask("two").shows("I")
        editor.cancel(first)
        await quiet()
        assert not second.is_settled
        assert agent.cancels == []
        editor.cancel(second)
        editor.cancel(second)
        await second.settled()
    assert agent.cancels == [2]


async def test_a_cancel_of_one_chat_leaves_the_others_alone() -> None:
    agent = ScriptedAgent(lambda session, prompt: [Say("Well"), Hang()])
    async with connected(agent) as editor:
        first, second = Chat(editor).ask("one"), Chat(editor).ask("two")
        await first.shows("Well")
        await second.shows("Well")
        editor.cancel(first)
        await first.settled()
        await quiet()
        assert not second.is_settled
        assert len(agent.cancels) == 1
        editor.cancel(second)
        await second.settled()


# Superseding.


async def test_a_request_that_supersedes_one_that_streams_ends_it_and_is_answered() -> None:
    agent = ScriptedAgent([[Say("Hello")], [Say("Well"), Linger(2)]])
    async with connected(agent) as editor:
        chat = Chat(editor)
        await chat.say("one")
        old = await chat.ask("two").shows("Well")
        chat.take_back(1)
        new = await chat.say("two, rather")
        assert old.result == {}
        assert old.text == "Well"
        assert new.text == "ok"
        settled = [line["id"] for line in editor.lines if "id" in line]
        assert settled == [1, 2, 3]
    assert agent.cancels == [2]


async def test_the_agent_is_drained_before_it_hears_what_supersedes() -> None:
    stopping = Gate()
    agent = ScriptedAgent(
        [[Say("Hello")], [Say("Well"), Hang()]], when_cancelled=(Say("late"), stopping, Stop())
    )
    async with connected(agent) as editor:
        chat = Chat(editor)
        await chat.say("one")
        old = await chat.ask("two").shows("Well")
        chat.take_back(1)
        new = chat.ask("two, rather")
        await old.settled()
        await quiet()
        assert len(agent.prompts) == 2
        assert not new.is_settled
        stopping.opened.set()
        await new.settled()
        assert "late" not in old.text + new.text
    assert agent.cancels == [2]


async def test_a_host_that_cannot_cancel_may_go_on_while_an_answer_streams() -> None:
    agent = ScriptedAgent([[Say("Hello")], [Say("Well"), Hang()]])
    async with connected(agent) as editor:
        chat = Chat(editor)
        await chat.say("one")
        old = await chat.ask("two").shows("Well")
        new = await chat.say("three")
        assert old.result == {}
        assert new.text == "ok"
    assert prompted(agent) == [["one"], ["two"], ["three"]]
    assert agent.sessions_opened == [1]


async def test_the_newest_of_many_edits_in_a_row_is_answered_and_all_are_settled() -> None:
    stopping = Gate()
    agent = ScriptedAgent(
        [[Say("Hello")], [Say("Well"), Hang()]], when_cancelled=(stopping, Stop())
    )
    async with connected(agent) as editor:
        chat = Chat(editor)
        await chat.say("one")
        requests = [await chat.ask("two").shows("Well")]
        for attempt in range(5):
            chat.take_back(1)
            requests.append(chat.ask(f"two, {attempt}"))
        await quiet()
        assert [request.is_settled for request in requests] == [True] * 5 + [False]
        stopping.opened.set()
        await requests[-1].settled()
    assert prompted(agent) == [["one"], ["two"], ["two, 4"]]
    assert agent.cancels == [2]


# Finding the conversation.


async def test_an_earlier_point_of_a_chat_that_went_on_is_a_branch_of_its_own() -> None:
    agent = ScriptedAgent(number)
    async with connected(agent) as editor:
        chat = Chat(editor)
        for word in ("one", "two", "three"):
            await chat.say(word)
        branch = Chat(editor)
        branch.history = chat.history[:2]
        assert (await branch.say("two, rather")).text == "session 2"
        assert (await chat.say("four")).text == "session 1"
        assert (await branch.say("three, rather")).text == "session 2"
    assert texts(agent.prompts[3].transcript) == ["one", "session 1"]


async def test_the_longest_match_wins() -> None:
    """The reference implementation took the last."""
    may = Gate()
    answered: list[int] = []

    def script(session: ScriptedSession, prompt: Prompt) -> list[Step]:
        answered.append(session.number)
        first_of_short = session.number == 2 and len(session.prompts) == 1
        return [may, Say("ok")] if first_of_short else [Say("ok")]

    async with connected(ScriptedAgent(script)) as editor:
        long, short = Chat(editor), Chat(editor)
        opening = long.ask("one")
        later = short.ask("one")
        long.keep(await opening.settled())
        await long.say("two")
        may.opened.set()
        short.keep(await later.settled())
        assert long.history[:2] == short.history
        await long.say("three")
        await short.say("two, rather")
    assert answered == [1, 2, 1, 1, 2]


async def test_a_result_finds_the_chat_that_made_the_call() -> None:
    def script(session: ScriptedSession, prompt: Prompt) -> list[Step]:
        name = f"call-{session.number}"
        return [CallTool(name, "f", {}), Await(), Say(f"{session.number}")]

    async with connected(ScriptedAgent(script)) as editor:
        chats = [Chat(editor, options=tools("f")) for _ in range(3)]
        requests = [await chat.say(f"Do {i}.") for i, chat in enumerate(chats)]
        for i in (1, 0, 2):
            answer = await chats[i].say(tool_result(requests[i].calls[0], "x"))
            assert requests[i].calls[0]["toolCallId"] == f"call-{answer.text}"


# Room and time.


async def test_the_chat_that_was_used_least_recently_gives_way() -> None:
    agent = ScriptedAgent(number)
    async with connected(agent) as editor:
        chats = [Chat(editor, settings={"maxSessions": 2}) for _ in range(3)]
        await chats[0].say("zero")
        await chats[1].say("one")
        await chats[0].say("zero again")
        await chats[2].say("two")
        await quiet()
        assert agent.sessions_closed == [2]
        assert (await chats[0].say("zero, still")).text == "session 1"
        assert (await chats[1].say("one again")).text == "session 4"
    assert texts(agent.prompts[-1].transcript) == ["one", "session 2"]


async def test_a_busy_chat_never_gives_way() -> None:
    agent = ScriptedAgent([[Say("Well"), Hang()], [Say("Fine")]])
    async with connected(agent) as editor:
        busy = await Chat(editor, settings={"maxSessions": 1}).ask("one").shows("Well")
        await Chat(editor, settings={"maxSessions": 1}).say("two")
        await quiet()
        assert agent.sessions_closed == []
        assert not busy.is_settled
        await Chat(editor, settings={"maxSessions": 1}).say("three")
        await quiet()
        assert agent.sessions_closed == [2]
        editor.cancel(busy)
        await busy.settled()


async def test_a_chat_with_a_pending_call_gives_way_after_those_that_are_idle() -> None:
    agent = ScriptedAgent([[CallTool("1", "f", {}), Await(), Say("Done.")]])
    async with connected(agent) as editor:
        waiting = Chat(editor, options=tools("f"), settings={"maxSessions": 2})
        request = await waiting.say("Do it.")
        for word in ("one", "two"):
            await Chat(editor, settings={"maxSessions": 2}).say(word)
        answer = await waiting.say(tool_result(request.calls[0], "x"))
        assert answer.text == "Done."


async def test_the_limit_is_one_of_each_agent() -> None:
    agents: dict[bytes, ScriptedAgent] = {}

    def agent_for(choice: AgentChoice) -> ScriptedAgent:
        return agents.setdefault(choice.key, ScriptedAgent())

    async with connected_to(agent_for) as editor:
        for name in ("x", "y"):
            agent = {"acp": {"name": name, "command": name}}
            await Chat(editor, agent=agent, settings={"maxSessions": 1}).say("one")
        await quiet()
        assert [agent.sessions_open for agent in agents.values()] == [1, 1]


async def test_an_idle_session_ends_and_its_chat_goes_on_with_another(
    autojump_clock: MockClock,
) -> None:
    agent = ScriptedAgent(number)
    async with connected(agent) as editor:
        chat = Chat(editor, settings={"idleSeconds": 60})
        await chat.say("one")
        await trio.sleep(59)
        assert agent.sessions_open == 1
        assert (await chat.say("two")).text == "session 1"
        await trio.sleep(59)
        assert agent.sessions_open == 1
        await trio.sleep(2)
        assert agent.sessions_open == 0
        assert (await editor.call("lm/stats"))["liveConversations"] == 0
        assert (await chat.say("three")).text == "session 2"
    assert texts(agent.prompts[-1].transcript) == ["one", "session 1", "two", "session 1"]


async def test_a_busy_session_is_not_idle(autojump_clock: MockClock) -> None:
    agent = ScriptedAgent([[Say("Well"), Hang()]])
    async with connected(agent) as editor:
        chat = Chat(editor, settings={"idleSeconds": 60})
        request = await chat.ask("one").shows("Well")
        await trio.sleep(3600)
        assert agent.sessions_open == 1
        assert not request.is_settled
        editor.cancel(request)
        await request.settled()


async def test_a_request_that_crosses_the_news_of_an_idle_session_keeps_the_session() -> None:
    agent = ScriptedAgent([[Say("Well"), Hang()]])
    outbox = Outbox()
    port = EditorPort(outbox, Catalogue(), Trace())
    send, receive = trio.open_memory_channel[ActorMessage](9)
    line = {"jsonrpc": "2.0", "id": 1, "method": "lm/provideLanguageModelChatResponse"}
    params = {"modelId": "eliza", "messages": [user("one")]}
    async with receive, trio.open_nursery() as sessions:
        actor = HistoryActor(
            port,
            lambda choice: agent,
            Conversations(sessions, send.clone(), outbox),
            EditorRequests(port, sessions, OpenSessions()),
        )
        asked = done(port.hear(json.dumps(line | {"params": params}).encode()))
        assert isinstance(asked, Asked)
        actor.hear(asked)
        actor.hear(Expired(1))
        await quiet()
        assert agent.sessions_open == 1
        assert agent.cancels == []
        actor.hear(Leaving())
        await quiet()
        again = done(port.hear(json.dumps(line | {"params": params}).encode()))
        assert isinstance(again, Asked)
        actor.hear(again)
        assert done(port.hear(json.dumps(line | {"params": params}).encode())), (
            "its id is free again"
        )
    assert agent.sessions_opened == agent.sessions_closed == [1]


@pytest.mark.limit("actors.session.ANSWER_SECONDS")
async def test_a_question_outlives_an_idle_chat_for_as_long_as_a_person_may_take(
    autojump_clock: MockClock,
) -> None:
    agent = ScriptedAgent([[Say("Let me see."), CallTool("1", "f", {}), Await(), Say("Done.")]])
    async with connected(agent) as editor:
        chat = Chat(editor, options=tools("f"), settings={"idleSeconds": 60})
        request = await chat.say("Do it.")
        await trio.sleep(ANSWER_SECONDS - 1)
        assert (await chat.say(tool_result(request.calls[0], "x"))).text == "Done."
        await trio.sleep(61)
        assert agent.sessions_open == 0


async def test_a_result_that_comes_when_its_session_has_ended_is_told_with_the_transcript(
    autojump_clock: MockClock,
) -> None:
    agent = ScriptedAgent([[Say("Let me see."), CallTool("1", "f", {}), Await()]])
    async with connected(agent) as editor:
        chat = Chat(editor, options=tools("f"), settings={"idleSeconds": 60})
        request = await chat.say("Do it.")
        await trio.sleep(ANSWER_SECONDS + 1)
        assert (await chat.say(tool_result(request.calls[0], "x"))).text == "ok"
    assert agent.sessions_opened == [1, 2]
    prompt = agent.prompts[-1]
    assert texts((*prompt.transcript, *prompt.messages))[:2] == ["Do it.", "Let me see."]


async def test_a_request_that_crosses_the_end_of_its_session_is_answered(
    autojump_clock: MockClock,
) -> None:
    closing = Gate()
    agent = ScriptedAgent(number, closing=[closing])
    async with connected(agent) as editor:
        chat = Chat(editor, settings={"idleSeconds": 60})
        await chat.say("one")
        await trio.sleep(61)
        assert closing.reached.is_set()
        assert (await chat.say("two")).text == "session 2"
        closing.opened.set()


# What is told about it.


async def test_the_counters_say_how_requests_found_their_conversations() -> None:
    agent = ScriptedAgent([[CallTool("1", "f", {}), Await()]])
    async with connected(agent) as editor:
        chat = Chat(editor, options=tools("f"))
        request = await chat.say("one")
        await chat.say(tool_result(request.calls[0], "x"))
        await chat.say("two")
        chat.take_back(2)
        await chat.say("two")
        chat.take_back(2)
        await chat.say("two, rather")
        stats = await editor.call("lm/stats")
    assert stats == {
        "requestsByClass": {"main": 5},
        "requestsByHarness": {"other": 5},
        "newestRequest": {"harness": "other", "offersProgress": False},
        "matchesByRule": {"pending-call": 1, "extends": 1, "retry": 1, "branch": 1},
        "missesByReason": {"new": 1},
        "liveConversations": 3,
        "sessions": 3,
        "processes": 0,
    }


async def test_each_decision_is_one_line_in_the_log_and_no_text_of_the_chat_is(
    caplog: pytest.LogCaptureFixture,
) -> None:
    agent = ScriptedAgent([[Say("an answer")], [Break(Failure("Blocked", "no quota"))]])
    with caplog.at_level(logging.INFO, "vscodelm"):
        async with connected(agent) as editor:
            chat = Chat(editor)
            await chat.say("a secret")
            await chat.ask("another secret").settled()
    assert caplog.messages == [
        "request=1 conversation=1 turn=1 new new=1 class=main",
        "conversation=1 turn=1 fresh",
        "conversation=1 turn=1 finish",
        "request=2 conversation=1 turn=2 extends new=1 class=main",
        "conversation=1 turn=2 fail",
        "request=2 conversation=1 Blocked",
        "conversation=1 close reason=leaving",
    ]


async def test_counters_come_with_what_agents_hold_and_nobody_waits_for_that() -> None:
    gate = Gate()

    async def measure() -> list[AgentProcess]:
        await gate.wait()
        return [AgentProcess("OpenCode", 7, 2, 500)]

    agent = ScriptedAgent()
    async with connected_to(lambda _: agent, processes=lambda: 1, measure=measure) as editor:
        stats = editor.request("lm/stats")
        await gate.reached.wait()
        assert (await Chat(editor).say("one")).text == "ok"
        gate.opened.set()
        result = (await stats.settled()).result
    assert result["liveConversations"] == 0, "they are those of when it was asked"
    held = {"agent": "OpenCode", "pid": 7, "processes": 2, "memoryBytes": 500}
    assert result["agentProcesses"] == [held]


async def test_counters_come_without_what_agents_hold_where_that_fails() -> None:
    async def measure() -> list[AgentProcess]:
        await trio.lowlevel.checkpoint()
        raise ValueError("odd")

    agent = ScriptedAgent()
    async with connected_to(lambda _: agent, processes=lambda: 1, measure=measure) as editor:
        stats = await editor.call("lm/stats")
        assert (stats["processes"], "agentProcesses" in stats) == (1, False)
        assert (await Chat(editor).say("one")).text == "ok"
