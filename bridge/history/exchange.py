"""One request of a conversation, its answer, and the relation of a later request to both."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import TypeAlias

from bridge.value import Value

from .message import Message
from .rules import Rule


class Ending(enum.Enum):
    """The end of an exchange; hosts treat each differently."""

    OPEN = "open"
    COMPLETE = "complete"
    CANCELLED = "cancelled"
    FAILED = "failed"
    EMPTY = "empty"


class Exchange(Value):
    """The messages of one request, and our answer (None: nothing was sent)."""

    asked: tuple[Message, ...]
    answer: Message | None = None
    ending: Ending = Ending.OPEN


def exchanges_of(path: Sequence[Message]) -> list[Exchange]:
    """Return the exchanges of a conversation with another agent: each answer ends one."""
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


class Extends(Value):
    """The request continues the provisional exchange; its messages from `new_from` on are new."""

    new_from: int
    rules: frozenset[Rule] = frozenset()
    """The rules that were needed to recognise the beginning."""


class Supersedes(Value):
    """The request continues only the committed part: the provisional exchange is withdrawn."""

    new_from: int
    rules: frozenset[Rule] = frozenset()
    exchange: int | None = None
    """So are the committed ones from this one on; None: none of them."""


class Diverges(Value):
    """The request leaves the conversation earlier, or leaves an answer that stays valid.

    It is another branch: it shares the exchanges before `exchange`, and goes on at `new_from`;
    `again` if it does so with the same question.
    """

    exchange: int
    new_from: int
    again: bool = False
    rules: frozenset[Rule] = frozenset()


Match: TypeAlias = Extends | Supersedes
