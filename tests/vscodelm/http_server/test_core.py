from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from actors import history_task
from agents.eliza.agent import ElizaAgent
from bridge.models import Catalogue
from bridge.wire import ElizaSpec
from vscodelm.http_server.core import LEAVING_SECONDS, open_answering
from vscodelm.http_server.records import open_records


async def _leave(folder: Path) -> None:
    """Open the core, and leave it at once."""
    records = open_records(folder)
    agent = ElizaAgent(ElizaSpec(), new_call_id=lambda: "call")
    try:
        async with open_answering(lambda _: agent, records, Catalogue(), key=b"key"):
            pass
    finally:
        records.close()


async def test_a_core_without_a_request_is_left_at_once(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    with trio.fail_after(LEAVING_SECONDS - 1):
        await _leave(tmp_path)


async def test_a_core_that_is_stuck_is_not_waited_for_long(
    tmp_path: Path, autojump_clock: trio.testing.MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def deaf(*_: Any) -> None:
        await trio.sleep_forever()

    monkeypatch.setattr(history_task, "run_history", deaf)
    with trio.fail_after(LEAVING_SECONDS + 1):
        await _leave(tmp_path)


async def test_the_failure_of_a_core_is_raised_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def failing(inbox: trio.MemoryReceiveChannel[Any], *_: Any) -> None:
        inbox.close()
        raise ValueError("it broke")

    monkeypatch.setattr(history_task, "run_history", failing)
    with trio.fail_after(5), pytest.RaisesGroup(pytest.RaisesExc(ValueError, match="it broke")):
        await _leave(tmp_path)
