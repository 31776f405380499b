"""Files that change while an agent works are named at the end of its answer."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
import trio.testing

from agents.acp.turn import SETTLE_SECONDS
from agents.workspace import CHANGED_SECONDS, Workspace
from tests.fakes.acp_agents import agent_in_process
from tests.fakes.editor import Chat, FakeEditor, connected
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
BUILT: JSON = {"paths": ["/project/built.txt"], "more": 2}
LINE = "\n\n📝 Changed while the agent worked: `built.txt` and 2 more"


@asynccontextmanager
async def scene(
    *turns: list[JSON], capabilities: tuple[str, ...] = ("changedFiles", "data", "changes")
) -> AsyncGenerator[tuple[FakeEditor, Chat], None]:
    """Open a chat with an agent that has these turns, in whose folder something was built."""
    window = Workspace()
    async with agent_in_process({"turns": [*turns]}, workspace=window) as (agent, peers):
        async with connected(agent, workspace=window, leaves_within=30) as editor:
            await editor.initialize(*capabilities).settled()
            editor.changed_files = BUILT
            window.folders = ("/project",)
            yield editor, Chat(editor)
        assert peers.faults == []


async def test_the_end_of_an_answer_names_what_changed_while_the_agent_worked(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with scene([RUN, SAY], [SAY]) as (editor, chat):
        answer = await chat.ask("Build").settled()
        assert answer.text.endswith(f"Built.{LINE}")
        assert not editor.watched
        second = await chat.ask("And now?").settled()
        assert (second.text, second.is_complete) == ("Built.", True), "no tool, no change"
        assert editor.changes_asked == [1]
        assert not editor.watched


@pytest.mark.limit("agents.acp.turn.SETTLE_SECONDS")
async def test_the_editor_has_the_time_to_notice_the_last_change(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with scene([RUN]) as (_, chat):
        began = trio.current_time()
        await chat.ask("Build").settled()
        assert trio.current_time() - began == pytest.approx(SETTLE_SECONDS)


async def test_an_editor_that_gives_no_answer_costs_the_line_and_some_seconds(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with scene([RUN, SAY]) as (editor, chat):
        editor.changed_files = None
        editor.patience = CHANGED_SECONDS + PATIENCE
        assert (await chat.ask("Build").settled()).text.endswith("Built.")
        assert not editor.watched
        assert not editor.texts_open


async def test_an_editor_without_the_capability_is_told_nothing() -> None:
    async with scene([RUN, SAY], capabilities=("data",)) as (editor, chat):
        assert (await chat.ask("Build").settled()).text.endswith("Built.")
        assert not editor.notified


async def test_a_turn_that_is_stopped_ends_its_watch(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with scene([RUN, {"hang": True}], [RUN]) as (editor, chat):
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
