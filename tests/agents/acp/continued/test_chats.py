"""A chat that begins with `/continue`, from the editor to the agent."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import attrs
import pytest
import trio
import trio.testing

from actors.plan import MOST_OPENING
from agents.events import Prompt
from agents.origin import Resumed
from agents.workspace import Workspace
from bridge.wire import ChatMessage, TextPart, ToolSpec
from tests.fakes.acp_agents import OfChats, agent_in_process
from tests.fakes.editor import Chat, FakeEditor, connected_to, message
from tests.fakes.session_memory import Shelf, ShelfMemory

if TYPE_CHECKING:
    from trio.testing import MockClock

    from tests.fakes.acp_peer import PeerAgent

JSON = dict[str, Any]
MEMORY: list[JSON] = [{"memory": True}]
BESIDE: JSON = {"tools": [], "modelOptions": {"_otelTraceContext": None}}
"""As VS Code asks for a title."""
SHOWN = (
    "### Earlier in this session\n\n> **You**\n>\n> I am Ada\n\nwhat I said to I am Ada\n\n---\n\n"
    "*Your next message continues this session.*"
)


def able(*methods: str) -> JSON:
    found: JSON = {method: {} for method in ("close", *methods) if method != "load"}
    return {"agentCapabilities": {"loadSession": "load" in methods, "sessionCapabilities": found}}


@asynccontextmanager
async def at_work(
    *methods: str,
    folders: tuple[str, ...] = ("/",),
    memory: ShelfMemory | None = None,
    kept: dict[str, list[str]] | None = None,
    **script: Any,
) -> AsyncGenerator[tuple[FakeEditor, PeerAgent]]:
    """Connect an editor with an agent that has one session from elsewhere, or those `kept`."""
    script = {"agent": able(*(methods or ("load", "list"))), "otherwise": MEMORY, **script}
    async with agent_in_process(script, workspace=Workspace(folders)) as (agent, peers):
        peers.kept = {"s1": ["I am Ada"]} if kept is None else kept
        chats = OfChats(agent)
        async with connected_to(lambda choice: chats, accounts=chats, memory=memory) as editor:
            yield editor, peers
        assert peers.faults == []


@attrs.define
class Lifetimes:
    """What outlives the program: the agent's sessions, and the memory of them."""

    kept: dict[str, list[str]] = attrs.field(factory=lambda: {"s1": ["I am Ada"]})
    shelf: Shelf = attrs.field(factory=Shelf)

    def one(
        self, *methods: str, **options: Any
    ) -> AbstractAsyncContextManager[tuple[FakeEditor, PeerAgent]]:
        """Begin the program anew."""
        return at_work(*methods, memory=ShelfMemory(self.shelf), kept=self.kept, **options)


def once_more(editor: FakeEditor, chat: Chat) -> Chat:
    """Return a chat as another program gets it."""
    again = Chat(editor)
    again.history = [*chat.history]
    return again


async def test_after_a_restart_the_next_message_goes_on_in_the_session(
    autojump_clock: MockClock,
) -> None:
    lifetimes = Lifetimes()
    async with lifetimes.one() as (editor, _):
        chat = Chat(editor)
        assert (await chat.say("/continue s1")).text == SHOWN
    async with lifetimes.one() as (editor, peers):
        assert (await once_more(editor, chat).say("who?")).text == "I am Ada / who?"
        assert peers.asked("session/new") == []


async def test_a_chat_that_was_left_alone_goes_on_in_the_session(autojump_clock: MockClock) -> None:
    async with Lifetimes().one() as (editor, peers):
        chat = Chat(editor, settings={"idleSeconds": 10})
        await chat.say("/continue s1")
        await trio.sleep(20)
        assert (await chat.say("who?")).text == "I am Ada / who?"
        assert len(peers.asked("session/load")) == 2


@pytest.mark.parametrize("is_restarted", [False, True])
async def test_a_chat_whose_session_another_one_continued_never_has_it_again(
    is_restarted: bool, autojump_clock: MockClock
) -> None:
    """It was this chat's own, and the other one told it more."""
    lifetimes = Lifetimes({})
    async with lifetimes.one() as (editor, peers):
        one = Chat(editor, settings={"idleSeconds": 10})
        await one.say("I am Ada")
        await trio.sleep(20)
        (session_id,) = (one for one, said in peers.kept.items() if said)
        other = Chat(editor, settings={"idleSeconds": 10})
        assert "I am Ada" in (await other.say(f"/continue {session_id}")).text
        assert (await other.say("I like cats")).text == "I am Ada / I like cats"
        await trio.sleep(20)
        if not is_restarted:
            assert "cats" not in (await one.say("who?")).text
            assert (await other.say("who?")).text == "I am Ada / I like cats / who?"
    if is_restarted:
        async with lifetimes.one() as (editor, _):
            answer = (await once_more(editor, other).say("who?")).text
            assert answer == "I am Ada / I like cats / who?"
            assert "cats" not in (await once_more(editor, one).say("who?")).text


async def test_of_two_chats_that_show_a_session_the_later_one_has_it_after_a_restart(
    autojump_clock: MockClock,
) -> None:
    lifetimes = Lifetimes()
    async with lifetimes.one() as (editor, _):
        one, other = Chat(editor), Chat(editor)
        await one.say("/continue")
        await one.say("/continue s1")
        await other.say("/continue s1")
        await other.say("I like cats")
    async with lifetimes.one() as (editor, _):
        assert "cats" not in (await once_more(editor, one).say("who?")).text
        assert (await once_more(editor, other).say("who?")).text == "I am Ada / I like cats / who?"


TWO = {"session/list": [{"result": {"sessions": [{"sessionId": "s1", "cwd": "/two"}]}}]}


async def test_after_a_restart_a_session_is_looked_for_in_its_own_folder(
    autojump_clock: MockClock,
) -> None:
    lifetimes, folders = Lifetimes(), ("/one", "/two")
    async with lifetimes.one(folders=folders, on=TWO) as (editor, _):
        chat = Chat(editor)
        await chat.say("/continue s1")
        await chat.say("Hi")
    for _ in range(2):
        async with lifetimes.one(folders=folders, on=TWO) as (editor, peers):
            chat = once_more(editor, chat)
            assert (await chat.say("who?")).text.startswith("I am Ada / Hi / who?")
            assert [one["cwd"] for one in peers.asked("session/load")] == ["/two"]


async def test_a_session_whose_folder_is_no_longer_open_is_left(autojump_clock: MockClock) -> None:
    """The user has trusted the folders of the window."""
    lifetimes = Lifetimes()
    async with lifetimes.one(folders=("/one", "/two"), on=TWO) as (editor, _):
        chat = Chat(editor)
        await chat.say("/continue s1")
    async with lifetimes.one(folders=("/one",)) as (editor, peers):
        answer = (await once_more(editor, chat).say("who?")).text
        assert "what I said to I am Ada" in answer, "it is told what was shown"
        assert peers.asked("session/load") == []
        assert {one["cwd"] for one in peers.asked("session/new")} == {"/one"}


def built_in(editor: FakeEditor, log: str, origin: Chat | None = None) -> Chat:
    """Return a chat of VS Code's agent, a copy of another one if that is given."""
    private: JSON = {"_conversationId": "c", "_telemetryTurn": 1, "_otelTraceContext": {}}
    chat = Chat(editor, options={"modelOptions": private})
    system = message("system", f"Be kind.\nVSCODE_TARGET_SESSION_LOG: {log}\n")
    chat.history = [system, *(origin.history[1:] if origin is not None else ())]
    return chat


async def test_a_fork_of_a_session_works_in_its_folder_also_after_a_restart(
    autojump_clock: MockClock,
) -> None:
    lifetimes = Lifetimes()
    begin = partial(lifetimes.one, "load", "list", "fork", folders=("/one", "/two"), on=TWO)
    async with begin() as (editor, peers):
        origin = built_in(editor, "one")
        assert (await origin.say("/continue s1")).text == SHOWN
        copy = built_in(editor, "two", origin)
        assert (await copy.say("I like dogs")).text.endswith("I am Ada / I like dogs")
        assert (await origin.say("I like cats")).text.endswith("I am Ada / I like cats")
        assert [one["cwd"] for one in peers.asked("session/fork")] == ["/two"]
    async with begin() as (editor, peers):
        again = built_in(editor, "two", copy)
        assert (await again.say("who?")).text.endswith("I am Ada / I like dogs / who?")
        assert [one["cwd"] for one in peers.asked("session/load")] == ["/two"]


async def test_the_transcript_is_shown_and_the_next_message_goes_on(
    autojump_clock: MockClock,
) -> None:
    async with at_work() as (editor, peers):
        chat = Chat(editor)
        assert (await chat.say("/continue s1")).text == SHOWN
        assert peers.asked("session/prompt") == []
        assert peers.asked("session/new") == []
        assert (await chat.say("who?")).text == "I am Ada / who?"
        assert (await chat.say("/continue s1")).text == "I am Ada / who? / /continue s1"


async def test_a_session_that_can_only_be_resumed_goes_on_unseen(autojump_clock: MockClock) -> None:
    async with at_work("resume") as (editor, peers):
        chat = Chat(editor)
        text = (await chat.say("/continue s1")).text
        assert text.startswith("*fake continues the session, but doesn't send its messages.")
        assert (await chat.say("who?")).text == "I am Ada / who?"
        assert [one["sessionId"] for one in peers.asked("session/resume")] == ["s1"]


async def test_an_agent_that_can_find_no_session_gets_the_text(autojump_clock: MockClock) -> None:
    async with at_work("list") as (editor, _):
        assert (await Chat(editor).say("/continue s1")).text == "/continue s1"


FAILURES: list[tuple[str, JSON, str]] = [
    ("s9", {}, "Resource not found: s9"),
    ("s1", {"session/load": [{"result": {}}]}, "it sent none of its old messages"),
    ("s1", {"session/load": [{"hang": True}]}, "no answer in 60 seconds"),
    ("s1", {"session/load": [{"exit": 3}]}, "fake"),
]


@pytest.mark.parametrize(("session_id", "on", "reason"), FAILURES)
async def test_a_session_that_isn_t_there_is_told_and_the_next_message_begins_a_new_one(
    session_id: str, on: JSON, reason: str, autojump_clock: MockClock
) -> None:
    async with at_work(on=on) as (editor, peers):
        chat = Chat(editor)
        request = await chat.ask(f"/continue {session_id}").settled(1e6)
        chat.keep(request)
        text = request.text
        assert text.startswith(f"**fake didn't continue the session `{session_id}`:**")
        assert reason in text
        answer = (await chat.say("who?")).text
        assert answer.endswith("who?")
        assert "didn't continue" not in answer, "our own words are for the user alone"
        prompted = {one["sessionId"] for one in peers.asked("session/prompt")}
        assert prompted.isdisjoint({"s1", "s9"})


async def test_a_command_without_an_id_lists_the_sessions_and_the_next_one_opens_one(
    autojump_clock: MockClock,
) -> None:
    async with at_work() as (editor, _):
        chat = Chat(editor)
        listed = (await chat.say("/continue")).text
        assert listed == (
            "Earlier sessions of fake. To continue one, send its line:\n\n"
            "- *no title*: `/continue s1`"
        )
        assert (await chat.say("/continue nope")).text.startswith("**fake didn't continue")
        assert (await chat.say("/continue s1")).text == SHOWN
        assert (await chat.say("who?")).text == "I am Ada / who?"


async def test_an_agent_that_lists_nothing_says_so(autojump_clock: MockClock) -> None:
    async with at_work("load") as (editor, _):
        chat = Chat(editor)
        assert (await chat.say("/continue")).text == (
            "fake can't list its sessions. Write the id of one: /continue ID"
        )
        assert (await chat.say("/continue s1")).text == SHOWN


async def test_a_second_chat_doesn_t_take_the_session_away(autojump_clock: MockClock) -> None:
    async with at_work() as (editor, peers):
        one, other = Chat(editor), Chat(editor)
        await one.say("/continue s1")
        await one.say("I like cats")
        assert "it is open in another chat" in (await other.say("/continue s1")).text
        assert (await one.say("who?")).text == "I am Ada / I like cats / who?"
        assert len(peers.asked("session/load")) == 1


async def test_of_two_chats_that_show_a_session_the_later_one_goes_on_in_it(
    autojump_clock: MockClock,
) -> None:
    async with at_work() as (editor, _):
        one, other = Chat(editor), Chat(editor)
        await one.say("/continue")
        await one.say("/continue s1")
        assert (await other.say("/continue s1")).text == SHOWN
        told = (await one.say("who?")).text
        assert "what I said to I am Ada" in told, "it is told what was shown"
        assert (await other.say("and now?")).text == "I am Ada / and now?"


async def test_a_chat_that_has_lost_its_session_never_has_it_again(
    autojump_clock: MockClock,
) -> None:
    """The session knows what was said in the other chat, also when that has ended."""
    async with at_work() as (editor, _):
        one, other = Chat(editor), Chat(editor, settings={"idleSeconds": 10})
        await one.say("/continue")
        await one.say("/continue s1")
        await other.say("/continue s1")
        assert (await other.say("I like cats")).text == "I am Ada / I like cats"
        await trio.sleep(20)
        assert "cats" not in (await one.say("who?")).text


@pytest.mark.limit("actors.plan.MOST_OPENING")
async def test_after_many_commands_they_are_the_agents(autojump_clock: MockClock) -> None:
    async with at_work() as (editor, peers):
        chat = Chat(editor)
        for _ in range(MOST_OPENING // 2):
            assert (await chat.say("/continue")).text.startswith("Earlier sessions")
        assert peers.asked("session/prompt") == []
        assert (await chat.say("/continue")).text.endswith("/continue")
        assert len(peers.asked("session/prompt")) == 1


async def test_a_session_is_loaded_where_it_could_be_resumed(autojump_clock: MockClock) -> None:
    async with at_work("resume", "load") as (editor, _):
        assert (await Chat(editor).say("/continue s1")).text == SHOWN


async def test_a_command_that_is_sent_again_or_edited_opens_its_session(
    autojump_clock: MockClock,
) -> None:
    async with at_work() as (editor, peers):
        peers.kept["s2"] = ["I am Bob"]
        chat = Chat(editor)
        await chat.say("/continue s1")
        chat.take_back(2)
        assert (await chat.say("/continue s1")).text == SHOWN
        chat.take_back(2)
        assert (await chat.say("/continue s2")).text == SHOWN.replace("Ada", "Bob")
        assert (await chat.say("who?")).text == "I am Bob / who?"


async def test_after_an_edit_another_session_is_told_what_was_shown(
    autojump_clock: MockClock,
) -> None:
    async with at_work() as (editor, _):
        chat = Chat(editor)
        await chat.say("/continue s1")
        await chat.say("I like cats")
        chat.take_back(2)
        answer = (await chat.say("I like dogs")).text
        assert "what I said to I am Ada" in answer
        assert "cats" not in answer
        assert "Your next message" not in answer
        assert answer.endswith("I like dogs")


async def test_an_edit_forks_the_session_where_the_agent_can(autojump_clock: MockClock) -> None:
    async with at_work("load", "fork") as (editor, _):
        one, other = Chat(editor), Chat(editor)
        await one.say("/continue s1")
        other.history = [*one.history]
        await one.say("I like cats")
        answer = (await other.say("I like dogs")).text
        assert answer.endswith("I like dogs")
        assert "I am Ada" in answer
        assert "cats" not in answer


async def test_a_message_after_a_command_that_was_cancelled_is_heard_in_the_session(
    autojump_clock: MockClock,
) -> None:
    async with at_work(on={"session/load": [{"sleep": 2}, {"replay": True}]}) as (editor, _):
        chat = Chat(editor)
        request = chat.ask("/continue s1")
        await trio.testing.wait_all_tasks_blocked()
        editor.cancel(request)
        await request.settled()
        chat.keep(request)
        assert (await chat.say("hello")).text == "I am Ada / hello"
        assert (await chat.say("who?")).text == "I am Ada / hello / who?"


async def test_a_login_that_is_wanted_is_an_error_as_elsewhere(autojump_clock: MockClock) -> None:
    async with at_work(login_needed=["session/load", "session/list"]) as (editor, _):
        for text in ("/continue s1", "/continue"):
            error = (await Chat(editor).ask(text).settled()).error
            assert error["data"]["kind"] == "NoPermissions"


async def test_a_session_works_in_its_own_folder(autojump_clock: MockClock) -> None:
    found = [{"sessionId": "s1", "cwd": "/two/"}, {"sessionId": "s2", "cwd": "/elsewhere"}]
    on = {"session/list": [{"result": {"sessions": found}}]}
    async with at_work(folders=("/one", "/two"), on=on) as (editor, peers):
        listed = (await Chat(editor).say("/continue")).text
        assert listed.endswith("- *no title*: `/continue s1`")
        assert (await Chat(editor).say("/continue s1")).text == SHOWN
        await Chat(editor).say("/continue s2")
        assert [one["cwd"] for one in peers.asked("session/load")] == ["/two/", "/one"]
        assert [one["cwd"] for one in peers.asked("session/list")][:2] == ["/one", "/two"]


async def test_a_slow_list_of_many_folders_has_an_end(autojump_clock: MockClock) -> None:
    folders = tuple(f"/{number}" for number in range(9))
    page = {"sessions": [{"sessionId": "s1", "cwd": "/1"}]}
    on = {"session/list": [{"sleep": 25}, {"result": page}]}
    async with at_work(folders=folders, on=on) as (editor, peers):
        text = (await Chat(editor).ask("/continue").settled(1e6)).text
        assert text.endswith("- *no title*: `/continue s1`")
        assert len(peers.asked("session/list")) == 3


async def test_a_request_beside_a_chat_commands_nothing(autojump_clock: MockClock) -> None:
    async with at_work() as (editor, peers):
        beside = Chat(editor, options=BESIDE)
        assert (await beside.say("/continue s1")).text == "/continue s1"
        assert peers.asked("session/load") == []


async def test_a_silent_list_has_an_end(autojump_clock: MockClock) -> None:
    async with at_work(on={"session/list": [{"hang": True}]}) as (editor, _):
        error = (await Chat(editor).ask("/continue").settled(1e6)).error
        assert "didn't list its sessions within 60 seconds" in error["message"]


async def listed(editor: FakeEditor) -> Any:
    request = editor.request("lm/agentSessions", {"modelId": "m", "agent": {"eliza": {}}})
    await request.settled(1e6)
    assert request.reply is not None
    return request.error if "error" in request.reply else request.result["sessions"]


async def test_the_editor_gets_the_list(autojump_clock: MockClock) -> None:
    facts = {"title": "Ada", "updatedAt": "2026-01-01T10:00:00Z"}
    found = [{"sessionId": "s1", "cwd": "/"}, {"sessionId": "s2", "cwd": "/", **facts}]
    on = {"session/list": [{"result": {"sessions": found}}]}
    async with at_work(on=on) as (editor, _):
        one, two = {"sessionId": "s1", "cwd": "/"}, {"sessionId": "s2", "cwd": "/", **facts}
        assert await listed(editor) == [two, one]
        chat = Chat(editor)
        await chat.say("/continue s1")
        assert await listed(editor) == [two, one], "nobody has said anything in it"
        await chat.say("Hello")
        assert await listed(editor) == [two], "the other one is open"


@pytest.mark.parametrize(
    ("methods", "why"),
    [
        (("load",), "fake can't list its sessions."),
        (("list",), "fake can't open a session again"),
    ],
)
async def test_an_agent_without_a_list_is_told_to_the_editor(
    methods: tuple[str, ...], why: str, autojump_clock: MockClock
) -> None:
    async with at_work(*methods) as (editor, _):
        error = await listed(editor)
        assert error["data"]["kind"] == "NotFound"
        assert error["message"].startswith(why)


async def test_the_owner_of_a_session_has_it_again_also_by_another_server() -> None:
    """An agent that can't close a session keeps its server, so the next one has another name."""
    capabilities: JSON = {"agentCapabilities": {"loadSession": True, "sessionCapabilities": {}}}
    script: JSON = {"agent": capabilities, "servers": []}
    tools = (ToolSpec("look", "Look."),)
    with trio.fail_after(5):
        async with agent_in_process(script, workspace=Workspace(("/",))) as (agent, peers):
            peers.kept["s1"] = ["I am Ada"]
            said = ChatMessage("user", (TextPart("/continue s1"),))
            async with agent.session_of_chat(Prompt((said,), tools=tools)) as session:
                former = session.handle
            handles = [former]
            for _ in range(2):
                origin = Resumed(str(handles[-1]))
                async with agent.session_of_chat(Prompt((), tools=tools), origin) as session:
                    assert session.knows_history
                    handles.append(session.handle)
            assert len(set(handles)) == 3
            origin = Resumed(str(former))
            async with agent.session_of_chat(Prompt((), tools=tools), origin) as session:
                assert not session.knows_history
