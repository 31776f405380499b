"""Room for parts of an answer that nobody has taken yet: where a producer of them waits. Pure."""

from __future__ import annotations

from typing import Protocol


class Room(Protocol):
    """Lets a producer wait, so that a slow reader stops the agent."""

    async def room(self) -> None:
        """Wait until there is room for more."""
        ...
