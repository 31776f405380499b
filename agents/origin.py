"""The origin of a session: nothing, or the knowledge of another session.

An existing session is named by its handle (`agents.base.AgentSession.handle`). The handle stays
valid after our side of the session is closed, and after the agent's process has ended.
"""

from __future__ import annotations

from typing import TypeAlias

from bridge.value import Value


class Fresh(Value):
    """With nothing."""


class Resumed(Value):
    """It goes on with the session of this handle, which nobody else may use any more.

    A turn has ended in that session.
    """

    handle: str


class ForkOf(Value):
    """It knows what the session of this handle knows now, and leaves it as it is."""

    handle: str


Origin: TypeAlias = Fresh | Resumed | ForkOf

FRESH = Fresh()
