from __future__ import annotations

import pytest
import trio

from actors.mailbox import Mailbox
from actors.plan import Delivery
from tests.actors.scenes import delivery
from tests.fakes.editor import quiet


async def test_a_delivery_that_was_not_taken_gives_way_to_a_newer_one() -> None:
    mailbox = Mailbox()
    mailbox.deliver(delivery(1))
    mailbox.deliver(delivery(2))
    with trio.fail_after(5):
        received = await mailbox.receive()
    assert received is not None
    assert received.turn == 2


async def test_an_aborted_delivery_is_never_received(nursery: trio.Nursery) -> None:
    mailbox = Mailbox()
    mailbox.deliver(delivery(1))
    mailbox.abort(1)
    received: list[Delivery | None] = []

    async def receive() -> None:
        received.append(await mailbox.receive())

    nursery.start_soon(receive)
    await quiet()
    assert received == []
    mailbox.deliver(delivery(2))
    await quiet()
    assert [one and one.turn for one in received] == [2]


@pytest.mark.parametrize("waits", [False, True])
async def test_a_closed_handle_has_nothing_more(nursery: trio.Nursery, waits: bool) -> None:
    mailbox = Mailbox()
    received: list[Delivery | None] = []

    async def receive() -> None:
        received.append(await mailbox.receive())

    if waits:
        nursery.start_soon(receive)
        await quiet()
    mailbox.close()
    mailbox.deliver(delivery(1))
    if not waits:
        nursery.start_soon(receive)
    await quiet()
    assert received == [None]


async def test_the_scope_of_an_aborted_turn_is_cancelled_whether_it_began_before_or_after() -> None:
    mailbox = Mailbox()
    before = mailbox.abortable(1)
    mailbox.abort(1)
    assert before.cancel_called
    assert mailbox.abortable(1).cancel_called
    assert not mailbox.abortable(2).cancel_called
