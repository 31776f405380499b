"""The page draws a replayed trace just as the running server tells of it."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from msgspec import UNSET

from actors.trace import open_trace
from agents.events import Attach, Say, Stop
from bridge import methods
from bridge.wire import InspectedRequest, InspectedTokens, InspectResult
from docs.generator.replays import trace as bread
from tests.fakes.editor import Chat, FakeEditor, Request, connected_to
from tests.fakes.scripted_agent import Hang, ScriptedAgent
from tests.fakes.session_memory import Shelf, ShelfMemory
from vscodelm.replay.picture import picture
from vscodelm.replay.recording import read_recording

from .test_exact import Sessions, act, befall, open_chats, script

if TYPE_CHECKING:
    from trio.testing import MockClock


def drawn(lines: list[bytes]) -> list[Any]:
    return picture(read_recording(lines)).events


def requests(events: list[Any]) -> list[InspectedRequest]:
    return [one for one in events if isinstance(one, InspectedRequest)]


async def inspected(editor: FakeEditor) -> InspectResult:
    """Ask the server as an editor does."""
    answer = await editor.request(methods.INSPECT, {}).settled()
    return msgspec.convert(answer.result, InspectResult)


@pytest.mark.parametrize("seed", range(8))
async def test_a_replayed_trace_has_the_events_that_the_server_told(
    seed: int, tmp_path: Path, autojump_clock: MockClock
) -> None:
    random = Random(seed)
    agent = ScriptedAgent(Sessions(script(random)).steps, one_session_each=random.random() < 0.5)
    shelf = Shelf()
    trace, memory, other = open_trace(tmp_path, "run"), ShelfMemory(shelf), ShelfMemory(shelf)
    async with connected_to(lambda _: agent, memory=memory, trace=trace) as editor:
        await editor.initialize("marker").settled()
        chats, newest = open_chats(editor, random), dict[int, Request]()
        for _ in range(50):
            befall(random, agent, shelf, other)
            await act(random, chats, newest)
        told = await inspected(editor)
        lines = (tmp_path / "run.jsonl").read_bytes().splitlines()
    trace.close()
    again = picture(read_recording(lines))
    assert len(told.events) > 20
    for ours, theirs in zip(told.events, again.events, strict=True):
        assert ours == theirs
    assert any(one.session is not UNSET and one.session.process for one in requests(told.events))


def test_a_recording_without_times_is_drawn_without_them() -> None:
    events = requests(drawn(list(bread())))
    assert [(one.request, one.conversation, one.reason) for one in events] == [
        (1, 1, "new"),
        (2, 1, "extends"),
        (3, 1, "extends"),
        (4, 2, "branch"),
    ]
    assert all(one.at is UNSET for one in events)
    assert [one.ending for one in events] == ["complete", "cancelled", "complete", "complete"]
    edited = events[3]
    assert (edited.branch_of, edited.shared, edited.extends) == (1, 1, 1)
    assert edited.taken_back == [2, 3]
    assert not edited.remembers
    assert edited.asked == "Wheat."
    assert edited.given == ['user "Wheat."']
    assert edited.answer == "Then bake it today."
    assert ("because", "edit: the messages after that point were taken back") in [
        (fact.name, fact.text) for fact in edited.facts
    ]


async def test_tokens_and_an_answer_that_is_still_coming_are_told(
    autojump_clock: MockClock,
) -> None:
    record = {"prompt_tokens": 900, "completion_tokens": 20, "context_window": 200_000}
    record |= {"turn": {"prompt_tokens": 30, "completion_tokens": 4}}
    usage = Attach("usage", json.dumps(record).encode())
    agent = ScriptedAgent([[Say("One. "), usage, Stop()], [Say("Two, "), Hang()]])
    async with connected_to(lambda _: agent) as editor:
        await editor.initialize("usage").settled()
        chat = Chat(editor)
        await chat.say("Count.")
        running = await chat.ask("Go on.").shows("Two, ")
        first, second = requests((await inspected(editor)).events)
        editor.cancel(running)
        await running.settled()
        last = requests((await inspected(editor)).events)[-1]
    assert first.tokens == InspectedTokens(30, 4, 200_000)
    assert (second.ending, second.answer) == ("open", "Two,")
    assert (last.ending, last.answer) == ("cancelled", "Two,")
