"""The system: one editor's port, its History Actor and the writer, from first byte to last."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

import trio

from agents.activities import Activities
from agents.boundary import contained
from agents.offered import Offered
from agents.workspace import Workspace
from bridge.models import Catalogue
from bridge.redact import Hide, redact_text

from .editor import EditorPort, run_editor
from .history import AgentFactory
from .history_task import open_inbox, start_history
from .inspection.statistics import AgentCounts
from .memory import SessionMemory
from .open_requests import OpenRequests
from .outbox import Outbox
from .requests import Accounts
from .trace import Trace, learn_nothing

ModelLister: TypeAlias = Callable[[Catalogue, Callable[[Catalogue], None]], Awaitable[None]]
"""Finds models that a catalogue doesn't have yet, and hands over the next one each time."""

LEAVING_SECONDS = 10.0
"""Seconds for the shutdown: draining agents, and an editor that doesn't read its last lines."""
REST_SECONDS = 1.0
"""After how long without an open request the system is at rest."""


async def run_system(
    source: trio.abc.ReceiveStream,
    sink: trio.abc.SendStream,
    *,
    agent_for: AgentFactory,
    counts: AgentCounts | None = None,
    memory: SessionMemory | None = None,
    accounts: Accounts | None = None,
    catalogue: Catalogue,
    list_models: ModelLister | None = None,
    at_rest: Callable[[], None] | None = None,
    trace: Trace,
    hide: Hide = redact_text,
    activities: Activities | None = None,
    offered: Offered | None = None,
    workspace: Workspace | None = None,
    learn: Callable[[Any], None] = learn_nothing,
    until: trio.CancelScope,
) -> None:
    """Serve an editor until its input ends, its output breaks or `until` is cancelled.

    `list_models` finds more models. `at_rest` is called each time that no request was open for
    `REST_SECONDS`. `counts` has what the agents hold. `hide` removes secrets from errors. `offered`
    has the choices of agents, and `workspace` gets the folders of the editor's window. `learn` gets
    a message with secrets before it is used.

    At the end, within `LEAVING_SECONDS`, it settles every open request, closes every session and
    writes every line.
    """
    outbox = Outbox()
    shared = activities or Activities(), offered or Offered(), workspace or Workspace()
    port = EditorPort(outbox, catalogue, trace, hide, *shared, learn)
    inbox = send_inbox, _ = open_inbox()

    async def read() -> None:
        await run_editor(port, source, send_inbox, until)
        chores.cancel()
        whole.deadline = trio.current_time() + LEAVING_SECONDS

    chores = trio.CancelScope()
    with (
        trio.CancelScope(deadline=math.inf) as whole,
        port.activities.told_to(port.tell_progress),
        port.offered.told_to(port.tell_models_changed),
    ):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_write, outbox, sink, until)
            start_history(
                nursery,
                inbox,
                port,
                outbox,
                agent_for,
                counts=counts,
                memory=memory,
                accounts=accounts,
            )
            nursery.start_soon(read)
            nursery.start_soon(_do_chores, chores, port, catalogue, list_models, at_rest)


async def _write(outbox: Outbox, sink: trio.abc.SendStream, until: trio.CancelScope) -> None:
    """Write until the outbox is closed, or the editor reads no more; then end the system."""
    await outbox.run(sink)
    until.cancel()


async def _do_chores(
    until: trio.CancelScope,
    port: EditorPort,
    catalogue: Catalogue,
    list_models: ModelLister | None,
    at_rest: Callable[[], None] | None,
) -> None:
    """Do the work that no request waits for, until `until` is cancelled."""
    with until:
        async with trio.open_nursery() as nursery:
            if list_models is not None:
                nursery.start_soon(_find_models, list_models, catalogue, port)
            if at_rest is not None:
                nursery.start_soon(_tell_rests, at_rest, port.requests)


async def _find_models(list_models: ModelLister, catalogue: Catalogue, port: EditorPort) -> None:
    """Keep the catalogue up to date."""
    with contained("models=listing"):
        await list_models(catalogue, port.change_catalogue)


async def _tell_rests(at_rest: Callable[[], None], requests: OpenRequests) -> None:
    """Call `at_rest` once each time that no request was open for `REST_SECONDS`."""
    while True:
        await requests.rest(REST_SECONDS)
        at_rest()
        await requests.begins()
