"""Record how an agent's session begins, and where another one can begin as its fork."""

from __future__ import annotations

import enum

import attrs


class Start(enum.Enum):
    """The ways in which a session begins."""

    FRESH = "fresh"
    """With nothing."""
    REPLAYED = "replayed"
    """The earlier messages are replayed."""
    RESUMED = "resumed"
    """The conversation had it already, and it was lost in between."""
    FORKED = "forked"
    """It is a copy of the session of another conversation, which goes its own way."""
    STORED = "stored"
    """Another conversation had it, maybe in another process; it gets the messages that it lacks."""


class Why(enum.Enum):
    """The reason why no session could continue."""

    NEW = "new"
    """No session is known that knows the chat."""
    WITHDRAWN = "withdrawn"
    """It remembers withdrawn messages."""
    LOST = "lost"
    """It broke, or its process ended."""
    SUPERSEDED = "superseded"
    """It was closed, because the chat had gone on elsewhere."""
    TOOLS = "tools"
    """It can't get the editor's tools."""
    TAKEN = "taken"
    """Another process went on with it."""
    FORGOTTEN = "forgotten"
    """The agent doesn't have it any more."""


@attrs.define(eq=False, repr=False)
class Head:
    """A session that knows what its user knows, until it gets a new message.

    After a fork, check again: a turn may have begun in the session meanwhile, here (`is_current`)
    or in another process (`AgentMemory.has`).
    """

    handle: str
    is_current: bool = True
