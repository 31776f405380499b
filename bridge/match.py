"""How a request relates to a conversation (`bridge.diff` finds it out)."""

from __future__ import annotations

from typing import TypeAlias

from .rules import Rule
from .value import Value


class Extends(Value):
    """The request builds on the provisional exchange; what stands at `new_from` on is new."""

    new_from: int
    rules: frozenset[Rule] = frozenset()
    """The tolerances it took to recognise what stands before."""


class Supersedes(Value):
    """The request builds on the committed part only: the provisional exchange is withdrawn."""

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
