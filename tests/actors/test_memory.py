"""What is remembered of an agent's sessions, and under which name."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import trio

from actors.memory import AgentMemory, Known, NoMemory
from bridge.history.exchange import Ending, Exchange
from bridge.history.message import Message
from bridge.wire import DataPart, TextPart
from tests.fakes.session_memory import Shelf, ShelfMemory
from tests.strategies import assistant, user

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

RECORD = [Exchange((user("q"),), assistant("a"), Ending.COMPLETE)]
PATH = [user("q"), assistant("a")]


async def test_without_a_memory_nothing_is_found_and_nothing_is_in_the_way() -> None:
    memory = AgentMemory.of(NoMemory(), b"agent")
    with trio.fail_after(5):
        assert await memory.begin("s")
        memory.settle("s", RECORD)
        memory.release("s")
        assert await memory.find(PATH) is None
        assert await memory.begin("s")


async def test_what_is_settled_is_found_in_its_scope_alone() -> None:
    shelf = Shelf()
    with trio.fail_after(5):
        before = AgentMemory.of(ShelfMemory(shelf), b"agent")
        assert await before.begin("s")
        before.settle("s", RECORD)
        assert await AgentMemory.of(ShelfMemory(shelf), b"other").find(PATH) is None
        assert await AgentMemory.of(ShelfMemory(shelf), b"agent").find(PATH) == Known("s", 2)


async def test_our_mark_in_the_newest_answer_is_kept_with_it() -> None:
    shelf = Shelf()
    memory = AgentMemory.of(ShelfMemory(shelf), b"agent")
    marked = Message.of("assistant", [TextPart("a"), DataPart("stateful_marker", b"model\\token")])
    memory.settle("s", [Exchange((user("q"),), marked, Ending.COMPLETE)])
    memory.settle("t", [Exchange((user("q"),), None, Ending.EMPTY)])
    assert [entry.marker for entry in shelf.entries.values()] == ["token", None]


def test_the_scope_is_of_an_agent_and_a_folder_and_tells_neither(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def scope(agent: bytes) -> bytes:
        return AgentMemory.of(NoMemory(), agent).scope

    here = scope(b"a"), scope(b"b")
    monkeypatch.chdir(tmp_path)
    there = scope(b"a"), scope(b"b")
    assert len({*here, *there}) == 4
    assert there == (scope(b"a"), scope(b"b"))
    assert {len(one) for one in (*here, scope(b"a" * 1000))} == {16}


def test_a_folder_that_was_deleted_is_no_reason_to_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    def getcwd() -> str:
        raise FileNotFoundError

    monkeypatch.setattr(os, "getcwd", getcwd)
    assert AgentMemory.of(NoMemory(), b"a").scope != AgentMemory.of(NoMemory(), b"b").scope
