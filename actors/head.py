"""Where an agent's session is at rest, for a conversation that begins with all that it knows."""

from __future__ import annotations

import attrs


@attrs.define(eq=False)
class Head:
    """A session that knows what its user knows, until it is given something more.

    Who forked it must look once more: a turn may have begun in it meanwhile, here (`is_current`) or
    in another process (`AgentMemory.has`).
    """

    handle: str
    is_current: bool = True
