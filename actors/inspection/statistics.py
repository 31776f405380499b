"""The counters of `lm/stats`: of the chats, their sessions and the agents' processes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

import attrs
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from agents.boundary import failure_of
from agents.ledger import Ledger
from bridge.routing.outcome import Tally
from bridge.routing.request import RequestSource
from bridge.wire import AgentProcess, NewestRequest, RequestId, Stats

Measure: TypeAlias = Callable[[], Awaitable[list[AgentProcess]]]
"""Finds out what the processes of the agents hold."""


@attrs.frozen(eq=False, repr=False)
class AgentCounts:
    """The agents' part of `lm/stats`: their processes, and their sessions in `ledger`."""

    processes: Callable[[], int] = lambda: 0
    measure: Measure | None = None
    ledger: Ledger = attrs.field(factory=Ledger)


def statistics(tally: Tally, conversations: int, sessions: int, counts: AgentCounts) -> Stats:
    """Return all counters but the memory of the processes, which has to be waited for."""
    return Stats(
        requests_by_class={kind.value: n for kind, n in tally.classes.items()},
        requests_by_harness={one.value: n for one, n in tally.harnesses.items()},
        matches_by_rule=dict(tally.matches),
        misses_by_reason={reason.value: n for reason, n in tally.misses.items()},
        live_conversations=conversations,
        sessions=sessions,
        processes=counts.processes(),
        newest_request=_newest(tally.newest),
        agent_sessions=counts.ledger.sessions or UNSET,
    )


async def tell_measured(
    tell: Callable[[RequestId, Stats], None], request: RequestId, stats: Stats, measure: Measure
) -> None:
    """Add the memory of the processes to counters, and send them.

    If the memory can't be measured, the counters are sent without it.
    """
    try:
        stats = replace(stats, agent_processes=await measure() or UNSET)
    except Exception as error:
        failure_of(error, f"request={request}")
    tell(request, stats)


def _newest(source: RequestSource | None) -> NewestRequest | UnsetType:
    if source is None:
        return UNSET
    return NewestRequest(source.harness.value, source.has_progress_tool)
