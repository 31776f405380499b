from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager

import pytest
import trio
from trio.testing import lockstep_stream_one_way_pair, memory_stream_one_way_pair

from actors.outbox import HIGH_WATER, Outbox
from bridge.stdio import PipeSink
from tests.fakes.editor import quiet


async def test_lines_that_are_ready_go_out_in_order_and_in_one_write(
    nursery: trio.Nursery,
) -> None:
    sink, source = lockstep_stream_one_way_pair()
    outbox = Outbox()
    outbox.put(b"1\n")
    outbox.put(b"2\n3\n")
    nursery.start_soon(outbox.run, sink)
    with trio.fail_after(5):
        assert await source.receive_some() == b"1\n2\n3\n"
        outbox.put(b"4\n")
        assert await source.receive_some() == b"4\n"
    outbox.close()


async def test_closing_writes_what_is_there_and_drops_what_comes_later() -> None:
    sink, source = memory_stream_one_way_pair()
    outbox = Outbox()
    outbox.put(b"1\n")
    outbox.close()
    outbox.put(b"2\n")
    with trio.fail_after(5):
        await outbox.run(sink)
    with trio.fail_after(5):
        assert await source.receive_some() == b"1\n"


@pytest.mark.limit("actors.outbox.HIGH_WATER")
async def test_producers_wait_while_the_editor_does_not_read(nursery: trio.Nursery) -> None:
    sink, source = lockstep_stream_one_way_pair()
    outbox = Outbox()
    nursery.start_soon(outbox.run, sink)
    outbox.put(b"x" * HIGH_WATER)
    waited: list[int] = []

    async def produce(number: int) -> None:
        await outbox.room()
        waited.append(number)

    nursery.start_soon(produce, 1)
    nursery.start_soon(produce, 2)
    await quiet()
    assert waited == []
    with trio.fail_after(5):
        await source.receive_some()
        await quiet()
    assert sorted(waited) == [1, 2]
    outbox.close()


async def test_what_was_put_during_a_write_counts_when_the_write_is_done(
    nursery: trio.Nursery,
) -> None:
    sink, source = lockstep_stream_one_way_pair()
    outbox = Outbox()
    nursery.start_soon(outbox.run, sink)
    outbox.put(b"1\n")
    await quiet()
    outbox.put(b"x" * HIGH_WATER)
    with trio.fail_after(5):
        assert await source.receive_some() == b"1\n"
    await quiet()
    with trio.move_on_after(0) as scope:
        await outbox.room()
    assert scope.cancelled_caught
    with trio.fail_after(5):
        await source.receive_some()
        await outbox.room()
    outbox.close()


async def test_who_has_a_higher_mark_goes_on_longer() -> None:
    outbox = Outbox()
    outbox.put(b"x" * HIGH_WATER)
    with trio.fail_after(5):
        await outbox.room(HIGH_WATER + 1)


async def test_producers_go_on_when_nobody_reads_any_more(nursery: trio.Nursery) -> None:
    sink, source = lockstep_stream_one_way_pair()
    outbox = Outbox()
    nursery.start_soon(outbox.run, sink)
    outbox.put(b"x" * HIGH_WATER)
    await quiet()
    await source.aclose()
    with trio.fail_after(5):
        await outbox.room()
    outbox.put(b"x" * HIGH_WATER)
    with trio.fail_after(5):
        await outbox.room()


async def test_producers_go_on_when_the_writer_is_cancelled(nursery: trio.Nursery) -> None:
    sink, _source = lockstep_stream_one_way_pair()
    outbox = Outbox()
    outbox.put(b"x" * HIGH_WATER)
    with trio.move_on_after(0):
        await outbox.run(sink)
    with trio.fail_after(5):
        await outbox.room()


# Flushing.


@contextmanager
def piped() -> Generator[tuple[PipeSink, int]]:
    """A pipe: what to write to, and what to read from."""
    source, sink = os.pipe()
    os.set_blocking(source, False)
    try:
        yield PipeSink(sink), source
    finally:
        os.close(source)


async def test_what_is_flushed_is_there_at_once_with_what_waited_and_only_once(
    nursery: trio.Nursery,
) -> None:
    outbox = Outbox()
    with piped() as (sink, source):
        async with sink:
            nursery.start_soon(outbox.run, sink)
            await quiet()
            outbox.put(b"1\n")
            outbox.put(b"2\n")
            outbox.flush()
            assert os.read(source, 100) == b"1\n2\n"
            await quiet()
            outbox.flush()
            outbox.put(b"3\n")
            await quiet()
            assert os.read(source, 100) == b"3\n"
            outbox.close()
            await quiet()


async def test_what_is_flushed_waits_for_what_is_being_written(nursery: trio.Nursery) -> None:
    """And producers go on when the reader has made room."""
    outbox = Outbox()
    with piped() as (sink, source):
        async with sink:
            nursery.start_soon(outbox.run, sink)
            await quiet()
            outbox.put(b"x" * 3_000_000)
            outbox.flush()  # more than a pipe takes
            outbox.put(b"y")
            outbox.flush()
            await quiet()
            heard = os.read(source, 1_000_000)
            outbox.put(b"z")
            outbox.flush()  # there is room now, but not before the rest of the first one
            with trio.fail_after(5):
                while not heard.endswith(b"z"):
                    await trio.lowlevel.wait_readable(source)
                    heard += os.read(source, 1_000_000)
                await outbox.room()
            assert heard == b"x" * 3_000_000 + b"yz"
            outbox.close()
            await quiet()


async def test_producers_go_on_when_a_flush_has_made_room(nursery: trio.Nursery) -> None:
    outbox = Outbox()

    async def flush() -> None:
        outbox.flush()

    with piped() as (sink, _):
        async with sink:
            nursery.start_soon(outbox.run, sink)
            for _ in range(50):  # trio has them in any order, the writer too
                await quiet()
                outbox.put(b"1\n")
                with trio.fail_after(5):
                    async with trio.open_nursery() as both:
                        both.start_soon(outbox.room, 2)
                        both.start_soon(flush)
            outbox.close()
            await quiet()


async def test_flushing_to_who_does_not_read_any_more_is_no_fault(nursery: trio.Nursery) -> None:
    outbox = Outbox()
    with piped() as (sink, _):
        nursery.start_soon(outbox.run, sink)
        await quiet()
    outbox.put(b"1\n")
    outbox.flush()
    with trio.fail_after(5):
        await outbox.room(1)
    await sink.aclose()


async def test_without_a_pipe_the_writer_writes(nursery: trio.Nursery) -> None:
    sink, source = lockstep_stream_one_way_pair()
    outbox = Outbox()
    nursery.start_soon(outbox.run, sink)
    await quiet()
    outbox.put(b"1\n")
    outbox.flush()
    with trio.fail_after(5):
        assert await source.receive_some() == b"1\n"
    outbox.close()
