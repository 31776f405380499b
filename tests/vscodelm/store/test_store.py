"""What is wrong with a store costs what it remembered, and nothing else."""

from __future__ import annotations

import logging
import os
import stat
import sys
from pathlib import Path

import pytest

from actors.memory import Known
from vscodelm.store.database import DamagedStore, Database, StoreError, open_database
from vscodelm.store.folder import StoreFolder
from vscodelm.store.schema import VERSION
from vscodelm.store.store import WRITES_BETWEEN_PRUNINGS, Store

from .chats import CLOCK, SCOPE, chat, path, remembering
from .damages import DAMAGES, connect, damaged, execute, locked

pytestmark = pytest.mark.filterwarnings("error")


async def _settled(state: Path, *names: str) -> StoreFolder:
    """A store that knows some chats of one turn, and that nobody has open."""
    async with remembering(state) as memory:
        for name in names:
            memory.sessions.settle(SCOPE, name, chat(name, 1), None)
    return StoreFolder(state)


def _messages(caplog: pytest.LogCaptureFixture, level: int = logging.WARNING) -> list[str]:
    return [one.getMessage() for one in caplog.records if one.levelno >= level]


@pytest.mark.parametrize("how", DAMAGES)
async def test_a_damaged_file_is_put_aside_once_and_a_new_one_begun(
    tmp_path: Path, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    await _settled(tmp_path, *(f"chat {number}" for number in range(60)))
    place = damaged(tmp_path, how)
    async with remembering(tmp_path) as memory:
        for number in range(60):  # the damage may be where the last ones are
            await memory.sessions.find(SCOPE, path(f"chat {number}", 1))
        assert await memory.sessions.begin(SCOPE, "s")
        memory.sessions.settle(SCOPE, "s", chat("a", 1), None)
    assert place.aside.is_dir()
    assert len(_messages(caplog)) == 1
    assert "is damaged" in caplog.text
    async with remembering(tmp_path) as memory:
        assert await memory.sessions.find(SCOPE, path("a", 1)) == Known("s", 2)


async def test_of_several_damaged_stores_the_newest_is_kept(tmp_path: Path) -> None:
    for how in ("garbage", "folder"):
        await _settled(tmp_path, "a")
        place = damaged(tmp_path, how)
        async with remembering(tmp_path) as memory:
            assert await memory.sessions.find(SCOPE, path("a", 1)) is None
    assert (place.aside / place.file.name).is_dir()
    assert set(os.listdir(tmp_path)) <= {"store", place.aside.name}


async def test_a_session_is_not_ours_any_more_where_its_store_was_lost(tmp_path: Path) -> None:
    """Another process may have taken it from there, and gone on."""
    async with remembering(tmp_path) as memory:
        memory.sessions.settle(SCOPE, "s", chat("a", 1), None)
        assert await memory.sessions.find(SCOPE, ()) is None  # and so it is written
        StoreFolder(tmp_path).put_aside()
        assert not await memory.sessions.begin(SCOPE, "s")
        assert await memory.sessions.begin(SCOPE, "another")
        memory.sessions.settle(SCOPE, "another", chat("b", 1), None)
    async with remembering(tmp_path) as memory:
        assert await memory.sessions.find(SCOPE, path("b", 1)) == Known("another", 2)


async def test_who_has_the_damaged_file_open_does_not_touch_the_new_one(tmp_path: Path) -> None:
    async with remembering(tmp_path) as late:
        late.sessions.settle(SCOPE, "s", chat("a", 1), None)
        assert await late.sessions.find(SCOPE, ()) is None
        StoreFolder(tmp_path).put_aside()
        async with remembering(tmp_path) as next_one:
            next_one.sessions.settle(SCOPE, "t", chat("b", 1), None)
            assert await next_one.sessions.find(SCOPE, ()) is None
            late.sessions.settle(SCOPE, "u", chat("c", 1), None)
    async with remembering(tmp_path) as last:
        assert await last.sessions.find(SCOPE, path("b", 1)) == Known("t", 2)
        assert await last.sessions.find(SCOPE, path("c", 1)) == Known("u", 2)


def test_what_another_process_has_put_right_is_not_put_aside(tmp_path: Path) -> None:
    place = StoreFolder(tmp_path)
    store = Store(place)
    store.ask(lambda _: None)

    def find_damage(_: Database) -> None:
        place.put_aside()
        open_database(place).close()
        raise DamagedStore("as it was")

    with pytest.raises(DamagedStore):
        store.ask(find_damage)
    assert place.file.is_file()
    store.close()


async def test_a_newer_programs_store_is_left_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place = await _settled(tmp_path, "a")
    async with remembering(tmp_path) as before:
        before.sessions.settle(SCOPE, "b", chat("b", 1), None)
        assert await before.sessions.find(SCOPE, ()) is None
        execute(place, f"PRAGMA user_version = {VERSION + 1}")
        assert not await before.sessions.begin(SCOPE, "b"), "the newer one may have taken it"
        assert await before.sessions.begin(SCOPE, "c")
    async with remembering(tmp_path) as memory:
        assert await memory.sessions.find(SCOPE, path("a", 1)) is None
        assert await memory.sessions.begin(SCOPE, "d")
        memory.sessions.settle(SCOPE, "d", chat("d", 1), None)
    assert not place.aside.exists()
    assert f"version {VERSION + 1}" in caplog.text
    execute(place, f"PRAGMA user_version = {VERSION}")
    async with remembering(tmp_path) as memory:
        assert await memory.sessions.find(SCOPE, path("a", 1)) == Known("a", 2)
        assert await memory.sessions.find(SCOPE, path("d", 1)) is None


@pytest.mark.slow
async def test_a_locked_store_stops_nobody(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place = await _settled(tmp_path, "theirs")
    async with remembering(tmp_path) as memory:
        memory.sessions.settle(SCOPE, "s", chat("a", 1), None)
        assert await memory.sessions.find(SCOPE, ()) is None
        with locked(place):
            assert not await memory.sessions.begin(SCOPE, "s"), "its row is still there"
            assert await memory.sessions.begin(SCOPE, "fresh"), "it never had one"
            assert await memory.sessions.find(SCOPE, path("theirs", 1)) is None
            memory.sessions.settle(SCOPE, "fresh", chat("b", 1), None)
            assert await memory.sessions.begin(SCOPE, "fresh"), "nor was one written"
    assert len(_messages(caplog)) == 1
    async with remembering(tmp_path) as memory:
        assert await memory.sessions.find(SCOPE, path("theirs", 1)) == Known("theirs", 2)
        assert await memory.sessions.find(SCOPE, path("a", 1)) == Known("s", 2), "and it is true"
        assert await memory.sessions.find(SCOPE, path("b", 1)) is None


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
@pytest.mark.parametrize("what", ["a file", "read-only"])
async def test_a_folder_that_can_not_be_written_to_stops_nobody(
    tmp_path: Path, what: str, caplog: pytest.LogCaptureFixture
) -> None:
    state = tmp_path / "state"
    if what == "a file":
        state.touch()
    else:
        if os.geteuid() == 0:
            pytest.skip("root may write everywhere")
        state.mkdir(mode=0o500)
    async with remembering(state) as memory:
        assert await memory.sessions.find(SCOPE, path("a", 1)) is None
        assert await memory.sessions.begin(SCOPE, "s")
        memory.sessions.settle(SCOPE, "s", chat("a", 1), None)
        assert await memory.sessions.begin(SCOPE, "s")
        assert await memory.points.points(SCOPE, 1) == ()
    assert len(_messages(caplog)) == 1


def test_a_full_store_makes_room(tmp_path: Path) -> None:
    place = StoreFolder(tmp_path)
    store = Store(place, open=lambda place: open_database(place, most_bytes=256 * 1024))
    insert = (
        "INSERT INTO session (scope, handle, lookup, steps, marker, holder, settled_at) "
        "VALUES (x'00', ?, x'00', zeroblob(1000), NULL, x'00', 1800000000)"
    )
    full = 0
    for number in range(600):
        try:
            store.write(
                [lambda database, number=number: bool(database.change(insert, str(number)))]
            )
        except StoreError:
            full += 1
    assert 0 < full < 60, "each makes room for many"
    rows = store.ask(lambda database: database.rows("SELECT handle FROM session"))
    store.close()
    assert "599" in {handle for (handle,) in rows}
    assert place.file.stat().st_size <= 256 * 1024


def test_a_fault_of_ours_is_no_ones_problem(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = Store(StoreFolder(tmp_path), rest_seconds=0)

    def fail(_: Database) -> None:
        raise LookupError("oh")

    with pytest.raises(StoreError, match="oh"):
        store.ask(fail)
    assert "the store failed" in caplog.text
    assert store.ask(lambda database: database.rows("SELECT 1")) == [(1,)]
    store.close()


def test_after_trouble_it_is_left_alone_for_a_while(tmp_path: Path) -> None:
    opened = 0

    def fail(_: StoreFolder) -> Database:
        nonlocal opened
        opened += 1
        raise StoreError("no")

    store = Store(StoreFolder(tmp_path), open=fail)
    for _ in range(3):
        with pytest.raises(StoreError, match="no"):
            store.ask(lambda _: None)
    assert opened == 1


def test_what_is_too_old_goes_when_the_store_is_opened_and_now_and_then(tmp_path: Path) -> None:
    now = CLOCK
    store = Store(StoreFolder(tmp_path), lambda: now)
    assert not store.prune(), "nobody has opened it"
    insert = (
        "INSERT INTO session (scope, handle, lookup, steps, marker, holder, settled_at) "
        f"VALUES (x'00', ?, x'00', x'00', NULL, x'00', {int(CLOCK)})"
    )

    def write(name: str) -> None:
        store.write([lambda database: database.change(insert, name)])

    def count() -> int:
        ((rows,),) = store.ask(lambda database: database.rows("SELECT count(*) FROM session"))
        return rows

    write("first")
    assert not store.prune()
    now += 40 * 24 * 3600
    write("second")
    assert not store.prune()
    assert count() == 2, "it isn't due"
    for number in range(WRITES_BETWEEN_PRUNINGS):
        write(str(number))
    assert not store.prune()
    assert count() == 0
    store.close()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777])
async def test_only_its_owner_can_read_it(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        async with remembering(tmp_path) as memory:
            memory.sessions.settle(SCOPE, "s", chat("a", 1), None)
            assert await memory.sessions.find(SCOPE, ()) is None
            place = StoreFolder(tmp_path)
            modes = {
                one.name: stat.S_IMODE(one.stat().st_mode)
                for one in (place.folder, *place.folder.iterdir())
            }
    finally:
        os.umask(before)
    assert modes.pop("store") == 0o700
    assert len(modes) == 3
    assert set(modes.values()) == {0o600}


async def test_neither_what_was_said_nor_who_was_told_is_in_the_files(tmp_path: Path) -> None:
    words = ("hobbit", "palantir")
    async with remembering(tmp_path) as memory:
        memory.sessions.settle(SCOPE, "s", chat("hobbit", 3), "palantir")
        assert await memory.sessions.find(SCOPE, path("hobbit", 3)) is None
        files = [one.read_bytes() for one in StoreFolder(tmp_path).folder.iterdir()]
    assert connect(StoreFolder(tmp_path)).execute("SELECT count(*) FROM session").fetchone() == (1,)
    files += [one.read_bytes() for one in StoreFolder(tmp_path).folder.iterdir()]
    for word in words:
        for encoding in ("utf-8", "utf-16-le"):
            assert not any(word.encode(encoding) in content for content in files)


@pytest.mark.parametrize("jump", [-10 * 365 * 86400, 10 * 365 * 86400])
async def test_a_clock_that_jumps_makes_nothing_wrong(tmp_path: Path, jump: int) -> None:
    async with remembering(tmp_path) as memory:
        memory.sessions.settle(SCOPE, "old", chat("a", 1), None)
    async with remembering(tmp_path, now=lambda: CLOCK + jump) as memory:
        memory.sessions.settle(SCOPE, "new", chat("a", 1), None)
    async with remembering(tmp_path, now=lambda: CLOCK + jump) as memory:
        assert await memory.sessions.find(SCOPE, path("a", 1)) == Known("new", 2)
