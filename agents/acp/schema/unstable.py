"""Updates of the protocol's unstable part: they may change, or go, with any version.

No capability asks for them. An agent that sends them all the same has them shown.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from bridge.wire import Wire

from .plans import PlanEntry


class SubagentState(Wire):
    """The state of a sub-agent: running, idle, requires_action, unknown, or a later word."""

    state: str


class SubagentUpdate(Wire, tag_field="sessionUpdate", tag="subagent_update"):
    """A sub-agent, by its own session. None means unchanged."""

    session_id: str
    title: str | None = None
    description: str | None = None
    state: SubagentState | None = None


class PlanItems(Wire, tag_field="type", tag="items"):
    """A plan as steps, in place of its former ones."""

    plan_id: str
    entries: tuple[PlanEntry, ...] = ()


class PlanFile(Wire, tag_field="type", tag="file"):
    """A plan in a file."""

    plan_id: str
    uri: str


class PlanMarkdown(Wire, tag_field="type", tag="markdown"):
    """A plan as Markdown, in place of its former text."""

    plan_id: str
    content: str


class UnknownPlan(Wire, tag_field="type", tag="?"):
    """A plan of a kind (`kind`) that this version doesn't know."""

    kind: str
    raw: dict[str, Any]


PlanContent: TypeAlias = PlanItems | PlanFile | PlanMarkdown | UnknownPlan


class PlanUpdate(Wire, tag_field="sessionUpdate", tag="plan_update"):
    """One of several plans."""

    plan: PlanContent


class PlanRemoved(Wire, tag_field="sessionUpdate", tag="plan_removed"):
    """A plan that doesn't count any more."""

    plan_id: str
