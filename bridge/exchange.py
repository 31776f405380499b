"""What was asked in one request, what was answered, and how that ended."""

from __future__ import annotations

import enum
from collections.abc import Sequence

from .message import Message
from .value import Value


class Ending(enum.Enum):
    """How an exchange ended; hosts treat each differently."""

    OPEN = "open"
    COMPLETE = "complete"
    CANCELLED = "cancelled"
    FAILED = "failed"
    EMPTY = "empty"


class Exchange(Value):
    """What was asked in one request, and what we answered (None: nothing was sent)."""

    asked: tuple[Message, ...]
    answer: Message | None = None
    ending: Ending = Ending.OPEN


def exchanges_of(path: Sequence[Message]) -> list[Exchange]:
    """Return the exchanges of a conversation that was led elsewhere: each answer ends one."""
    exchanges: list[Exchange] = []
    asked: list[Message] = []
    for message in path:
        if message.role == "assistant":
            exchanges.append(Exchange(tuple(asked), message, Ending.COMPLETE))
            asked = []
        else:
            asked.append(message)
    if asked:
        exchanges.append(Exchange(tuple(asked), ending=Ending.EMPTY))
    return exchanges
