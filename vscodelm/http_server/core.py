"""The core behind the server: the History Actor with every chat, and the answers that it gives."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

import trio

from actors.history import AgentFactory
from actors.history_task import open_inbox, start_history
from actors.inspection.statistics import AgentCounts
from actors.memory import SessionMemory
from actors.outbox import Outbox
from actors.trace import Trace
from bridge.models import Catalogue
from bridge.redact import Hide, redact_text
from bridge.routing.chat_events import Leaving
from bridge.wire import Permissions

from .answering import Answering
from .port import HttpPort
from .records import ResponseRecords

LEAVING_SECONDS = 10.0
"""Seconds for the shutdown of the agents."""


@asynccontextmanager
async def open_answering(
    agent_for: AgentFactory,
    records: ResponseRecords,
    catalogue: Catalogue,
    *,
    key: bytes,
    permissions: Permissions = "read_only",
    memory: SessionMemory | None = None,
    counts: AgentCounts | None = None,
    trace: Trace | None = None,
    hide: Hide = redact_text,
) -> AsyncGenerator[Answering]:
    """Run the core until the exit, which ends every session within `LEAVING_SECONDS`."""
    inbox = send_inbox, _ = open_inbox()
    port = HttpPort(send_inbox, trace or Trace(), hide)
    with trio.CancelScope() as whole:
        async with trio.open_nursery() as nursery:
            start_history(nursery, inbox, port, Outbox(), agent_for, counts=counts, memory=memory)
            try:
                yield Answering(port, records, catalogue, permissions, key)
            finally:
                whole.deadline = trio.current_time() + LEAVING_SECONDS
                with (
                    trio.move_on_after(LEAVING_SECONDS, shield=True),
                    suppress(trio.BrokenResourceError),  # it has failed, and that is raised
                ):
                    async with send_inbox:
                        await send_inbox.send(Leaving())
