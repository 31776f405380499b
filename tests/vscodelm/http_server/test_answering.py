"""Answers while the core behind them is stuck: it takes one message and tells nothing."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio
import trio.testing
from msgspec import Raw

from actors.messages import FromEditor
from actors.trace import Trace
from bridge.models import Catalogue
from tests.fakes.http_face import PATIENCE
from vscodelm.http_server.answering import (
    END_SECONDS,
    FAREWELL_SECONDS,
    HOLD_SECONDS,
    KEEPALIVE_SECONDS,
    Answering,
    OpenAnswer,
)
from vscodelm.http_server.api_error import ApiError
from vscodelm.http_server.body import ResponseBody
from vscodelm.http_server.items import MOST_ITEMS
from vscodelm.http_server.port import HttpPort
from vscodelm.http_server.records import open_records


@asynccontextmanager
async def asked(folder: Path) -> AsyncGenerator[tuple[Answering, OpenAnswer]]:
    """Ask the stuck core."""
    inbox, messages = trio.open_memory_channel[FromEditor](1)
    records = open_records(folder)
    answering = Answering(HttpPort(inbox, Trace()), records, Catalogue(), "read_only", b"key")
    body = ResponseBody(model="eliza", input="Hello!", stream=True)
    try:
        async with inbox, messages:
            query = await answering.query(body)
            with trio.fail_after(HOLD_SECONDS + 1):
                answer = await answering.begin(query, answering.writer(body, query))
            yield answering, answer
    finally:
        records.close()


@pytest.mark.limit("vscodelm.http_server.answering.HOLD_SECONDS")
async def test_a_stream_waits_a_moment_for_an_early_failure(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    began = trio.current_time()
    async with asked(tmp_path) as (_, answer):
        assert trio.current_time() - began == pytest.approx(HOLD_SECONDS)
        assert not answer.reply.is_settled


@pytest.mark.limit(
    "vscodelm.http_server.answering.KEEPALIVE_SECONDS",
    "vscodelm.http_server.answering.END_SECONDS",
)
async def test_a_silent_stream_shows_that_it_is_there_and_its_end_is_not_waited_for_long(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    sent: list[bytes] = []

    async def send(lines: bytes) -> None:
        sent.append(lines)

    async with asked(tmp_path) as (answering, answer):
        began = trio.current_time()
        listens = 2.5 * KEEPALIVE_SECONDS
        with trio.fail_after(listens + END_SECONDS + 1), trio.move_on_after(listens):
            await answering.pump(answer, send)
        assert trio.current_time() - began == pytest.approx(listens + END_SECONDS)
        with pytest.raises(ApiError, match="not found"):
            await answering.resource(answer.query.id)
    first, *rest = sent
    assert first.startswith(b"event: response.created\n")
    assert rest == [b": keepalive\n\n"] * 2


async def test_a_request_that_is_never_heard_leaves_nothing_open(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    async with asked(tmp_path) as (answering, _):
        body = ResponseBody(model="eliza", input="Hello?")
        query = await answering.query(body)
        with trio.move_on_after(0.5):
            await answering.begin(query, answering.writer(body, query))
        assert len(answering.port.replies) == 1


async def test_a_cancel_by_its_id_does_not_wait_long_for_a_core_that_is_stuck(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    async with asked(tmp_path) as (answering, answer):
        with trio.fail_after(END_SECONDS + 1):
            found = await answering.cancel(answer.query.id)
    assert b'"status":"in_progress"' in found


async def test_a_client_that_leaves_a_core_that_is_stuck_frees_its_place_and_its_branch(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    async def send(_lines: bytes) -> None:
        raise trio.BrokenResourceError

    async with asked(tmp_path) as (answering, answer):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(answering.cancel, answer.query.id)  # it waits, too
            await trio.testing.wait_all_tasks_blocked()
            with trio.fail_after(END_SECONDS + 1), pytest.raises(trio.BrokenResourceError):
                await answering.pump(answer, send)
        assert answer.is_over.is_set()


async def test_a_shutdown_does_not_wait_long_for_a_core_that_is_stuck(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    async with asked(tmp_path) as (answering, _):
        with trio.fail_after(FAREWELL_SECONDS + 1), answering.place():
            await answering.leave()
        assert trio.current_time() >= FAREWELL_SECONDS


async def test_others_have_their_turn_while_a_long_input_is_read(tmp_path: Path) -> None:
    call = b'{"type": "function_call", "call_id": "c1", "name": "n", "arguments": "{}"}'
    async with asked(tmp_path) as (answering, _), trio.open_nursery() as nursery:
        turns = 0

        async def count_turns() -> None:
            nonlocal turns
            while True:
                await trio.lowlevel.checkpoint()
                turns += 1

        nursery.start_soon(count_turns)
        with trio.fail_after(PATIENCE):
            (message,) = await answering.messages([Raw(call)] * MOST_ITEMS)
        nursery.cancel_scope.cancel()
    assert len(message.content) == MOST_ITEMS
    assert turns > 3
