"""Calls that may be another chat's: how long they wait, and what is learned later."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import attrs
import pytest
import trio
from trio.testing import MemoryReceiveStream, MemorySendStream, MockClock, wait_all_tasks_blocked

from agents.acp.calls.strays import MOST_PASSED, UNSURE_SECONDS, Strays
from agents.acp.options import Choices
from agents.acp.rpc.connection import Connection
from agents.acp.schema.content import TextContent, ToolCall
from agents.acp.session_channel import LATE_CALL_SECONDS, SessionChannel
from agents.mcp.session_tools import Toolbox
from agents.mcp.tools import ToolCatalogue
from bridge.wire import ToolSpec

JSON = dict[str, Any]


@attrs.define(eq=False)
class Two:
    """Two chats of a process, each with a turn that runs."""

    one: SessionChannel
    other: SessionChannel
    strays: Strays
    found: int = 0

    @property
    def box(self) -> Toolbox:
        assert self.one.tools is not None
        return self.one.tools

    async def call(self, **given: int) -> str | None:
        """Call a tool of the first one; return why it is refused."""
        arguments: JSON = dict(given)
        return await self.strays.refusal(self.box, "edit", arguments)

    def announce(self, channel: SessionChannel, **given: int) -> None:
        """Announce a call of the first one's tool."""
        title = f"{self.box.server}_edit"
        channel.hear(ToolCall(str(given), title, raw_input=dict(given)), 0)


def channel(connection: Connection, name: str, on_announced: Callable[[], None]) -> SessionChannel:
    tools = Toolbox(f"vsc{name}", ToolCatalogue.of((ToolSpec("edit"),), name), lambda: "c")
    made = SessionChannel(connection, name, Choices(), tools=tools, on_announced=on_announced)
    made.prompt((TextContent("go"),))
    return made


@contextmanager
def two() -> Generator[Two]:
    connection = Connection("fake", MemoryReceiveStream(), MemorySendStream())
    chats = [channel(connection, name, lambda: made.strays.heard()) for name in ("a", "b")]

    def find() -> None:
        made.found += 1

    made = Two(chats[0], chats[1], Strays(lambda: chats, find))
    yield made


@pytest.mark.limit("agents.acp.calls.strays.UNSURE_SECONDS")
async def test_a_call_that_nobody_announces_is_passed_on_after_a_moment(
    autojump_clock: MockClock,
) -> None:
    with two() as chats:
        began = trio.current_time()
        assert await chats.call(n=1) is None
        assert trio.current_time() == began + UNSURE_SECONDS
        assert chats.found == 0


async def test_an_unsure_call_is_refused_once_the_tools_are_known_to_be_mixed(
    autojump_clock: MockClock,
) -> None:
    with two() as chats:
        chats.strays.mix()
        assert chats.found == 1
        refused = await chats.call(n=1)
        assert refused is not None
        assert "another chat" in refused
        chats.announce(chats.one, n=2)
        assert await chats.call(n=2) is None, "that one is its own"


@pytest.mark.parametrize("is_own", [True, False])
async def test_an_announcement_ends_the_wait(autojump_clock: MockClock, is_own: bool) -> None:
    with two() as chats:
        told: list[str | None] = []

        async def call() -> None:
            told.append(await chats.call(n=1))

        began = trio.current_time()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(call)
            await wait_all_tasks_blocked()
            chats.announce(chats.one if is_own else chats.other, n=2)
            await wait_all_tasks_blocked()
            assert told == [], "that is another call"
            chats.announce(chats.one if is_own else chats.other, n=1)
        assert trio.current_time() == began
        assert [one is None for one in told] == [is_own]
        assert chats.found == (not is_own)


@pytest.mark.limit("agents.acp.calls.strays.MOST_PASSED")
async def test_a_call_that_is_announced_late_proves_it_for_the_next(
    autojump_clock: MockClock,
) -> None:
    with two() as chats:
        for number in range(MOST_PASSED + 1):
            assert await chats.call(n=number) is None
        chats.announce(chats.other, n=0)
        assert chats.found == 0, "it is forgotten"
        chats.announce(chats.one, n=1)
        assert chats.found == 0, "its own chat announced it"
        chats.announce(chats.other, n=2)
        assert chats.found == 1


@pytest.mark.limit("agents.acp.session_channel.LATE_CALL_SECONDS")
async def test_a_cancel_excuses_late_calls_for_a_while(autojump_clock: MockClock) -> None:
    with two() as chats:
        chats.one.cancel(trio.current_time())
        chats.one.is_prompted = False
        for seconds, found in ((LATE_CALL_SECONDS - 1, 0), (1, 1)):
            await trio.sleep(seconds)
            assert await chats.call(n=1) is not None
            assert chats.found == found
