"""What a real host sends beside and between the turns of a chat, through the whole system."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import pytest
import trio

from actors.history import MARKER_PREFIX
from agents.events import Await, Break, CallTool, Say, Stop, ToolAnswer
from bridge.errors import Failure
from bridge.routing.damper import MOST_GOOD, WINDOW_SECONDS
from tests.fakes.acp_agents import agent_in_process
from tests.fakes.editor import JSON, Chat, Request, connected, message, quiet, tool_result, tools
from tests.fakes.scripted_agent import Hang, ScriptedAgent

if TYPE_CHECKING:
    from trio.testing import MockClock

CHAT_ID = "one chat"


def of_the_agent(run: str, turn: int, **options: Any) -> JSON:
    """Return options as the host's own agent sends them."""
    private = {"_otelTraceContext": {"traceId": run}, "_telemetryTurn": turn}
    return {**options, "modelOptions": {**private, "_conversationId": CHAT_ID}}


UTILITY: JSON = {"tools": [], "modelOptions": {"_otelTraceContext": None}}
SUMMARY: JSON = {"modelOptions": {"_otelTraceContext": {}, "_conversationId": CHAT_ID}}


def markers(request: Request) -> list[str]:
    return [
        base64.b64decode(part["data"]).decode()
        for part in request.parts
        if part.get("mimeType") == "stateful_marker"
    ]


# Our own mark.


async def test_a_response_ends_with_one_marker_where_the_host_can_take_it() -> None:
    agent = ScriptedAgent()
    async with connected(agent) as editor:
        await editor.initialize("marker").settled()
        chat = Chat(editor)
        first, second = await chat.say("one"), await chat.say("two")
    for request in (first, second):
        (marker,) = markers(request)
        assert request.parts[-1]["mimeType"] == "stateful_marker"
        model, token = marker.split("\\")
        assert model == "eliza"
        assert token.startswith(MARKER_PREFIX)
    assert markers(first) != markers(second)


async def test_no_marker_is_sent_to_a_host_that_did_not_ask_for_it() -> None:
    async with connected(ScriptedAgent()) as editor:
        assert markers(await Chat(editor).say("one")) == []


async def test_a_cancelled_response_has_no_marker() -> None:
    async with connected(ScriptedAgent([[Say("o"), Hang()]])) as editor:
        await editor.initialize("marker").settled()
        request = Chat(editor).ask("one")
        await request.shows("o")
        editor.cancel(request)
        await request.settled()
    assert markers(request) == []


async def test_a_marker_tells_two_chats_apart_that_say_the_same() -> None:
    agent = ScriptedAgent()
    async with connected(agent) as editor:
        await editor.initialize("marker").settled()
        chats = [Chat(editor), Chat(editor)]
        asked = [chat.ask("one") for chat in chats]
        for chat, request in zip(chats, asked, strict=True):
            await request.settled()
            (part,) = [part for part in request.parts if part.get("mimeType")]
            relabelled = base64.b64encode(b"another-model\\" + _token(part)).decode()
            chat.history.append(message("assistant", part | {"data": relabelled}, request.text))
        first, second = agent.prompts[0], agent.prompts[1]
        assert first.messages == second.messages
        await chats[0].say("two")
        await chats[1].say("three")
        stats = await editor.call("lm/stats")
    assert agent.sessions_opened == [1, 2]
    assert stats["matchesByRule"]["extends"] == 2


def _token(part: JSON) -> bytes:
    return base64.b64decode(part["data"]).split(b"\\", 1)[1]


# Beside a turn.


@pytest.mark.parametrize(
    ("options", "kind"), [(UTILITY, "utility"), (SUMMARY, "compaction")], ids=["title", "summary"]
)
async def test_a_request_beside_a_turn_leaves_it_alone_and_ends_when_answered(
    options: JSON, kind: str
) -> None:
    agent = ScriptedAgent([[Say("slow"), Hang()]])
    async with connected(agent) as editor:
        chat = Chat(editor, options=of_the_agent("r1", 1, **tools("f")))
        turn = chat.ask("one")
        await turn.shows("slow")
        beside = Chat(editor, options=options)
        beside.history = list(chat.history)
        await beside.say("Now say what this is about.")
        await quiet()
        stats = await editor.call("lm/stats")
        assert not turn.is_settled
        editor.cancel(turn)
        await turn.settled()
    assert stats["requestsByClass"] == {"main": 1, kind: 1}
    assert stats["liveConversations"] == 1
    assert agent.sessions_closed[0] == 2


async def test_sub_agents_work_beside_the_chat_whose_call_they_are_and_end_with_their_answer() -> (
    None
):
    lead = CallTool("c1", "runSubagent", {"prompt": "search"})
    agent = ScriptedAgent([[lead, Await(), Say("done"), Stop()]])
    async with connected(agent) as editor:
        options = of_the_agent("r1", 1, **tools("runSubagent"))
        chat = Chat(editor, options=options)
        turn = await chat.say("one")
        sub = Chat(editor, options=of_the_agent("r1", 1, **tools("f")))
        answer = await sub.say("search")
        await quiet()
        stats = await editor.call("lm/stats")
        last = await chat.say(tool_result(turn.calls[0], answer.text))
    assert stats["requestsByClass"] == {"main": 1, "sub-agent": 1}
    assert stats["liveConversations"] == 1
    assert last.text == "done"
    assert agent.answers == [ToolAnswer("c1", [{"type": "text", "value": "ok"}])]


# Storms.


async def test_a_request_that_fails_again_and_again_is_refused_from_the_third_on(
    autojump_clock: MockClock,
) -> None:
    broken = [Break(Failure("AgentFailed", "broken"))]
    agent = ScriptedAgent([broken] * 9)
    async with connected(agent) as editor:
        chat = Chat(editor)
        chat.history = [message("user", "one")]
        kinds = [(await chat.ask().settled()).error["data"]["kind"] for _ in range(4)]
        await trio.sleep(WINDOW_SECONDS + 1)
        kinds.append((await chat.ask().settled()).error["data"]["kind"])
    assert kinds == ["AgentFailed", "AgentFailed", "Blocked", "Blocked", "AgentFailed"]
    assert len(agent.prompts) == 3


async def test_a_good_answer_may_be_asked_for_again_some_times_but_not_for_ever() -> None:
    agent = ScriptedAgent()
    async with connected(agent) as editor:
        chat = Chat(editor)
        chat.history = [message("user", "one")]
        answered = 0
        while "error" not in ((await chat.ask().settled()).reply or {}):
            answered += 1
        await chat.say("two")
    assert answered == 1 + MOST_GOOD


async def test_chats_that_open_alike_one_after_the_other_are_no_storm() -> None:
    agent = ScriptedAgent()
    async with connected(agent) as editor:
        for number in range(2 * MOST_GOOD):
            await Chat(editor).say("hello")
            await Chat(editor).say(f"number {number}")
    assert len(agent.prompts) == 4 * MOST_GOOD


# What an agent is told of it.


@pytest.mark.parametrize(
    ("options", "settings", "is_whole"),
    [
        (UTILITY, {}, True),
        (UTILITY, {"context": "request"}, False),
        (of_the_agent("run", 1), {}, False),
        (of_the_agent("run", 1), {"context": "full"}, True),
    ],
)
async def test_an_acp_agent_hears_the_hosts_own_words_where_the_host_itself_asks(
    options: JSON, settings: JSON, is_whole: bool
) -> None:
    """A title is asked for in the system's words alone; a chat's system prompt is the host's."""
    async with agent_in_process({}) as (agent, peers):
        async with connected(agent) as editor:
            chat = Chat(editor, options=options, settings=settings)
            await chat.say(message("system", "Write a short title."), "one")
        (prompt,) = peers.asked("session/prompt")
        told = "".join(block["text"] for block in prompt["prompt"])
        assert "one" in told
        assert ("Write a short title." in told) is is_whole


# Whether a person reads the answer.


async def test_only_a_turn_of_a_chat_that_the_host_names_is_read_by_a_person() -> None:
    title = "You are an expert in crafting pithy titles for chats."
    agent = ScriptedAgent()
    async with connected(agent) as editor:
        asked = [
            editor.chat([message("user", "one")], options=of_the_agent("r", 1)),
            editor.chat([message("user", "of an extension")]),
            editor.chat(
                [message("system", title), message("user", "two")],
                options={"modelOptions": {"_conversationId": CHAT_ID, "_otelTraceContext": None}},
            ),
        ]
        for request in asked:
            await request.settled()
    told = {prompt.messages[-1].text: prompt.is_chat for prompt in agent.prompts}
    assert told == {"one": True, "of an extension": False, "two": False}
