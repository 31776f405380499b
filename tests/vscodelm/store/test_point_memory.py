from __future__ import annotations

from pathlib import Path

import pytest

from agents.open_responses.checkpoints import Point
from vscodelm.store.folder import StoreFolder

from .chats import CLOCK, SCOPE, remembering
from .damages import execute, locked


def point(name: str, **calls: str) -> Point:
    return Point(f"resp_{name}", f"setup {name}".encode(), calls)


async def test_a_response_is_known_to_later_processes_under_its_endpoint_alone(
    tmp_path: Path,
) -> None:
    async with remembering(tmp_path) as memory:
        memory.points.keep(SCOPE, b"1", point("a"))
        memory.points.keep(SCOPE, b"2", point("b", ours="theirs"))
        memory.points.keep(b"another", b"1", point("c"))
    async with remembering(tmp_path) as one, remembering(tmp_path) as other:
        for memory in (one, other):
            assert await memory.points.points(SCOPE, 10) == [
                (b"1", point("a")),
                (b"2", point("b", ours="theirs")),
            ]


async def test_the_newest_are_told_and_what_is_kept_again_is_new(tmp_path: Path) -> None:
    async with remembering(tmp_path) as memory:
        for name in "abc":
            memory.points.keep(SCOPE, name.encode(), point(name))
        assert len(await memory.points.points(SCOPE, 10)) == 3
        memory.points.keep(SCOPE, b"a", point("z"))
        assert await memory.points.points(SCOPE, 2) == [(b"c", point("c")), (b"a", point("z"))]


async def test_what_the_server_lost_is_forgotten_in_the_order_of_events(tmp_path: Path) -> None:
    async with remembering(tmp_path) as memory:
        memory.points.keep(SCOPE, b"1", point("a"))
        memory.points.forget(SCOPE, [b"1", b"nothing"])
        memory.points.keep(SCOPE, b"2", point("b"))
        assert await memory.points.points(SCOPE, 10) == [(b"2", point("b"))]
        memory.points.forget(SCOPE, [b"2"])
        memory.points.keep(SCOPE, b"2", point("c"))
        assert await memory.points.points(SCOPE, 10) == [(b"2", point("c"))]


@pytest.mark.parametrize("wrong", ["calls = x'ff'", "response_id = x'00'", "setup = 7"])
async def test_a_row_that_makes_no_sense_is_passed_over(tmp_path: Path, wrong: str) -> None:
    async with remembering(tmp_path) as memory:
        memory.points.keep(SCOPE, b"1", point("a"))
        memory.points.keep(SCOPE, b"2", point("b"))
    execute(StoreFolder(tmp_path), f"UPDATE point SET {wrong} WHERE digest = x'31'")
    async with remembering(tmp_path) as memory:
        assert await memory.points.points(SCOPE, 10) == [(b"2", point("b"))]


@pytest.mark.slow
async def test_a_locked_store_keeps_nothing_and_hinders_nobody(tmp_path: Path) -> None:
    async with remembering(tmp_path, now=lambda: CLOCK) as memory:
        assert await memory.points.points(SCOPE, 10) == []
        with locked(StoreFolder(tmp_path)):
            memory.points.keep(SCOPE, b"1", point("a"))
            assert await memory.points.points(SCOPE, 10) == ()
