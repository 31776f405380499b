"""The steps of an agent's plan."""

from __future__ import annotations

from bridge.wire import Wire


class PlanEntry(Wire):
    """A step; priority high, medium or low; status pending, in_progress or completed."""

    content: str
    priority: str = "medium"
    status: str = "pending"
