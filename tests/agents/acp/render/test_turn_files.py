"""Files that change while an agent works are named at the end of its answer."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from actors.response import DRAIN_SECONDS
from agents.acp.render.turn_files import SETTLE_SECONDS
from agents.workspace import CHANGED_SECONDS, Workspace
from bridge.wire import CHANGES_MIME_TYPE
from tests.fakes.acp_agents import agent_in_process
from tests.fakes.acp_peer import PeerAgent
from tests.fakes.editor import Chat, FakeEditor, Request, connected
from tests.fakes.waiting import PATIENCE

JSON = dict[str, Any]
RUN: JSON = {
    "update": {
        "sessionUpdate": "tool_call",
        "toolCallId": "c1",
        "title": "make",
        "kind": "execute",
        "status": "completed",
    }
}
SAY: JSON = {"say": "Built."}
WRITE: JSON = {
    "update": {
        "sessionUpdate": "tool_call",
        "toolCallId": "c2",
        "title": "Write",
        "kind": "edit",
        "status": "completed",
        "content": [{"type": "diff", "path": "/project/a.py", "oldText": None, "newText": "a"}],
    }
}
HANG: JSON = {"hang": True}
BUILT: JSON = {"paths": ["/project/built.txt"], "more": 2}
STOPPED = "📝 Changed in the turn that was stopped: "
LINE = "\n\n📝 Changed while the agent worked: `built.txt` and 2 more"


@asynccontextmanager
async def scene(
    *turns: list[JSON],
    capabilities: tuple[str, ...] = ("changedFiles", "data", "changes"),
    folder: str = "/project",
    **script: Any,
) -> AsyncGenerator[tuple[FakeEditor, Chat, PeerAgent], None]:
    """Open a chat with an agent that has these turns, in whose folder something was built."""
    window = Workspace()
    script = {"turns": [*turns], **script}
    async with agent_in_process(script, workspace=window) as (agent, peers):
        async with connected(agent, workspace=window, leaves_within=30) as editor:
            await editor.initialize(*capabilities).settled()
            editor.changed_files = BUILT
            window.open_folders((folder,))
            yield editor, Chat(editor), peers
        assert peers.faults == []


async def stop(chat: Chat) -> None:
    """Ask, and stop the agent when it hangs."""
    request = chat.ask("Build")
    await chat.editor.reaches(lambda: bool(chat.editor.watched))
    await trio.sleep(SETTLE_SECONDS)
    chat.editor.cancel(request)
    chat.keep(await request.settled())


def compared(request: Request) -> list[str]:
    """Return the files that the editor was told of last."""
    (*_, newest) = (
        one["data"] for one in request.parts if one.get("mimeType") == CHANGES_MIME_TYPE
    )
    return [one["path"] for one in json.loads(b64decode(newest))["files"]]


async def test_the_end_of_an_answer_names_what_changed_while_the_agent_worked(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with scene([RUN, SAY], [SAY]) as (editor, chat, _):
        answer = await chat.ask("Build").settled()
        assert answer.text.endswith(f"Built.{LINE}")
        assert not editor.watched
        second = await chat.ask("And now?").settled()
        assert (second.text, second.is_complete) == ("Built.", True), "no tool, no change"
        assert editor.changes_asked == [1]
        assert not editor.watched


async def test_a_file_is_named_once_where_the_agent_follows_the_folders_link(
    tmp_path: Path,
    autojump_clock: trio.testing.MockClock,
) -> None:
    (tmp_path / "target").mkdir()
    (tmp_path / "link").symlink_to("target")
    diff = {"type": "diff", "path": str(tmp_path / "target/a.py"), "oldText": None, "newText": "a"}
    write = {"update": {**WRITE["update"], "content": [diff]}}
    async with scene([write], folder=str(tmp_path / "link")) as (editor, chat, _):
        editor.changed_files = {"paths": [str(tmp_path / "link/a.py")], "more": 0}
        answer = await chat.ask("Build").settled()
        assert answer.text.endswith("📝 Changed by the agent: `a.py`")


@pytest.mark.limit("agents.acp.render.turn_files.SETTLE_SECONDS")
async def test_the_editor_has_the_time_to_notice_the_last_change(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with scene([RUN]) as (_, chat, __):
        began = trio.current_time()
        await chat.ask("Build").settled()
        assert trio.current_time() - began == pytest.approx(SETTLE_SECONDS)


async def test_an_editor_that_gives_no_answer_costs_the_line_and_some_seconds(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with scene([RUN, SAY]) as (editor, chat, _):
        editor.changed_files = None
        editor.patience = CHANGED_SECONDS + PATIENCE
        assert (await chat.ask("Build").settled()).text.endswith("Built.")
        assert not editor.watched
        assert not editor.texts_open


async def test_an_editor_without_the_capability_is_told_nothing() -> None:
    async with scene([RUN, SAY], capabilities=("data",)) as (editor, chat, _):
        assert (await chat.ask("Build").settled()).text.endswith("Built.")
        assert not editor.notified


async def test_a_turn_that_is_stopped_ends_its_watch(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with scene([RUN, {"hang": True}], [RUN]) as (editor, chat, _):
        stopped = chat.ask("Build")
        await editor.reaches(lambda: bool(editor.watched))
        editor.cancel(stopped)
        await stopped.settled()
        editor.changed_files = None
        editor.patience = CHANGED_SECONDS + PATIENCE
        again = chat.ask("Again")
        await editor.reaches(lambda: bool(editor.changes_asked))
        editor.cancel(again)
        assert (await again.settled()).is_complete
        await editor.reaches(lambda: not editor.watched)
        assert not editor.texts_open


async def test_the_next_answer_begins_with_the_files_of_a_turn_that_was_stopped(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with scene([WRITE, RUN, HANG], [SAY], [SAY]) as (editor, chat, peers):
        await stop(chat)
        answer = await chat.ask("Go on").settled()
        assert answer.text == f"{STOPPED}`a.py`, `built.txt` and 2 more\n\nBuilt."
        assert compared(answer) == ["/project/a.py", "/project/built.txt"]
        chat.keep(answer)
        assert (await chat.say("And now?")).text == "Built.", "they are named once"
        told = [one["prompt"][-1]["text"] for one in peers.asked("session/prompt")]
        assert told == ["Build", "Go on", "And now?"]
        assert not editor.watched


async def test_the_editor_compares_the_files_of_a_stopped_turn_and_of_the_next_one(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with scene([WRITE, HANG], [RUN]) as (editor, chat, _):
        editor.changed_files = {}
        await stop(chat)
        await editor.reaches(lambda: not editor.watched)
        editor.changed_files = BUILT
        answer = await chat.ask("Go on").settled()
        assert answer.text.startswith(f"{STOPPED}`a.py`\n\n")
        assert answer.text.endswith(LINE)
        assert compared(answer) == ["/project/built.txt", "/project/a.py"]


@pytest.mark.limit("agents.acp.render.turn_files.STOPPED_SECONDS")
async def test_an_editor_that_gives_no_answer_delays_the_turn_after_a_stopped_one_little(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with scene([WRITE, HANG], [SAY]) as (editor, chat, _):
        editor.changed_files = None
        await stop(chat)
        began = trio.current_time()
        answer = await chat.ask("Go on").settled()
        assert answer.text.startswith(f"{STOPPED}`a.py`\n\n"), "the agent has told of it"
        took = trio.current_time() - began
        assert took < CHANGED_SECONDS, "the clock may jump a second while a thread reads a file"


@pytest.mark.limit("agents.acp.render.turn_files.SPARE_SECONDS")
async def test_an_agent_that_stops_late_keeps_its_session(
    autojump_clock: trio.testing.MockClock,
) -> None:
    late: list[JSON] = [{"sleep": DRAIN_SECONDS - 0.5}, {"stop": "cancelled"}]
    async with scene([WRITE, HANG], [SAY], when_cancelled=late) as (editor, chat, peers):
        editor.changed_files = None
        await stop(chat)
        assert (await chat.ask("Go on").settled()).text == f"{STOPPED}`a.py`\n\nBuilt."
        assert len({one["sessionId"] for one in peers.asked("session/prompt")}) == 1


async def test_the_answer_of_an_agent_that_dies_names_what_has_changed(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with scene([WRITE, RUN, {"exit": 1}]) as (editor, chat, _):
        request = await chat.ask("Build").settled()
        assert request.error is not None
        assert f"📝 Changed by the agent: `a.py`{LINE}" in request.text
        await editor.reaches(lambda: not editor.watched)


async def test_a_stop_ends_the_look_for_the_files_of_an_agent_that_has_died(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with scene([WRITE, RUN, {"exit": 1}]) as (editor, chat, _):
        editor.changed_files = None
        request = chat.ask("Build")
        await editor.reaches(lambda: bool(editor.changes_asked))
        stopped_at = trio.current_time()
        editor.cancel(request)
        await request.settled()
        await editor.reaches(lambda: not editor.watched)
        assert trio.current_time() == stopped_at


async def test_the_error_of_an_agent_that_has_died_waits_little_for_its_files(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with scene([WRITE, RUN, {"exit": 1}]) as (editor, chat, _):
        editor.changed_files = None
        request = chat.ask("Build")
        await editor.reaches(lambda: bool(editor.changes_asked))
        began = trio.current_time()
        await request.settled()
        assert request.error is not None
        took = trio.current_time() - began
        assert took < CHANGED_SECONDS - 0.5, "the editor is waited for longer else"


async def test_the_answer_of_an_agent_that_loses_its_session_names_what_has_changed(
    autojump_clock: trio.testing.MockClock,
) -> None:
    gone: JSON = {"error": {"code": -32002, "message": "Session not found"}}
    async with scene([WRITE, RUN, gone]) as (editor, chat, _):
        request = await chat.ask("Build").settled()
        assert request.error is not None
        assert request.text.count(f"📝 Changed by the agent: `a.py`{LINE}") == 1
        await editor.reaches(lambda: not editor.watched)


async def test_a_file_that_another_chats_agent_names_isnt_claimed_by_a_turn_beside_it(
    autojump_clock: trio.testing.MockClock,
) -> None:
    slow = [RUN, {"sleep": 5}, SAY]
    async with scene(slow, [WRITE, {"sleep": 1}, SAY]) as (editor, chat, _):
        editor.changed_files = {"paths": ["/project/a.py", "/project/built.txt"]}
        editor.patience = 10
        request = chat.ask("Build")
        await editor.reaches(lambda: bool(editor.watched))
        second = await Chat(editor).ask("Write").settled()
        doubt = (
            "📝 Changed while the agent worked: `built.txt` (another agent worked at the same time)"
        )
        assert second.text.endswith(f"📝 Changed by the agent: `a.py`\n\n{doubt}")
        assert (await request.settled()).text.endswith(f"Built.\n\n{doubt}")
