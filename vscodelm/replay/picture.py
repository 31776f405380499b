"""Turns a recording into the events of the page that `vscodelm replay --html` writes."""

from __future__ import annotations

from collections.abc import Iterable

from bridge.inspection.inspection import Inspection
from bridge.models import Complete, as_given
from bridge.wire import InspectResult

from .recording import Happening, Parted
from .run import Replay

MOST_DRAWN = 5_000
"""Events of a recording that are drawn; a page with more would be slow."""


def picture(happenings: Iterable[Happening], complete: Complete = as_given) -> InspectResult:
    """Replay what happened and return the newest events; raises `RecordingError`."""
    replay, inspection = Replay(complete), Inspection(most=MOST_DRAWN)
    for happening in happenings:
        if isinstance(happening, Parted):
            inspection.said(happening.request, [happening.part])
        for step in replay.steps([happening]):
            now = replay.now if replay.is_exact else None
            inspection.note(step, now, is_exact=replay.is_exact)
        inspection.rest()
    return inspection.result(replay.tracker.open_answers())
