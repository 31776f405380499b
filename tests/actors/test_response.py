"""What a response tells the History Actor, and in how many messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import pytest
import trio
from msgspec.structs import replace

from actors.continuity.events import TurnFailed, TurnPaused, TurnStopped
from actors.messages import Ended, FromSession, Said
from actors.outbox import HIGH_WATER, Outbox
from actors.response import Response, TurnEnd
from agents.events import Await, Batch, Break, CallTool, Say, Stop, StopReason
from bridge.errors import Failure
from bridge.wire import (
    DataPart,
    OwnTextPart,
    TextPart,
    ToolCallPart,
    ToolSpec,
)
from tests.actors.scenes import delivery

CALL = CallTool("c1", "read_file", {})
CALL_PART = ToolCallPart("c1", "read_file", {})
STOP = Stop(StopReason.END_TURN)
GONE = Failure("AgentFailed", "The agent is gone.")


@attrs.define(eq=False)
class Heard:
    """A response, and what was heard of it."""

    response: Response
    outbox: Outbox
    _inbox: trio.MemoryReceiveChannel[FromSession]

    async def pass_on(self, *batches: Batch) -> TurnEnd:
        send, turn = trio.open_memory_channel[Batch](len(batches))
        for batch in batches:
            send.send_nowait(batch)
        with trio.fail_after(5):
            return await self.response.pass_on(turn)

    def messages(self) -> list[tuple[type[FromSession], Sequence[Any]]]:
        """Return what has come since, and its parts."""
        found: list[tuple[type[FromSession], Sequence[Any]]] = []
        while self._inbox.statistics().current_buffer_used:
            one = self._inbox.receive_nowait()
            assert isinstance(one, Said | Ended)
            found.append((type(one), list(one.parts)))
        return found


class Deaf:
    """A session that isn't answered here."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(name)


def heard(marker: bytes | None = None) -> Heard:
    made = replace(delivery(1), tools=(ToolSpec("read_file"),), marker=marker)
    send, inbox = trio.open_memory_channel[FromSession](10)
    outbox, session = Outbox(), Deaf()
    return Heard(Response(1, made, session, [], send, outbox), outbox, inbox)  # pyright: ignore[reportArgumentType]  # what it doesn't use isn't there


async def test_what_an_agent_waits_for_comes_with_the_end_of_the_response() -> None:
    one = heard()
    assert await one.pass_on((Say("Let me see."),), (CALL, Await())) == TurnPaused()
    await one.response.end()
    assert one.messages() == [(Said, [TextPart("Let me see.")]), (Ended, [CALL_PART])]


async def test_a_mark_is_the_very_last_part() -> None:
    one = heard(b"mark")
    assert await one.pass_on((Say("Done."), STOP)) == TurnStopped()
    await one.response.end()
    mark = DataPart("stateful_marker", b"mark")
    assert one.messages() == [(Ended, [TextPart("Done."), mark])]


async def test_what_one_turn_said_last_is_said_before_the_next_begins() -> None:
    one = heard()
    await one.pass_on((Say("One."), STOP))
    assert one.messages() == []
    await one.pass_on((Say("Two."), STOP))
    await one.response.end()
    assert one.messages() == [(Said, [TextPart("One.")]), (Ended, [TextPart("Two.")])]


@pytest.mark.parametrize("reason", [StopReason.END_TURN, StopReason.CANCELLED])
async def test_a_turn_without_a_word_is_not_spoken_of_where_another_answers(
    reason: StopReason,
) -> None:
    """The user said more while tools ran, and the agent said nothing to their results."""
    one = heard()
    await one.pass_on((Stop(reason),))
    await one.pass_on((Say("Two."), STOP))
    await one.response.end()
    assert one.messages() == [(Ended, [TextPart("Two.")])]


async def test_that_neither_turn_said_a_word_is_said_once() -> None:
    one = heard()
    await one.pass_on((STOP,))
    await one.pass_on((STOP,))
    await one.response.end()
    notice = OwnTextPart("*The agent ended its turn without an answer.*")
    assert one.messages() == [(Ended, [notice])]


async def test_that_a_turn_stopped_early_is_said_before_the_next_begins() -> None:
    one = heard()
    await one.pass_on((Say("One."), Stop(StopReason.MAX_TOKENS)))
    await one.pass_on((CALL, Await()))
    await one.response.end()
    notice = OwnTextPart("\n\n*The agent stopped: it reached its token limit.*")
    assert one.messages() == [(Said, [TextPart("One."), notice]), (Ended, [CALL_PART])]


async def test_what_was_said_before_a_failure_is_said() -> None:
    one = heard()
    assert await one.pass_on((Say("One."), Break(GONE))) == TurnFailed(GONE)
    assert one.messages() == [(Said, [TextPart("One.")])]


async def test_an_editor_that_does_not_read_holds_up_the_end_of_a_response(
    autojump_clock: object,
) -> None:
    one = heard()
    await one.pass_on((Say("One."), STOP))
    one.outbox.put(b"x" * HIGH_WATER)
    with trio.move_on_after(1) as scope:
        await one.response.end()
    assert scope.cancelled_caught
    assert one.messages() == []


async def test_an_end_without_a_word_waits_for_no_reader() -> None:
    one = heard()
    await one.pass_on((Say("One."), STOP))
    await one.pass_on((STOP,))
    one.outbox.put(b"x" * HIGH_WATER)
    with trio.fail_after(5):
        await one.response.end()
    assert one.messages() == [(Said, [TextPart("One.")]), (Ended, [])]
