"""ACP's methods, updates and capabilities, from the table of what vscodelm does with them."""

from __future__ import annotations

from collections.abc import Iterable

from agents.acp.schema.coverage import (
    AGENT_CAPABILITIES,
    CLIENT_CAPABILITIES,
    METHODS,
    REVISION,
    UPDATES,
    CoverageRow,
)

from .markdown import table

_TO = {"agent": "agent", "client": "vscodelm", "protocol": "both", "proxy": "a proxy"}


def methods() -> str:
    """Return the table of the methods."""
    rows = ((f"`{one.name}`{_mark(one)}", _TO[one.side], one.how, one.words) for one in METHODS)
    return table(("method", "receiver", "vscodelm", "how"), rows)


def updates() -> str:
    """Return the table of the updates."""
    return _table("update", UPDATES)


def client_capabilities() -> str:
    """Return the table of our own capabilities."""
    rows = (
        (
            f"`{one.name}`{_mark(one)}",
            "advertised" if one.how == "handled" else "not advertised",
            one.words,
        )
        for one in CLIENT_CAPABILITIES
    )
    return table(("capability", "vscodelm", "how"), rows)


def agent_capabilities() -> str:
    """Return the table of the agents' capabilities."""
    return _table("capability", AGENT_CAPABILITIES)


def revision() -> str:
    """Return the schema that the tables are compared with."""
    return f"The schema is that of {REVISION}."


def _table(head: str, entries: Iterable[CoverageRow]) -> str:
    rows = ((f"`{one.name}`{_mark(one)}", one.how, one.words) for one in entries)
    return table((head, "vscodelm", "how"), rows)


def _mark(entry: CoverageRow) -> str:
    return "" if entry.is_stable else " (unstable)"
