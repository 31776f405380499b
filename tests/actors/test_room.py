"""Conversations end to make room for others, and none is held for longer than it is of use.

Chats that are idle for their time are in test_history.py.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import pytest
import trio

from actors.conversation import Conversations
from actors.editor import EditorPort
from actors.history import HistoryActor
from actors.messages import ActorMessage as Heard
from actors.messages import Asked, Cancelled, Expired
from actors.outbox import Outbox
from actors.plan import Delivery
from actors.requests import EditorRequests
from actors.session import OpenSessions
from actors.trace import Trace
from agents.events import (
    AskPermission,
    Await,
    CallTool,
    Decision,
    PermissionAnswer,
    Prompt,
    Say,
    Stop,
)
from bridge.errors import Failure
from bridge.history.message import Message
from bridge.history.transcript import Transcript
from bridge.models import Catalogue
from bridge.routing.chat_events import MemoryLimited
from bridge.wire import PERMISSION_TOOL, PROGRESS_TOOL
from bridge.work import done
from tests.fakes.editor import ASKING, Chat, connected, message, quiet, tool_result, tools, user
from tests.fakes.scripted_agent import (
    Crash,
    Gate,
    Hang,
    ScriptedAgent,
    ScriptedSession,
    Step,
)

from .scenes import texts

if TYPE_CHECKING:
    from trio.testing import MockClock

T = TypeVar("T")

BESIDE = {"modelOptions": {"_capturingTokenCorrelationId": "1"}}
TITLE: list[Any] = [
    {
        "role": "system",
        "content": [{"type": "text", "value": "You are an expert in crafting pithy titles."}],
    },
    user("Please write a brief title for the following request:\n\nDo it."),
]
GONE = Crash(Failure("NotFound", "No such command: x."))


@pytest.fixture(autouse=True)
def _own_objects() -> Iterator[None]:
    """Leave the objects of other tests out of what is alive."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


def alive(kind: type[T]) -> list[T]:
    gc.collect()
    return [one for one in gc.get_objects() if isinstance(one, kind)]


# Too many.


def ask_permission(session: ScriptedSession, prompt: Prompt) -> list[Step]:
    if prompt.transcript:
        return [Say("Asked again.")]
    return [AskPermission(f"p{session.number}", "Delete it?"), Await(), Say("Done.")]


async def test_open_questions_count_and_the_oldest_is_denied(autojump_clock: MockClock) -> None:
    agent = ScriptedAgent(ask_permission)
    async with connected(agent) as editor:
        settings = {"maxSessions": 3}
        chats = [Chat(editor, options=ASKING, settings=settings) for _ in range(10)]
        requests: list[Any] = []
        for number, chat in enumerate(chats):
            requests.append(await chat.say(f"Delete {number}."))
            await trio.sleep(1)
        assert agent.sessions_open == 3
        assert agent.sessions_closed == [1, 2, 3, 4, 5, 6, 7]
        assert (await editor.call("lm/stats"))["sessions"] == 3
        assert agent.answers[:1] == [PermissionAnswer("p1", Decision.ABANDONED)]
        answer = await chats[9].say(tool_result(requests[9].calls[0], "Approved"))
        assert answer.text == "Done."


async def test_a_stopped_answer_is_no_question_that_was_denied(autojump_clock: MockClock) -> None:
    options = tools(PROGRESS_TOOL) | {"requestInitiator": "core"}
    folder = "You are an agent.\nSession folder: /home/me/.copilot/session-state/{}\n\nContents:\n"
    async with connected(ScriptedAgent([[Say("Once "), Hang()]])) as editor:
        stopped, other = (
            Chat(editor, options=options, settings={"maxSessions": 1}) for _ in range(2)
        )
        stopped.history = [message("system", folder.format(1))]
        other.history = [message("system", folder.format(2))]
        request = await stopped.ask("Tell a tale.").settled(30)
        assert request.calls[0]["toolName"] == PROGRESS_TOOL
        stopped.keep(request)
        await trio.sleep(30)
        await other.say("Another.")
        answer = await stopped.say(tool_result(request.calls[0], "interrupted"), "And now?")
        assert answer.text == "ok"


async def test_who_was_denied_is_told_why_once() -> None:
    agent = ScriptedAgent(ask_permission)
    async with connected(agent) as editor:
        settings = {"maxSessions": 1}
        denied = Chat(editor, options=ASKING, settings=settings)
        request = await denied.say("Delete it.")
        assert request.calls[0]["toolName"] == PERMISSION_TOOL
        await Chat(editor, options=ASKING, settings=settings).say("Another.")
        answer = await denied.say(tool_result(request.calls[0], "Approved"))
        assert answer.text.startswith(
            "*1 sessions with one agent are the limit (`maxSessions`), so"
        )
        assert answer.text.endswith("\n\nAsked again.")
        assert "had waited" not in (await denied.say("And now?")).text
    assert "waited" not in "".join(texts(agent.prompts[-1].transcript))


async def test_what_is_asked_beside_a_chat_denies_no_question_of_it() -> None:
    agent = ScriptedAgent([[CallTool("1", "f", {}), Await(), Say("Done.")]])
    async with connected(agent) as editor:
        settings = {"maxSessions": 1}
        chat = Chat(editor, options=tools("f"), settings=settings)
        request = await chat.say("Do it.")
        await editor.chat(TITLE, options=BESIDE, settings=settings).settled()
        answer = await chat.say(tool_result(request.calls[0], "x"))
        assert answer.text == "Done."


def port_and_actor(
    agent: ScriptedAgent, sessions: trio.Nursery, most_bytes: int | None = None
) -> tuple[EditorPort, HistoryActor, trio.MemoryReceiveChannel[Heard]]:
    outbox = Outbox()
    port = EditorPort(outbox, Catalogue(), Trace())
    send, receive = trio.open_memory_channel[Heard](1_000)
    actor = HistoryActor(
        port,
        lambda choice: agent,
        Conversations(sessions, send, outbox),
        EditorRequests(port, sessions, OpenSessions()),
    )
    if most_bytes is not None:
        actor.chats.apply(MemoryLimited(most_bytes), 0.0)
    return port, actor, receive


def asked(port: EditorPort, number: int, *messages: Any, **more: Any) -> Asked:
    params: dict[str, Any] = {
        "modelId": "eliza",
        "messages": messages,
        "agent": {"eliza": {}},
        "settings": {"idleSeconds": 60},
    }
    line = {"jsonrpc": "2.0", "id": number, "method": "lm/provideLanguageModelChatResponse"}
    heard = done(port.hear(json.dumps(line | {"params": params | more}).encode()))
    assert isinstance(heard, Asked)
    return heard


# Too large.


@pytest.mark.limit("bridge.routing.room.MOST_KEPT_BYTES")
@pytest.mark.parametrize(("over", "closed"), [(0, []), (1, [1])])
async def test_all_chats_together_may_take_so_many_bytes(over: int, closed: list[int]) -> None:
    agent = ScriptedAgent()
    async with trio.open_nursery() as sessions:
        port, actor, inbox = port_and_actor(agent, sessions)
        size = 0
        for number in (1, 2):
            request = asked(port, number, user(f"{number}" * 1_000))
            size += request.transcript.size
            actor.chats.apply(MemoryLimited(size - over), 0.0)
            await answered(actor, inbox, request)
        assert agent.sessions_closed == closed
        sessions.cancel_scope.cancel()


@pytest.mark.parametrize(("kept", "closed"), [(2_000, []), (1_999, [1])])
async def test_one_large_chat_alone_ends_no_other_that_fits_into_half_the_memory(
    kept: int, closed: list[int]
) -> None:
    agent = ScriptedAgent()
    async with trio.open_nursery() as sessions:
        port, actor, inbox = port_and_actor(agent, sessions)
        small = asked(port, 1, user("1" * 900))
        actor.chats.apply(MemoryLimited(small.transcript.size * kept // 1_000), 0.0)
        await answered(actor, inbox, small)
        await answered(actor, inbox, asked(port, 2, user("2" * 9_000)))
        assert agent.sessions_closed == closed
        sessions.cancel_scope.cancel()


async def test_what_is_asked_beside_a_chat_denies_no_question_for_want_of_memory() -> None:
    agent = ScriptedAgent([[CallTool("1", "f", {}), Await(), Say("Done.")]])
    async with trio.open_nursery() as sessions:
        port, actor, inbox = port_and_actor(agent, sessions)
        chat = asked(port, 1, user("Do it."), options=tools("f"))
        actor.chats.apply(MemoryLimited(chat.transcript.size), 0.0)
        await answered(actor, inbox, chat)
        await answered(actor, inbox, asked(port, 2, *TITLE, options=BESIDE))
        assert 1 not in agent.sessions_closed
        await answered(actor, inbox, asked(port, 3, user("Another.")))
        assert 1 in agent.sessions_closed
        sessions.cancel_scope.cancel()


async def answered(
    actor: HistoryActor, inbox: trio.MemoryReceiveChannel[Heard], request: Asked
) -> None:
    """Let a request be heard, and all that its session says to it."""
    actor.hear(request)
    await quiet()
    while True:
        try:
            actor.hear(inbox.receive_nowait())
        except trio.WouldBlock:
            break
    await quiet()


async def test_the_size_of_a_request_is_that_of_its_messages_whether_repeated_or_not() -> None:
    port = EditorPort(Outbox(), Catalogue(), Trace())
    first = asked(port, 1, user("one"))
    second = asked(port, 2, user("one"), user("two"))
    other = asked(port, 3, user("three"))
    assert first.transcript.size == len(json.dumps(user("one")))
    assert second.transcript.size == 2 * first.transcript.size
    assert other.transcript.size == first.transcript.size + 2


# Held for too long.


async def test_a_chat_whose_session_cannot_be_opened_is_idle_some_time(
    autojump_clock: MockClock,
) -> None:
    agent = ScriptedAgent(opening=[GONE])
    async with connected(agent) as editor:
        request = await Chat(editor, settings={"idleSeconds": 60}).ask("one").settled()
        assert request.error["message"] == GONE.failure.message
        stats = await editor.call("lm/stats")
        assert (stats["liveConversations"], stats["sessions"]) == (1, 0)
        await trio.sleep(61)
        assert (await editor.call("lm/stats"))["liveConversations"] == 0


async def test_a_chat_that_is_cancelled_before_its_task_runs_is_idle_some_time(
    autojump_clock: MockClock,
) -> None:
    async with trio.open_nursery() as sessions:
        port, actor, inbox = port_and_actor(ScriptedAgent(), sessions)
        actor.hear(asked(port, 1, user("one")))
        actor.hear(Cancelled(1))
        with trio.fail_after(61):
            expired = await inbox.receive()
        assert isinstance(expired, Expired)
        sessions.cancel_scope.cancel()


async def test_no_request_is_kept_whole_after_its_agent_failed() -> None:
    agent = ScriptedAgent(opening=[GONE])
    async with connected(agent) as editor:
        chat = Chat(editor)
        for word in ("one", "two", "three"):
            await chat.ask(word).settled()
        await quiet()
        assert alive(Transcript) == []
        assert alive(Delivery) == []
        agent.opening = ()
        await chat.say("four")
    assert texts((*agent.prompts[0].transcript, *agent.prompts[0].messages)) == [
        "one",
        "two",
        "three",
        "four",
    ]


async def test_no_request_is_kept_whole_after_it_was_cancelled() -> None:
    opening = Gate()
    agent = ScriptedAgent(opening=[opening])
    async with connected(agent) as editor:
        chat = Chat(editor)
        for word in ("one", "two", "three"):
            request = chat.ask(word)
            await quiet()
            editor.cancel(request)
            await request.settled()
        await quiet()
        # the one for which the session is being opened
        assert len(alive(Delivery)) == 1
        opening.opened.set()


@pytest.mark.parametrize("others", [0, 2])
async def test_an_ended_chat_is_not_held_as_the_last_that_was_read(
    others: int, autojump_clock: MockClock
) -> None:
    agent = ScriptedAgent([[Say("Yes."), Stop()]] * others + [[Say("Well"), Hang()]])
    async with connected(agent) as editor:
        for number in range(others):
            await Chat(editor).say(f"And {number}?")
        chat = Chat(editor, settings={"idleSeconds": 60})
        request = await chat.ask("held " * 10).shows("Well")
        assert held("held held")
        editor.cancel(request)
        await request.settled()
        del request, chat
        editor.requests.clear()
        agent.prompts.clear()
        await trio.sleep(61)
        assert not held("held held")


def held(words: str) -> bool:
    return any(words in one.text for one in alive(Message))
