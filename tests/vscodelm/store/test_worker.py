"""Nobody waits for the store longer than is said, and what is noted is written in the end."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from tests.fakes.waiting import until
from vscodelm.store import worker as workers
from vscodelm.store.database import Database, FullStore, StoreError
from vscodelm.store.folder import StoreFolder
from vscodelm.store.store import Store
from vscodelm.store.worker import Note, Worker

from .disks import hanging

INSERT = (
    "INSERT INTO session (scope, handle, lookup, steps, marker, holder, settled_at) "
    "VALUES (x'00', ?, x'00', x'00', NULL, x'00', 1800000000)"
)


@asynccontextmanager
async def working(state: Path, patience: float = 10.0) -> AsyncGenerator[Worker]:
    with trio.fail_after(20):
        async with trio.open_nursery() as nursery:
            worker = Worker(Store(StoreFolder(state)), patience)
            nursery.start_soon(worker.run)
            try:
                yield worker
            finally:
                worker.leave()


def insert(name: str) -> Note:
    def change(database: Database) -> None:
        database.change(INSERT, name)

    return Note(lambda: change)


def handles(database: Database) -> list[str]:
    return [handle for (handle,) in database.rows("SELECT handle FROM session ORDER BY number")]


async def test_what_is_noted_is_written_before_the_next_question_is_answered(
    tmp_path: Path,
) -> None:
    async with working(tmp_path) as worker:
        worker.note("a", insert("a"))
        worker.note("b", insert("b"))
        assert await worker.ask(handles) == ["a", "b"]


async def test_so_is_what_is_noted_while_something_is_written(tmp_path: Path) -> None:
    with hanging() as disk:
        async with working(tmp_path) as worker, trio.open_nursery() as nursery:
            worker.note("a", Note(lambda: disk.hang))
            await trio.to_thread.run_sync(disk.is_reached.wait)
            worker.note("b", insert("b"))

            async def ask() -> None:
                assert await worker.ask(handles) == ["b"]

            nursery.start_soon(ask)
            await wait_all_tasks_blocked()
            disk.goes_on.set()


async def test_of_notes_with_the_same_key_the_newest_is_written_in_its_place(
    tmp_path: Path,
) -> None:
    async with working(tmp_path) as worker:
        worker.note(1, insert("a"))
        worker.note(2, insert("b"))
        worker.note(1, insert("c"))
        worker.note(3, insert("d"))
        worker.drop(3)
        worker.drop(3)
        assert await worker.ask(handles) == ["b", "c"]


async def test_notes_that_nobody_asks_about_are_written_too_and_when_it_leaves(
    tmp_path: Path,
) -> None:
    async with working(tmp_path) as worker:
        worker.note(1, insert("a"))
        await until(StoreFolder(tmp_path).file.exists)
        worker.note(2, insert("b"))
    async with working(tmp_path) as worker:
        assert await worker.ask(handles) == ["a", "b"]


async def test_what_ends_everything_else_does_not_keep_notes_from_being_written(
    tmp_path: Path,
) -> None:
    with trio.CancelScope() as everything:
        async with working(tmp_path) as worker:
            worker.note(1, insert("a"))
            everything.cancel()
            await trio.sleep_forever()
    async with working(tmp_path) as worker:
        assert await worker.ask(handles) == ["a"]


async def test_a_worker_with_nothing_to_do_touches_nothing(tmp_path: Path) -> None:
    async with working(tmp_path / "state") as worker:
        worker.note(1, Note(lambda: None))
        worker.drop(1)
    async with working(tmp_path / "state"):
        pass
    assert not (tmp_path / "state").exists()


@pytest.mark.limit("vscodelm.store.worker.MOST_NOTES")
async def test_there_are_never_more_notes_than_can_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "MOST_NOTES", 2)
    async with working(tmp_path) as worker:
        for name in "abc":
            worker.note(name, insert(name))
        assert await worker.ask(handles) == ["b", "c"]


async def test_who_notes_something_learns_whether_it_may_be_written(tmp_path: Path) -> None:
    heard: list[str] = []

    def fail(database: Database) -> None:
        database.change("nonsense that closes the store")

    def telling(name: str, note: Note) -> Note:
        return Note(
            note.prepare,
            lambda: heard.append(f"{name} begins"),
            lambda: heard.append(f"{name} fails"),
        )

    async with working(tmp_path) as worker:
        worker.note(1, telling("a", insert("a")))
        worker.note(2, telling("nothing", Note(lambda: None)))
        assert await worker.ask(handles) == ["a"]
        assert heard == ["a begins", "nothing begins", "nothing fails"]
        heard.clear()
        worker.note(1, telling("b", insert("b")))
        worker.note(2, telling("c", Note(lambda: fail)))
        assert await worker.ask(handles) == [], "it is a new store"
        assert heard == ["b begins", "c begins", "b fails", "c fails"]


async def test_a_commit_that_fails_leaves_it_open_whether_it_is_written(
    tmp_path: Path,
) -> None:
    heard: list[str] = []
    error = StoreError("the disk is gone")
    error.is_in_doubt = True

    def fail(_: Database) -> None:
        raise error

    async with working(tmp_path) as worker:
        worker.note(1, Note(lambda: fail, fails=lambda: heard.append("fails")))
        with pytest.raises(StoreError):
            await worker.ask(handles)
        assert not heard


@pytest.mark.limit("vscodelm.store.worker.PATIENCE_SECONDS")
async def test_a_disk_that_hangs_is_waited_for_once_and_then_not_until_it_goes_on(
    tmp_path: Path,
) -> None:
    with hanging() as disk:
        async with working(tmp_path, patience=0.05) as worker:
            with pytest.raises(StoreError, match="slow"):
                await worker.ask(disk.hang)
            worker.patience = 10.0
            for _ in range(3):
                with pytest.raises(StoreError, match="slow"):
                    await worker.ask(handles)
            disk.goes_on.set()
            await until(lambda: not worker.is_stuck)
            assert await worker.ask(handles) == []


async def test_a_question_that_nobody_waits_for_any_more_is_not_put(tmp_path: Path) -> None:
    put: list[int] = []
    with hanging() as disk:
        async with working(tmp_path) as worker, trio.open_nursery() as nursery:
            nursery.start_soon(worker.ask, disk.hang)
            await trio.to_thread.run_sync(disk.is_reached.wait)
            with trio.move_on_after(0):
                await worker.ask(lambda _: put.append(1))
            disk.goes_on.set()
            assert await worker.ask(handles) == []
    assert not put


async def test_a_disk_that_hangs_keeps_nobody_from_leaving(tmp_path: Path) -> None:
    with hanging() as disk, trio.fail_after(10):
        async with trio.open_nursery() as nursery:
            worker = Worker(Store(StoreFolder(tmp_path)), 0.01)
            nursery.start_soon(worker.run)
            with pytest.raises(StoreError):
                await worker.ask(disk.hang)
            worker.leave(0.01)
        assert not disk.has_gone_on


async def test_what_must_be_written_is_tried_again_at_the_latest_when_it_leaves(
    tmp_path: Path,
) -> None:
    tries: list[str] = []

    def change(database: Database) -> None:
        tries.append("must")
        if len(tries) == 1:
            raise FullStore("the disk is full")
        database.change(INSERT, "must")

    async with working(tmp_path) as worker:
        worker.note("must", Note(lambda: change, must_be=True))
        await until(lambda: len(tries) == 1)
    assert tries == ["must", "must"]
    async with working(tmp_path) as worker:
        assert await worker.ask(handles) == ["must"]


@pytest.mark.parametrize("is_dropped", [True, False])
async def test_a_newer_note_takes_the_place_of_one_that_failed(
    tmp_path: Path, is_dropped: bool
) -> None:
    def fail(_: Database) -> None:
        raise FullStore("the disk is full")

    failed: list[bool] = []
    async with working(tmp_path) as worker:
        worker.note("a", Note(lambda: fail, fails=lambda: failed.append(True), must_be=True))
        await until(lambda: bool(failed))
        if is_dropped:
            worker.drop("a")
        else:
            worker.note("a", insert("a"))
        assert await worker.ask(handles) == ([] if is_dropped else ["a"])
    assert failed == [True]


async def test_a_store_that_fails_in_its_own_time_ends_nothing_else(tmp_path: Path) -> None:
    """The task shares its nursery with all that the program does."""

    class Failing(Store):
        def prune(self) -> bool:
            raise LookupError("prune")

        def close(self) -> None:
            super().close()
            raise LookupError("close")

    with trio.fail_after(20):
        async with trio.open_nursery() as nursery:
            worker = Worker(Failing(StoreFolder(tmp_path)))
            nursery.start_soon(worker.run)
            worker.note("a", insert("a"))
            assert await worker.ask(handles) == ["a"]
            worker.note("b", insert("b"))
            assert await worker.ask(handles) == ["a", "b"]
            worker.leave()


async def test_a_question_that_the_store_fails_at_is_answered_at_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class Failing(Store):
        def ask(self, act: Callable[[Database], Any]) -> Any:
            raise LookupError("ask")

    with trio.fail_after(20):
        async with trio.open_nursery() as nursery:
            worker = Worker(Failing(StoreFolder(tmp_path)), patience=1e9)
            nursery.start_soon(worker.run)
            with pytest.raises(StoreError, match="it failed"):
                await worker.ask(handles)
            worker.leave()
    assert "store failed: LookupError" in caplog.text


async def test_a_note_whose_owner_fails_does_not_keep_others_waiting(tmp_path: Path) -> None:
    def break_() -> None:
        raise RuntimeError("odd")

    async with working(tmp_path, patience=1e9) as worker:
        worker.note("a", Note(lambda: None, begins=break_))
        assert await worker.ask(handles) == []
