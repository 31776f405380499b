"""How an agent's session began, for who wants to know why a turn cost what it did."""

from __future__ import annotations

import enum


class Start(enum.Enum):
    """How a session begins."""

    FRESH = "fresh"
    """With nothing."""
    REPLAYED = "replayed"
    """What was said before is told."""
    RESUMED = "resumed"
    """The conversation had it already, and it was lost in between."""
    FORKED = "forked"
    """It is a copy of the session of another conversation, which goes its own way."""
    STORED = "stored"
    """Another conversation had it, maybe in another process; what it doesn't know yet is told."""


class Why(enum.Enum):
    """Why there was no session to go on with."""

    NEW = "new"
    """No session is known that knows the chat."""
    WITHDRAWN = "withdrawn"
    """It remembers what was taken back."""
    LOST = "lost"
    """It broke, or its process ended."""
    SUPERSEDED = "superseded"
    """It was closed, because the chat had gone on elsewhere."""
    TOOLS = "tools"
    """It can't be given the editor's tools."""
    TAKEN = "taken"
    """Another process went on with it."""
    FORGOTTEN = "forgotten"
    """The agent doesn't have it any more."""
