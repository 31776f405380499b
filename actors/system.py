"""The system: one editor's port, its History Actor and the writer, from first byte to last."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from typing import TypeAlias

import trio

from agents.activities import Activities
from agents.boundary import contained
from bridge.models import Catalogue
from bridge.redact import Hide, redact_text

from .accounts import Accounts, NoAccounts
from .editor import EditorPort, run_editor
from .history import AgentFactory, Measure, run_history
from .inbox import Message
from .memory import NoMemory, SessionMemory
from .outbox import Outbox
from .trace import Trace

ModelLister: TypeAlias = Callable[[Catalogue, Callable[[Catalogue], None]], Awaitable[None]]
"""Finds models that a catalogue doesn't have yet, and hands over the next one each time."""

LEAVING_SECONDS = 10.0
"""How long ending may take: draining agents, and an editor that doesn't read its last lines."""
REST_SECONDS = 1.0
"""After how long without an open request the system is at rest."""


async def run_system(
    source: trio.abc.ReceiveStream,
    sink: trio.abc.SendStream,
    *,
    agent_for: AgentFactory,
    processes: Callable[[], int] = lambda: 0,
    measure: Measure | None = None,
    memory: SessionMemory | None = None,
    accounts: Accounts | None = None,
    catalogue: Catalogue,
    list_models: ModelLister | None = None,
    at_rest: Callable[[], None] | None = None,
    trace: Trace,
    hide: Hide = redact_text,
    activities: Activities | None = None,
    until: trio.CancelScope,
) -> None:
    """Serve an editor until its input ends, its output breaks or `until` is cancelled.

    `list_models` finds more models, and says so each time. `at_rest` is called once each time that
    no request was open for `REST_SECONDS`. `processes` counts the processes of the agents, and
    `measure` finds out what they hold, for who asks for statistics. `memory` knows the sessions
    that others had, `accounts` who logs in. `hide` takes secrets out of errors. `activities` are
    what the agents do that takes long.

    At the end every open request is settled, every session closed and every line written, within
    `LEAVING_SECONDS`.
    """
    outbox = Outbox()
    activities = activities or Activities()
    port = EditorPort(outbox, catalogue, trace, hide, activities)
    # size 0: what the History Actor hasn't heard yet, stops who would say more
    send_inbox, inbox = trio.open_memory_channel[Message](0)

    async def write() -> None:
        await outbox.run(sink)
        until.cancel()  # done, or nobody reads any more

    async def find_models() -> None:
        if list_models is not None:
            with listing, contained("models=listing"):
                await list_models(catalogue, port.change_catalogue)

    async def tell_rests() -> None:
        with resting:
            while at_rest is not None:
                await port.requests.rest(REST_SECONDS)
                at_rest()
                await port.requests.change()

    async def read() -> None:
        await run_editor(port, source, send_inbox, until)
        listing.cancel()
        resting.cancel()
        whole.deadline = trio.current_time() + LEAVING_SECONDS

    listing, resting = trio.CancelScope(), trio.CancelScope()
    with trio.CancelScope(deadline=math.inf) as whole, activities.told_to(port.tell_progress):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(write)
            nursery.start_soon(
                run_history,
                inbox,
                send_inbox.clone(),
                port,
                outbox,
                agent_for,
                processes,
                measure,
                memory or NoMemory(),
                accounts or NoAccounts(),
            )
            nursery.start_soon(read)
            nursery.start_soon(find_models)
            nursery.start_soon(tell_rests)
