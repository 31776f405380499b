"""What every memory of sessions does: the fake that the actors are tested with, too."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from itertools import count
from pathlib import Path
from typing import TypeAlias

import pytest
import trio

from actors.memory import Known, SessionMemory
from bridge.history.exchange import Ending, Exchange
from bridge.history.message import Message
from tests.fakes.session_memory import Shelf, ShelfMemory
from tests.fakes.waiting import PATIENCE
from tests.strategies import assistant, user
from vscodelm.store.opening import start_memories

Process: TypeAlias = Callable[[], AbstractAsyncContextManager[SessionMemory]]
"""Another process that has the same store; leaving the block, it ends with all written."""

SCOPE, OTHER_SCOPE = b"an agent in a folder", b"another agent"


def shelf_processes(folder: Path) -> Process:
    """The fake. Others take a folder of their own for what they share."""
    shelf = Shelf()

    @asynccontextmanager
    async def process() -> AsyncGenerator[SessionMemory, None]:
        yield ShelfMemory(shelf)

    return process


def store_processes(folder: Path) -> Process:
    """The real one."""

    @asynccontextmanager
    async def process() -> AsyncGenerator[SessionMemory, None]:
        async with trio.open_nursery() as nursery:
            memories = start_memories(folder, nursery, patience=PATIENCE)
            try:
                yield memories.sessions
            finally:
                memories.leave()

    return process


KINDS = {"fake": shelf_processes, "store": store_processes}


@pytest.fixture(params=list(KINDS))
def process(request: pytest.FixtureRequest, tmp_path: Path) -> Process:
    return KINDS[request.param](tmp_path)


def turns(*names: str) -> list[Exchange]:
    return [Exchange((user(f"q{n}"),), assistant(f"a{n}"), Ending.COMPLETE) for n in names]


def path_of(record: Sequence[Exchange]) -> list[Message]:
    return [m for one in record for m in (*one.asked, one.answer) if m is not None]


_numbers = count()
ONE, TWO, THREE = turns("1"), turns("1", "2"), turns("1", "2", "3")
PATH_ONE, PATH_TWO, PATH_THREE = path_of(ONE), path_of(TWO), path_of(THREE)


async def settled(
    memory: SessionMemory, handle: str, record: Sequence[Exchange], scope: bytes = SCOPE
) -> None:
    """Have a turn that ends with all of `record` known, and written."""
    assert await memory.begin(scope, handle)
    memory.settle(scope, handle, record, None)
    assert await memory.begin(scope, f"what comes later is written later {next(_numbers)}")


async def settled_by_another(process: Process, handle: str, record: Sequence[Exchange]) -> None:
    """Have such a turn in a process that is killed then."""
    async with process() as memory:
        await settled(memory, handle, record)


# Found.


async def test_what_was_settled_is_found_when_its_process_has_ended(process: Process) -> None:
    with trio.fail_after(PATIENCE):
        async with process() as memory:
            await settled(memory, "s", TWO)
            memory.release(SCOPE, "s")
        async with process() as memory:
            assert await memory.find(SCOPE, PATH_TWO) == Known("s", 4)


async def test_it_is_found_though_its_process_was_killed(process: Process) -> None:
    with trio.fail_after(PATIENCE):
        await settled_by_another(process, "s", TWO)
        async with process() as memory:
            assert await memory.find(SCOPE, PATH_TWO) == Known("s", 4)


async def test_a_chat_that_was_led_on_elsewhere_finds_what_knows_its_beginning(
    process: Process,
) -> None:
    with trio.fail_after(PATIENCE):
        await settled_by_another(process, "s", ONE)
        async with process() as memory:
            assert await memory.find(SCOPE, PATH_THREE) == Known("s", 2)


async def test_of_several_the_one_that_knows_the_most_is_found(process: Process) -> None:
    with trio.fail_after(PATIENCE):
        async with process() as memory:
            await settled(memory, "long", TWO)
            await settled(memory, "short", ONE)
        async with process() as memory:
            assert await memory.find(SCOPE, PATH_THREE) == Known("long", 4)
            assert await memory.find(SCOPE, PATH_THREE) == Known("short", 2)
            assert await memory.find(SCOPE, PATH_THREE) is None


async def test_what_is_closed_is_found_by_the_same_process(process: Process) -> None:
    with trio.fail_after(PATIENCE):
        async with process() as memory:
            await settled(memory, "s", TWO)
            assert await memory.find(SCOPE, PATH_TWO) is None
            memory.release(SCOPE, "s")
            assert await memory.find(SCOPE, PATH_TWO) == Known("s", 4)
            assert await memory.begin(SCOPE, "s")


async def test_what_was_found_and_given_back_untouched_is_found_again(process: Process) -> None:
    with trio.fail_after(PATIENCE):
        await settled_by_another(process, "s", TWO)
        async with process() as memory:
            for _ in range(2):
                assert await memory.find(SCOPE, PATH_TWO) == Known("s", 4)
                memory.release(SCOPE, "s")


# Not found.


async def test_nothing_is_found_that_nobody_said(process: Process) -> None:
    with trio.fail_after(PATIENCE):
        await settled_by_another(process, "s", TWO)
        async with process() as memory:
            assert await memory.find(OTHER_SCOPE, PATH_TWO) is None
            assert await memory.find(SCOPE, []) is None
            assert await memory.find(SCOPE, PATH_ONE) is None
            assert await memory.find(SCOPE, path_of(turns("1", "3"))) is None


async def test_equal_handles_of_two_agents_are_two_sessions(process: Process) -> None:
    with trio.fail_after(PATIENCE):
        async with process() as memory:
            await settled(memory, "s", ONE)
            await settled(memory, "s", TWO, OTHER_SCOPE)
        async with process() as memory:
            assert await memory.find(SCOPE, PATH_TWO) == Known("s", 2)
            assert await memory.find(OTHER_SCOPE, PATH_TWO) == Known("s", 4)


async def test_a_session_that_moved_on_is_not_found_where_it_was(process: Process) -> None:
    with trio.fail_after(PATIENCE):
        async with process() as memory:
            await settled(memory, "s", ONE)
            await settled(memory, "s", TWO)
        async with process() as memory:
            assert await memory.find(SCOPE, PATH_ONE) is None
            assert await memory.find(SCOPE, path_of(turns("1", "3"))) is None
            assert await memory.find(SCOPE, PATH_TWO) == Known("s", 4)


@pytest.mark.parametrize("released", [True, False])
async def test_a_session_whose_turn_did_not_settle_is_never_found(
    process: Process, released: bool
) -> None:
    with trio.fail_after(PATIENCE):
        async with process() as memory:
            await settled(memory, "s", ONE)
            assert await memory.begin(SCOPE, "s")
            if released:
                memory.release(SCOPE, "s")
            assert await memory.find(SCOPE, PATH_ONE) is None
        async with process() as memory:
            assert await memory.find(SCOPE, PATH_ONE) is None


async def test_a_record_that_proves_nothing_is_not_found(process: Process) -> None:
    cut = [*ONE, Exchange((user("q2"),), assistant("a"), Ending.CANCELLED)]
    with trio.fail_after(PATIENCE):
        async with process() as memory:
            await settled(memory, "s", ONE)
            await settled(memory, "s", cut)
        async with process() as memory:
            assert await memory.find(SCOPE, path_of(cut)) is None
            assert await memory.find(SCOPE, PATH_TWO) is None


async def test_a_record_without_a_word_is_not_found_and_its_session_goes_on(
    process: Process,
) -> None:
    with trio.fail_after(PATIENCE):
        async with process() as memory:
            memory.settle(SCOPE, "s", (), None)
            assert await memory.find(SCOPE, PATH_ONE) is None
            assert await memory.begin(SCOPE, "s")


async def test_a_session_that_was_found_and_used_is_not_given_back(process: Process) -> None:
    with trio.fail_after(PATIENCE):
        await settled_by_another(process, "s", ONE)
        async with process() as memory:
            assert await memory.find(SCOPE, PATH_ONE) == Known("s", 2)
            assert await memory.begin(SCOPE, "s")
            memory.release(SCOPE, "s")
            assert await memory.find(SCOPE, PATH_ONE) is None


async def test_what_somebody_found_nobody_else_finds(process: Process) -> None:
    with trio.fail_after(PATIENCE):
        await settled_by_another(process, "s", TWO)
        async with process() as one, process() as two:
            assert await one.find(SCOPE, PATH_TWO) == Known("s", 4)
            assert await one.find(SCOPE, PATH_TWO) is None
            assert await two.find(SCOPE, PATH_TWO) is None
            assert await one.begin(SCOPE, "s")
            assert await two.find(SCOPE, PATH_TWO) is None


# Two processes.


async def test_a_session_that_rests_may_be_taken_and_who_had_it_learns_of_it(
    process: Process,
) -> None:
    with trio.fail_after(PATIENCE):
        async with process() as one, process() as two:
            await settled(one, "s", ONE)
            assert await two.find(SCOPE, PATH_ONE) == Known("s", 2)
            assert not await one.begin(SCOPE, "s")
            assert await two.begin(SCOPE, "s")


async def test_only_the_process_that_has_a_session_at_rest_has_it(process: Process) -> None:
    with trio.fail_after(PATIENCE):
        async with process() as one, process() as two:
            assert await one.has(SCOPE, "s"), "no other process has heard of it"
            await settled(one, "s", ONE)
            assert await one.has(SCOPE, "s")
            assert await two.find(SCOPE, PATH_ONE) == Known("s", 2)
            assert not await one.has(SCOPE, "s")
            await settled(two, "s", TWO)
            assert not await one.has(SCOPE, "s")
            assert await two.has(SCOPE, "s")


async def test_who_lost_a_session_says_nothing_about_it_any_more(process: Process) -> None:
    with trio.fail_after(PATIENCE):
        async with process() as one, process() as two:
            await settled(one, "s", ONE)
            assert await two.find(SCOPE, PATH_ONE) == Known("s", 2)
            assert await two.begin(SCOPE, "s")
            one.settle(SCOPE, "s", ONE, None)
            one.release(SCOPE, "s")
            assert await one.find(SCOPE, PATH_ONE) is None
            await settled(two, "s", TWO)
            two.release(SCOPE, "s")
            assert not await one.begin(SCOPE, "s")
            assert await one.find(SCOPE, PATH_TWO) == Known("s", 4)
            assert await one.begin(SCOPE, "s")


# Ends.


async def test_nothing_is_wrong_with_a_session_that_nobody_knows(process: Process) -> None:
    with trio.fail_after(PATIENCE):
        async with process() as memory:
            memory.release(SCOPE, "nobody")
            assert await memory.begin(SCOPE, "new")
            assert await memory.begin(SCOPE, "new")
