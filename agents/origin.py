"""Where a session begins: with nothing, or with what another session knows.

A session that exists is named by its handle (`agents.base.AgentSession.handle`), which stays valid
when our side of the session is closed, and when the agent's process has ended.
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
