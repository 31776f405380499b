from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import attrs
import pytest
import trio

from actors.memory import Known
from tests.fakes.waiting import until
from vscodelm.store.database import Database, FullStore, StoreError
from vscodelm.store.opening import Memories
from vscodelm.store.store import DatabaseWrite, Store

from .chats import SCOPE, chat, path, remembering
from .disks import hanging


async def test_a_turn_that_begins_at_once_takes_back_what_was_not_written_yet(
    tmp_path: Path,
) -> None:
    async with remembering(tmp_path) as first:
        first.sessions.settle(SCOPE, "s", chat("a", 1), None)
        assert await first.sessions.begin(SCOPE, "s")
        assert await first.sessions.begin(SCOPE, "s"), "a turn that failed is followed by another"
    async with remembering(tmp_path) as second:
        assert await second.sessions.find(SCOPE, path("a", 1)) is None


async def test_who_has_a_session_is_not_guessed_where_the_store_hangs(tmp_path: Path) -> None:
    with hanging() as disk:
        async with remembering(tmp_path) as memory:
            memory.sessions.settle(SCOPE, "written", chat("a", 1), None)
            assert await memory.sessions.has(SCOPE, "written")
            memory.sessions.worker.patience = 0.05
            with pytest.raises(StoreError):
                await memory.sessions.worker.ask(disk.hang)
            assert not await memory.sessions.has(SCOPE, "written")
            assert await memory.sessions.has(SCOPE, "never written")
            disk.goes_on.set()


async def test_what_a_slow_store_has_not_written_when_a_turn_begins_is_never_written(
    tmp_path: Path,
) -> None:
    with hanging() as disk:
        async with remembering(tmp_path, patience=0.05) as memory:
            with pytest.raises(StoreError):
                await memory.sessions.worker.ask(disk.hang)
            memory.sessions.settle(SCOPE, "s", chat("a", 1), None)
            assert await memory.sessions.begin(SCOPE, "s"), "nothing of it was written"
            disk.goes_on.set()
    async with remembering(tmp_path) as memory:
        assert await memory.sessions.find(SCOPE, path("a", 1)) is None


async def test_a_name_that_an_agent_gives_again_is_the_newer_session(tmp_path: Path) -> None:
    async with remembering(tmp_path) as first:
        first.sessions.settle(SCOPE, "s", chat("a", 1), None)
    async with remembering(tmp_path) as second:
        assert await second.sessions.begin(SCOPE, "s")
        assert await second.sessions.find(SCOPE, path("a", 1)) is None


async def test_the_session_whose_mark_came_back_is_preferred_then_what_knows_more_then_the_newer(
    tmp_path: Path,
) -> None:
    asked = path("a", 2)
    marked = attrs.evolve(asked[3], marker="ours")
    async with remembering(tmp_path) as first:
        first.sessions.settle(SCOPE, "more", chat("a", 2), None)
        first.sessions.settle(SCOPE, "marked", chat("a", 1), "ours")
        first.sessions.settle(SCOPE, "newer", chat("a", 2), "another's")
    async with remembering(tmp_path) as second:
        found = [
            await second.sessions.find(SCOPE, (*asked[:3], marked, asked[4])) for _ in range(4)
        ]
    assert found == [Known("marked", 2), Known("newer", 4), Known("more", 4), None]


@pytest.mark.parametrize("handle", ["", "\0", "ü \n'; DROP TABLE session --", "x" * 10_000])
async def test_an_agent_may_name_its_sessions_as_it_likes(tmp_path: Path, handle: str) -> None:
    async with remembering(tmp_path) as first:
        first.sessions.settle(SCOPE, handle, chat("a", 1), None)
    async with remembering(tmp_path) as second:
        assert await second.sessions.find(SCOPE, path("a", 1)) == Known(handle, 2)


async def test_a_name_that_can_not_be_written_is_not_remembered(tmp_path: Path) -> None:
    async with remembering(tmp_path) as memory:
        assert await memory.sessions.begin(SCOPE, "\ud800")
        memory.sessions.settle(SCOPE, "\ud800", chat("a", 1), None)
        assert await memory.sessions.find(SCOPE, path("a", 1)) is None


# What is kept of sessions in memory.


def kept(memories: Memories) -> int:
    sessions = memories.sessions.sessions
    return len(sessions.written) + len(sessions.held) + len(sessions.taken)


async def test_nothing_is_kept_of_sessions_that_were_released(tmp_path: Path) -> None:
    async with remembering(tmp_path) as memory:
        for number in range(20):
            memory.sessions.settle(SCOPE, f"s{number}", chat(f"{number}", 1), None)
            memory.sessions.release(SCOPE, f"s{number}")
        assert await memory.sessions.find(SCOPE, ()) is None  # and so it is written
        assert kept(memory) == 0
        assert await memory.sessions.find(SCOPE, path("7", 1)) == Known("s7", 2)
        memory.sessions.release(SCOPE, "s7")
        assert await memory.sessions.find(SCOPE, path("7", 1)) == Known("s7", 2), "put back"
        assert kept(memory) == 1


async def test_a_release_that_a_full_disk_prevents_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with remembering(tmp_path) as memory:
        memory.sessions.settle(SCOPE, "s", chat("a", 1), None)
        assert await memory.sessions.find(SCOPE, ()) is None  # and so it is written
        store = memory.sessions.worker.store
        with monkeypatch.context() as full:
            full.setattr(type(store), "write", no_room)
            memory.sessions.release(SCOPE, "s")
            for _ in range(2):
                assert await memory.sessions.find(SCOPE, path("a", 1)) is None
        assert kept(memory) == 2
        assert await memory.sessions.find(SCOPE, path("a", 1)) == Known("s", 2)
        assert await memory.sessions.begin(SCOPE, "s")
        assert kept(memory) == 0


def no_room(store: Store, changes: Sequence[DatabaseWrite]) -> None:
    if changes:
        raise FullStore("the disk is full")


@pytest.mark.parametrize("hangs", ["before", "after"])
async def test_a_look_up_that_nobody_waits_for_any_more_takes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hangs: str
) -> None:
    """The disk is slower than anybody's patience, before the row is deleted or after it."""
    async with remembering(tmp_path) as first:
        first.sessions.settle(SCOPE, "s", chat("a", 1), None)
    change = Database.change

    def slow(database: Database, statement: str, *values: object) -> int:
        if hangs == "before" and statement.startswith("DELETE FROM session WHERE number"):
            disk.hang(database)
        changed = change(database, statement, *values)
        if hangs == "after" and statement == "COMMIT":
            disk.hang(database)
        return changed

    with hanging() as disk:
        async with remembering(tmp_path) as second, trio.open_nursery() as nursery:
            with monkeypatch.context() as broken:
                broken.setattr(Database, "change", slow)
                nursery.start_soon(second.sessions.find, SCOPE, path("a", 1))
                await until(disk.is_reached.is_set)
                nursery.cancel_scope.cancel()  # it gives up, as for want of patience
                disk.goes_on.set()
    async with remembering(tmp_path) as third:
        assert await third.sessions.find(SCOPE, path("a", 1)) == Known("s", 2)


async def test_a_session_that_is_continued_in_another_chat_is_nobody_elses(tmp_path: Path) -> None:
    former, ours = "s#vsc1", "s#vsc2@/x"
    async with remembering(tmp_path) as first:
        first.sessions.settle(SCOPE, former, chat("a", 1), None)
        first.sessions.settle(SCOPE, "s2#vsc1", chat("b", 1), None)
        assert await first.sessions.begin(SCOPE, ours)
        assert not await first.sessions.has(SCOPE, former)
        first.sessions.settle(SCOPE, ours, chat("c", 1), None)
        assert not await first.sessions.begin(SCOPE, former)
        assert await first.sessions.has(SCOPE, ours), "who lost it takes nothing away"
    async with remembering(tmp_path) as second:
        assert await second.sessions.find(SCOPE, path("a", 1)) is None
        assert await second.sessions.find(SCOPE, path("b", 1)) == Known("s2#vsc1", 2)
        assert await second.sessions.find(SCOPE, path("c", 1)) == Known(ours, 2)


async def test_a_session_that_was_found_and_not_used_is_not_put_back_once_it_is_continued(
    tmp_path: Path,
) -> None:
    async with remembering(tmp_path) as first:
        first.sessions.settle(SCOPE, "s#vsc1", chat("a", 1), None)
    async with remembering(tmp_path) as second:
        assert await second.sessions.find(SCOPE, path("a", 1))
        assert await second.sessions.begin(SCOPE, "s#vsc2@/x")
        second.sessions.release(SCOPE, "s#vsc1")
    async with remembering(tmp_path) as third:
        assert await third.sessions.find(SCOPE, path("a", 1)) is None
